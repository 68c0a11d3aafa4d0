import Engine
import Journaling
package import WidgetModel

/// Why an owner does not go on.
package enum OwnerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The engine has another state than the one that wrote the output at this position.
    case engineDisagrees(partition: PartitionID, position: LogPosition)
    /// The output log speaks of entries that the log does not have.
    case logEndsEarly(partition: PartitionID, applied: LogPosition, through: LogPosition)
    /// The state has entries whose results were never committed: nothing would come of them any more.
    case aheadOfOutputs(partition: PartitionID, applied: LogPosition, through: LogPosition)
    /// The log no longer begins with its first entry, and no snapshot of the missing part can be used.
    case noState(partition: PartitionID, reason: String)
    /// Other decision rules than this program's have to decide the entries behind partitions' newest snapshots.
    case otherRules([RulesStanding])
    /// Other decision rules decide the entries behind the newest output: another program has to go on.
    case decidedByOthers(partition: PartitionID, rules: Int)
    case stopped(partition: PartitionID)
    /// Another node of the cluster owns the partition, or none does at the moment.
    case away(partition: PartitionID, owner: String?)
    /// The gateway ends before the owner has applied the whole log.
    case shutDown(partition: PartitionID)

    package var isShutdown: Bool {
        if case .shutDown = self { true } else { false }
    }

    package var description: String {
        switch self {
        case .engineDisagrees(let partition, let position):
            """
            partition \(partition): a replay of the log up to position \(position) gave another state than its output \
            record has, so this program decides differently from the one that wrote the log. Start the version that \
            wrote the log
            """
        case .logEndsEarly(let partition, let applied, let through):
            """
            partition \(partition): the log ends at position \(applied), but its output log goes through position \
            \(through), so entries were lost. Restore the data directory from a backup
            """
        case .aheadOfOutputs(let partition, let applied, let through):
            """
            partition \(partition): its state goes up to position \(applied), but its output log through position \(through), so \
            that the effects of the entries between would be lost. The state is read anew
            """
        case .noState(let partition, let reason):
            """
            partition \(partition): the log was trimmed, and no usable snapshot holds the trimmed part: \(reason). \
            Start the version that wrote the log, or restore the data directory from a backup
            """
        case .otherRules(let standings):
            """
            this program has decision rules \(Engine.version), and other rules must decide some entries of the log: \
            \(standings.map { "\($0)" }.joined(separator: "; ")). Nothing was changed. Run freshet upgrade, or start \
            the version that wrote the log once and end it with SIGTERM
            """
        case .decidedByOthers(let partition, let rules):
            """
            partition \(partition) goes on by decision rules \(rules) (\(Engine.program(of: rules))), and this program \
            has \(Engine.version). Run freshet upgrade, or start that version
            """
        case .stopped(let partition):
            "partition \(partition) has stopped; the gateway's log says why"
        case .away(let partition, let owner?): "partition \(partition) is at \(owner)"
        case .away(let partition, nil): "partition \(partition) is at no node at the moment"
        case .shutDown(let partition):
            "partition \(partition): the gateway shuts down; the next start applies the rest of the log"
        }
    }
}

extension OutputRecord {
    /// Checks that an engine's rules have decided it. Behind a gate other rules decide.
    ///
    /// - Throws: ``OwnerError/decidedByOthers(partition:rules:)`` if not.
    func check(rules: Int, of partition: PartitionID) throws(OwnerError) {
        guard Int(self.engineVersion) != rules else { return }
        throw .decidedByOthers(partition: partition, rules: Int(self.engineVersion))
    }
}
