package import Scenarios
import WidgetModel

/// The faults of one cluster, and how often they happen: drawn from its seed.
package struct ClusterPlan: Hashable, Sendable {
    /// How many nodes there are.
    package var nodes = 1
    /// The acts of hosts and operators.
    package var world = FaultPlan.quiet
    /// How likely a push is for a host, and so for one partition.
    package var forHosts = 0.5
    /// How likely a message gets lost on its way to the brokers or an answer on its way back, comes much later, or comes once
    /// more much later.
    package var lost = 0.0
    package var late = 0.0
    package var doubled = 0.0
    /// The most milliseconds a message takes, and a consumer of a broker that lags.
    package var delayMax = 5
    package var lagMax = 20
    /// How likely the brokers do not answer a question.
    package var failedReads = 0.0
    /// How likely a reader takes minutes for one reading.
    package var slowReads = 0.0
    /// How likely a node dies behind each of its steps.
    package var crashes = 0.0
    /// How likely it is, at each action, that beliefs about owners change, a node is stopped for a while,
    /// brokers elect, a stream is full for a while, a clock is put wrong, and a snapshot is made.
    package var beliefs = 0.0
    package var stops = 0.0
    package var elections = 0.0
    package var full = 0.0
    package var clockSteps = 0.0
    package var snapshots = 0.0
    package var damagedSnapshots = 0.0
    /// How likely it is, at each action, that a node begins to follow a partition's owner, or ends it.
    package var standbys = 0.0
    /// How likely it is, at each action, that a node becomes another version's, that operators want other
    /// decision rules, and that an owner follows that.
    package var gates = 0.0

    /// Nothing goes wrong.
    package static let quiet = ClusterPlan()

    private init() {}

    package init(_ dice: inout Dice) {
        func some(_ most: Double, _ dice: inout Dice) -> Double { dice.chance(0.4) ? 0 : most * dice.fraction() }
        self.nodes = dice.among(2...4)
        self.world = FaultPlan(&dice)
        // Pushes to APNs are part of the world with one machine.
        (self.world.phones, self.world.controls) = (0, 0)
        self.forHosts = dice.pick([0.1, 0.5, 0.95])
        self.lost = some(0.2, &dice)
        self.late = some(0.2, &dice)
        self.doubled = some(0.3, &dice)
        self.delayMax = dice.pick([1, 5, 100, 1500])
        self.lagMax = dice.pick([1, 100, 5000, 60_000])
        self.failedReads = some(0.2, &dice)
        self.slowReads = some(0.05, &dice)
        self.crashes = some(0.02, &dice)
        self.beliefs = some(0.5, &dice)
        self.stops = some(0.3, &dice)
        self.elections = some(0.3, &dice)
        self.clockSteps = some(0.3, &dice)
        self.snapshots = some(1, &dice)
        self.damagedSnapshots = some(0.5, &dice)
        self.standbys = some(0.8, &dice)
        self.gates = some(0.4, &dice)
        self.full = some(0.2, &dice)
    }
}

/// A bug that is put into a cluster on purpose, to see that the checks notice it.
package enum ClusterBug: String, Hashable, Sendable, CaseIterable {
    /// A copier of submissions to all partitions takes each partition to be as far as the furthest one: newer is
    /// enough.
    case copiesWhateverIsNewer
    /// A message that may have been stored is sent again under another id.
    case renamesRepeats
    /// An owner that was fenced goes on.
    case ignoresFence
    /// The first output behind a start is appended behind any newest one.
    case expectsNothing
    /// The time of an entry is its broker's alone.
    case trustsStamps
    /// The log is trimmed up to the newest snapshot, not the older one that is kept.
    case trimsAhead
    /// The newest entry that a lagging consumer gave is taken for the last one there is.
    case endsAtConsumer
    /// Snapshots are made of states that are not committed, and starts take them.
    case startsAhead
    /// A writer's first message, a copy, or a note is stored wherever nothing of its own is there: that is so again behind a
    /// trim.
    case opensBehindNothing
    case copiesBehindNothing
    case notesBlindly
    /// A standby applies all entries that are there, not only those that the outputs hold.
    case standbyRunsAhead
    /// A standby goes on as if the outputs went no further than its state.
    case standbyTakesOverBehind
    /// An owner goes on where other decision rules are to.
    case ignoresRules
    /// A gate to other rules is committed before the state is written down that they begin with.
    case gatesBeforeState
}

/// Something that has to happen in some clusters, since a check of something that never happens shows nothing.
package enum ClusterOccurrence: String, Hashable, Sendable, CaseIterable {
    /// A node died, was stopped and went on, or took a partition over; two believed to own one, or none did.
    case death
    case stop
    case takeover
    case twoOwners
    case noOwner
    /// A standby went on as the owner, also one whose state was older than the outputs; one found its entries gone, or ended
    /// at a gate.
    case standbyTakeover
    case standbyBehind
    case standbyOvertaken
    case standbyGated
    /// An owner was kept from writing.
    case fenced
    /// Brokers elected, also one whose clock was an hour off; entries whose clocks disagreed.
    case election
    case clockOff
    case disagreement
    /// An append of unknown outcome, one that was found to be stored, and one that came in much later and was stored, or was refused.
    case unknownAppend
    case foundStored
    case storedLate
    case refusedLate
    /// A message was refused since the stream was full; one node copied a submission to all partitions while another tried.
    case full
    case copyRefused
    /// A snapshot was read, was half written, or was damaged.
    case snapshotRead
    case snapshotCut
    case snapshotDamaged
    /// The log was trimmed, and a reader found that its entries were gone.
    case trimmed
    case overtaken
    /// A consumer lagged behind the end that its reader knew.
    case lag
    /// A partition passed the gate to other decision rules, was closed and did not pass it, or was refused to a node that has other
    /// rules.
    case gatePassed
    case gateCut
    case otherRules
}
