import Engine
package import Journaling
package import Logging
import NIOPosix
import Ownership
package import WidgetModel

/// Lets a program go on where other decision rules have ended, or refuses it, before any owner starts.
package struct RulesAdoption: Sendable {
    /// The authority that changes the rules by which a log goes on.
    package enum Authority: Sendable {
        /// The program that has the log alone: it changes them where nothing is left that others have to decide.
        case program
        /// The operators of a cluster: an owner with the rules before commits the gate when they order it.
        case operators
    }

    private let journal: any Journal
    private let store: any SnapshotStore
    private let rules: Int
    private let authority: Authority
    private let logger: Logger

    /// - Parameters:
    ///   - journal: The log.
    ///   - store: Where its snapshots are.
    ///   - rules: Those of the program.
    ///   - authority: May change the rules by which the log goes on.
    ///   - logger: Where to write.
    package init(
        journal: any Journal,
        store: any SnapshotStore,
        rules: Int = Engine.version,
        authority: Authority = .program,
        logger: Logger
    ) {
        self.journal = journal
        self.store = store
        self.rules = rules
        self.authority = authority
        self.logger = logger
    }

    /// How a partition stands, and its newest output. Changes nothing.
    private func standing(of partition: PartitionID) async throws -> (RulesStanding, OutputEntry?) {
        let newest = try await self.journal.newestOutput(partition)
        let standing = try await NIOThreadPool.singleton.runIfActive {
            try RulesStanding.read(
                partition,
                newestOutput: newest,
                in: self.journal.history,
                self.store,
                program: self.rules
            )
        }
        return (standing, newest)
    }

    /// Takes every partition over, or none.
    ///
    /// - Parameter partitions: Which; by default all.
    /// Partitions that were taken over before a fault keep that: another program takes them back in the same way.
    ///
    /// - Returns: The snapshots that are this program's now.
    /// - Throws: ``OwnerError/otherRules(_:)`` if something has to be decided by other rules first,
    ///   ``OwnerError/decidedByOthers(partition:rules:)`` if operators have not changed the rules; nothing was changed then.
    @discardableResult
    package func run(_ partitions: [PartitionID]? = nil) async throws -> [SnapshotID] {
        let all = (0..<self.journal.format.partitions).map { PartitionID(UInt16($0)) }
        var found: [(standing: RulesStanding, newest: OutputEntry?)] = []
        for partition in partitions ?? all { found.append(try await self.standing(of: partition)) }
        if self.authority == .operators {
            for (standing, _) in found {
                guard let rules = standing.rules, rules != self.rules else { continue }
                throw OwnerError.decidedByOthers(partition: standing.partition, rules: rules)
            }
        }
        let unsettled = found.map(\.standing).filter { $0.step(of: self.rules) == .settle }
        guard unsettled.isEmpty else { throw OwnerError.otherRules(unsettled) }
        var adopted: [SnapshotID] = []
        for (standing, newest) in found {
            let step = standing.step(of: self.rules)
            switch step {
            case .goOn, .settle: continue
            case .takeOver(let id), .adopt(let id):
                if case .adopt = step, let newest { try await self.passGate(behind: newest, standing.partition) }
                try await self.takeOver(id, standing)
                adopted.append(id)
            }
        }
        return adopted
    }

    private func passGate(behind newest: OutputEntry, _ partition: PartitionID) async throws {
        let gate = RulesStanding.gate(to: self.rules, behind: newest.record)
        _ = try await withCheckedThrowingContinuation { continuation in
            self.journal.commitOutput(partition, expected: newest.position, gate) { continuation.resume(with: $0) }
        }
    }

    private func takeOver(_ id: SnapshotID, _ standing: RulesStanding) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            try RulesStanding.takeOver(id, among: self.journal.format.partitions, in: self.store, as: self.rules)
        }
        self.logger.notice("adopted a state that other decision rules wrote", metadata: ["was": "\(standing)"])
    }
}
