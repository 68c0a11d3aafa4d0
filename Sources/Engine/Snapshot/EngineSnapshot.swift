package import WidgetModel

/// An engine's whole state as a row of frames: a restart begins with it instead of the log's beginning.
///
/// A frame has a byte that names its table, and rows. Rows keep their numbers, and free rows their order, so the
/// restored engine numbers later rows like the one that was written. Data that can be computed (hash tables, the intent
/// index, timers' buckets) is not in it. Frames have no checksums of their own: the storage of frames adds them.
///
/// The first frame names the version of this format and of the decision rules. A program refuses every other version: other
/// rules decided the log behind such a state. A state with nothing behind it can be adopted.
package enum EngineSnapshot {
    /// The version of the frames that ``EngineSnapshotEncoder`` writes, and the only one that is read.
    package static let version: UInt64 = 1

    /// The version of the decision rules that led to a snapshot's state, by its first frame.
    ///
    /// - Throws: ``SnapshotError/otherFormat(version:)`` if this program does not read it, or that the frame is damaged.
    package static func rulesVersion(ofFirst frame: [UInt8]) throws(SnapshotError) -> Int {
        let head: SnapshotHead
        do throws(ByteError) {
            var coder = StateReader(frame)
            guard try coder.byte() == Section.head.rawValue else { throw ByteError.invalid(offset: 0) }
            head = try SnapshotHead().coded(by: &coder)
        } catch {
            throw .damaged(frame: 0, error)
        }
        guard head.version == Self.version else { throw .otherFormat(version: head.version) }
        return Int(clamping: head.engineVersion)
    }

    /// A frame is ended when it has so many bytes: some hundred rows, encoded in well under a millisecond.
    static let frameBytes = 65_536

    /// Where the tables of hosts and of instances are among those whose free numbers a snapshot lists.
    static let hostTable = 0
    static let instanceTable = 1

    /// Which table a frame is of. Raw values are part of the format, and frames come in their order.
    enum Section: UInt8, CaseIterable, Comparable {
        case head = 1
        case free = 2
        case hosts = 3
        case instances = 4
        case days = 5
        case matches = 6
        case reloads = 7
        case pushes = 8
        case repeats = 9
        case decisions = 10
        case removals = 11
        case channels = 12
        case end = 13

        static func < (left: Section, right: Section) -> Bool { left.rawValue < right.rawValue }
    }
}

/// Why a snapshot cannot be read back.
package enum SnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A frame that no encoder can have written.
    case damaged(frame: Int, ByteError)
    /// The frames end before the state does, or go on behind its end.
    case incomplete(frames: Int)
    /// Another version of the format.
    case otherFormat(version: UInt64)
    /// Decided by other rules than this program has.
    case otherEngine(version: UInt64)
    /// Another partition's, or of a log with another number of partitions.
    case otherPartition

    package var description: String {
        switch self {
        case .damaged(let frame, let fault): "frame \(frame) is damaged (\(fault))"
        case .incomplete(let frames): "its \(frames) frames are not a complete state"
        case .otherFormat(let version):
            """
            its format is version \(version), and this program reads version \(EngineSnapshot.version): start the version of \
            Freshet that wrote it
            """
        case .otherEngine(let version):
            """
            it was decided by decision rules \(version), and this program has \(Engine.version): start \
            \(Engine.program(of: Int(clamping: version)))
            """
        case .otherPartition: "it belongs to another partition"
        }
    }
}
