import Engine
import JournalStreams
import Journaling
import Ownership
import WidgetModel

/// One thing of a node that goes on by itself, in one of its lives.
struct Agent: Hashable, Sendable {
    enum Work: Hashable, Sendable {
        /// Appends to a partition, and to all.
        case append(PartitionID)
        case appendToAll
        case relay
        case own(PartitionID)
        /// Follows the owner that another node has.
        case follow(PartitionID)
        case commit(PartitionID)
        case snapshot(PartitionID)
        case trim(PartitionID)
    }

    let node: Int
    let life: Int
    let work: Work
}

/// A message on its way to the brokers.
struct Publication: Sendable {
    let agent: Agent
    let attempt: Int
    let bytes: [UInt8]
    let subject: String
    let stream: String
    let expectation: Expectation
    /// When its sender gave up waiting for an answer.
    let deadline: Int64
    /// Whether it comes twice, if neither gets lost.
    var isDoubled = false
}

/// Records that wait for their message.
struct PendingRecords: Sendable {
    let records: PackedRecords
    /// The client's request; nil for a tick.
    let request: Int?
}

/// Appends of a node to one stream, one message after the other.
struct SimulatedLane: Sendable {
    var writer: MessageWriter
    var waiting: [PendingRecords] = []
    var underWay: [PendingRecords] = []
    /// The message that is under way.
    var bytes: [UInt8] = []
    var subject = ""
    /// Until when it is tried, in milliseconds.
    var end: Int64 = 0
    var isTried = false
    var step = MessageWriter.Step.pause
    /// The newest message of the subject, once that is known and the ends are not.
    var newest: UInt64??

    init(_ writer: MessageWriter) { self.writer = writer }
}

/// A node's knowledge of one partition, and its work there.
struct Seat {
    /// Whether it believes that the partition is its.
    var isBelieved = false
    var owner: SimulatedOwner?
    /// Whether it is to follow the owner of another node, and its standby.
    var isFollowing = false
    var standby: SimulatedOwner?
    /// The output that it reads next.
    var nextOutput = OutputPosition.first
    /// The newest output at its start, before it has a state.
    var newest: OutputEntry??
    /// How often it could not start in a row.
    var failures = 0
    /// The newest entry that its consumer gave.
    var seen: UInt64 = 0
    /// An entry whose time it knows.
    var known: TimeAnchor?
    /// The output that is under way, and for which start of an owner.
    var commit: (writer: OutputWriter, step: OutputWriter.Step, start: Int)?
    var hasCommitted = false
    var checkpoint: OwnerCheckpoint?
    /// Whether the owner is on its way to other rules, and its state at that checkpoint is to be written down.
    var isClosed = false
    var trimming: Trimming?
}

/// A machine that takes requests, copies submissions to all partitions, and owns the partitions that it believes are
/// its own.
final class SimulatedNode {
    let number: Int
    /// Counts its starts.
    var life = 0
    var isUp = false
    /// The decision rules of its program.
    var rules = 1
    /// Until when it is stopped, and how far its clock is off, in milliseconds.
    var stoppedUntil: Int64 = 0
    var clockError: Int64 = 0
    var seats: [Seat] = []
    var lanes: [SimulatedLane] = []
    var fanLane: SimulatedLane
    var copier: FanCopier
    /// The newest original that its consumer gave, and the one that its relay reads next.
    var fanSeen: UInt64 = 0
    var fanNext: UInt64 = 1
    /// The end of a partition's stream, while how far it is is found out.
    var foundEnd: (partition: PartitionID, last: UInt64)?
    /// The partition that it copies to.
    var copying: PartitionID?
    /// Which of its agents have a next step that is planned.
    var planned: Set<Agent.Work> = []
    /// The attempt that each of its agents waits for.
    var attempts: [Agent.Work: Int] = [:]

    init(number: Int, _ makeWriter: () -> MessageWriter) {
        self.number = number
        self.fanLane = SimulatedLane(makeWriter())
        self.copier = FanCopier(partitions: FaultWorld.partitions)
    }

    func agent(_ work: Agent.Work) -> Agent { Agent(node: self.number, life: self.life, work: work) }
}
