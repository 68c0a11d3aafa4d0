import Engine
package import Journaling
package import Ownership
package import WidgetModel

/// Has a new log go on where another one has ended: with its id, its positions and its states.
///
/// Nothing is decided, charged or split anew. Of each partition, the move copies the state that holds everything committed, and the newest
/// outputs, behind which event streams resume. Entries and older states stay where they are.
package struct LogMove {
    /// The part of the move for one partition.
    package struct Part: Hashable, Sendable {
        package let partition: PartitionID
        /// The newest entry, which is in the state.
        package let position: LogPosition
        /// How many outputs go over, and the newest of them.
        package let outputs: Int
        package let newestOutput: OutputPosition?
        package var hosts = 0
        package var instances = 0
        package var stateBytes = 0

        fileprivate init(_ end: PartitionEnd) {
            self.partition = end.partition
            self.position = end.snapshot?.position ?? .start
            self.outputs = end.outputs.count
            self.newestOutput = end.outputs.last?.position
        }
    }

    /// Why a log cannot be moved, and what to do.
    package enum MoveError: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is something that no state holds: the gateway was killed.
        case unsettled(PartitionID)
        /// Decided by other rules than this program's.
        case otherRules(RulesStanding)
        /// The newest state is not the one that was committed.
        case disagrees(PartitionID)

        package var description: String {
            switch self {
            case .unsettled(let partition):
                "partition \(partition) has entries that its newest snapshot does not hold: its gateway was killed, or it is a backup; "
                    + "run freshet settle for its data directory first"
            case .otherRules(let standing):
                "other decision rules: \(standing); run freshet upgrade for its data directory first"
            case .disagrees(let partition):
                "the newest snapshot of partition \(partition) is not the state that was committed; restore a backup"
            }
        }
    }

    /// Fewer go over where they are large.
    static let outputBytesMax = 4_194_304

    private let log: any SourceLog

    /// - Parameter log: Has to be the caller's alone.
    package init(of log: any SourceLog) { self.log = log }

    /// Moves it, but for ``LogSuccessor/finish()``; or reads and proves all that would be moved.
    ///
    /// - Parameters:
    ///   - successor: Where to; nil for nowhere.
    ///   - progress: Told how many bytes of a partition's state went over, after each of its frames.
    /// - Throws: ``MoveError`` before anything is made; ``JournalError``, `SnapshotError` or an error of the successor.
    package func run(
        to successor: (any LogSuccessor)?,
        progress: (PartitionID, _ bytes: Int) -> Void = { _, _ in }
    ) throws -> [Part] {
        let ends = try (0..<self.log.format.partitions).map { try self.end(of: PartitionID(UInt16($0))) }
        try successor?.begin(self.log.format, behind: ends)
        var parts: [Part] = []
        for end in ends { parts.append(try self.move(end, to: successor) { progress(end.partition, $0) }) }
        return parts
    }

    private func move(_ end: PartitionEnd, to successor: (any LogSuccessor)?, _ progress: (Int) -> Void) throws
        -> Part
    {
        var part = Part(end)
        guard let id = end.snapshot else { return part }
        let engine = try self.state(id, end)
        let stats = engine.stats()
        (part.hosts, part.instances) = (stats.hosts, stats.instances)
        var encoder = EngineSnapshotEncoder()
        var bytes = 0
        if let successor {
            try successor.write(id) { Self.next(&encoder, engine, &bytes, progress) }
        } else {
            while Self.next(&encoder, engine, &bytes, progress) != nil {}
        }
        part.stateBytes = bytes
        return part
    }

    private static func next(
        _ encoder: inout EngineSnapshotEncoder,
        _ engine: borrowing Engine,
        _ bytes: inout Int,
        _ progress: (Int) -> Void
    ) -> [UInt8]? {
        guard let frame = encoder.next(engine) else { return nil }
        bytes += frame.count
        progress(bytes)
        return frame
    }

    /// - Throws: ``MoveError`` if the newest snapshot does not hold everything.
    private func end(of partition: PartitionID) throws -> PartitionEnd {
        var outputs = try self.log.newestOutputs(partition, max: OutputRecord.resumedMax)
        let newest = outputs.last
        let standing = try RulesStanding.read(partition, newestOutput: newest, in: self.log, self.log)
        guard standing.step() == .goOn else { throw MoveError.otherRules(standing) }
        let next = (standing.snapshot?.id.position ?? .start).next
        let behind = try self.log.read(partition, from: next, entriesMax: 1)
        guard behind.isEmpty, newest?.record.through == standing.snapshot?.id.position,
            newest?.record.ahead ?? 0 == 0
        else { throw MoveError.unsettled(partition) }
        var bytes = outputs.reduce(0) { $0 + $1.record.effects.count }
        while outputs.count > 1, bytes > Self.outputBytesMax {
            bytes -= outputs.removeFirst().record.effects.count
        }
        return PartitionEnd(partition: partition, snapshot: standing.snapshot?.id, outputs: outputs)
    }

    /// The state of a snapshot, which has to be the one that was committed.
    private func state(_ id: SnapshotID, _ end: PartitionEnd) throws -> Engine {
        var decoder = EngineSnapshotDecoder(partition: end.partition, partitions: self.log.format.partitions)
        try self.log.read(id) { try decoder.takeFrame($0) }
        let engine = try decoder.finish()
        guard engine.position == id.position, engine.runningHash == end.outputs.last?.record.runningHash else {
            throw MoveError.disagrees(end.partition)
        }
        return engine
    }
}
