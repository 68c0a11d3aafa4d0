package import Scenarios
import WidgetModel

/// The faults of one run, and how often they happen: drawn from its seed, so that some runs have much of one fault and
/// none of the others.
package struct FaultPlan: Hashable, Sendable {
    /// How likely a message gets lost on its way, or comes twice.
    package var lost = 0.0
    package var doubled = 0.0
    /// The most milliseconds a message takes; with more than one on its way they overtake each other.
    package var delayMax = 50
    /// How likely an append or a commit fails with nothing written, or with an unknown outcome.
    package var failedWrites = 0.0
    package var unknownWrites = 0.0
    /// How likely the journal does not give entries.
    package var failedReads = 0.0
    /// How likely the journal holds back a write, for up to a second.
    package var heldWrites = 0.0
    /// How likely the gateway dies at each of the points where it can.
    package var crashes = 0.0
    /// How likely a connection breaks when something happens on it.
    package var disconnects = 0.0
    /// How likely a host refuses a reload, or says nothing at all.
    package var refusals = 0.0
    package var silences = 0.0
    /// How likely APNs is in trouble, or finds the gateway's credentials wrong, when a push comes.
    package var troubles = 0.0
    /// How likely a host is one behind APNs, shows a control, and registers with a lease that lapses soon.
    package var phones = 0.0
    package var controls = 0.0
    package var leases = 0.0
    /// How likely it is, at each action, that an operator gives an order.
    package var orders = 0.0
    /// How likely it is then that an operator changes the policy.
    package var policyChanges = 0.0
    /// How likely it is then that snapshots are made, and that one of them is damaged once it is there.
    package var snapshots = 0.0
    package var damagedSnapshots = 0.0
    /// How likely it is then that another gateway takes the log over, that the disk is full for a while, and that the clock
    /// is put forward or back.
    package var takeovers = 0.0
    package var fullDisks = 0.0
    package var clockSteps = 0.0
    /// How likely a host shows a widget whose timelines a provider makes; how likely the provider is in trouble, leaves an instance
    /// out, and promises to call back about those.
    package var boards = 0.0
    package var providerTroubles = 0.0
    package var omissions = 0.0
    package var promises = 0.0
    /// How likely a partition does not answer the fetcher, and how likely a start finds an instance's content lost.
    package var silentPartitions = 0.0
    package var lostContents = 0.0

    /// Nothing goes wrong.
    package static let quiet = FaultPlan()

    private init() {}

    package init(_ dice: inout Dice) {
        func some(_ most: Double, _ dice: inout Dice) -> Double { dice.chance(0.5) ? 0 : most * dice.fraction() }
        self.lost = some(0.2, &dice)
        self.doubled = some(0.3, &dice)
        self.delayMax = dice.pick([1, 50, 500, 5000])
        self.failedWrites = some(0.2, &dice)
        self.unknownWrites = some(0.1, &dice)
        self.heldWrites = some(0.3, &dice)
        self.crashes = some(0.03, &dice)
        self.disconnects = some(0.1, &dice)
        self.refusals = some(0.2, &dice)
        self.silences = some(0.1, &dice)
        self.troubles = some(0.2, &dice)
        self.phones = dice.pick([0, 0.5, 1])
        self.controls = some(1, &dice)
        self.leases = some(1, &dice)
        self.orders = some(0.3, &dice)
        self.policyChanges = some(0.2, &dice)
        self.snapshots = some(0.3, &dice)
        self.damagedSnapshots = some(0.5, &dice)
        self.takeovers = some(0.1, &dice)
        self.fullDisks = some(0.1, &dice)
        self.clockSteps = some(0.2, &dice)
        self.failedReads = some(0.1, &dice)
    }

    /// Draws the faults of a timeline provider, and of its surroundings.
    mutating func drawProvider(_ dice: inout Dice) {
        self.boards = dice.pick([0, 0.5, 1])
        self.providerTroubles = dice.pick([0, 0.1, 0.3])
        self.omissions = dice.pick([0, 0.3, 0.6])
        self.promises = dice.pick([0, 0.5, 1])
        self.silentPartitions = dice.pick([0, 0.05, 0.3])
        self.lostContents = dice.pick([0, 0.2, 1])
    }
}

/// A bug that is put into the surroundings on purpose, to see that the checks notice it.
package enum Mutation: String, Hashable, Sendable, CaseIterable {
    /// A deliverer forgets some of the reloads that were committed.
    case losesEffects
    /// A gateway that starts commits outputs once more that were committed already.
    case repeatsOutputs
    /// A sender is answered before its push is durable.
    case acknowledgesEarly
    /// Reloads go out before they are committed.
    case deliversEarly
    /// An owner jumps over an entry now and then.
    case skipsEntries
    /// Hosts reload again when they are told again.
    case forgetsReloads
    /// A replay takes the time from the clock and not from the log.
    case readsClock
    /// Budgets are larger than the policy says.
    case mintsBudget
    /// A gateway takes the token of a control for the one of its host.
    case confusesTokens
    /// A gateway accepts pushes with any number of matches.
    case ignoresMatchedMax
    /// Owners do not carry out orders, do not let leases run out, or reload before a push's `not-before`.
    case ignoresOrders
    case ignoresLeases
    case ignoresDates
    /// Owners go on by the policy that was there at the start.
    case ignoresPolicies
    /// An output in chunks says that one effect more is written.
    case miscountsChunks
    /// An output of which it is not known whether it was written is written again.
    case retriesUnknown
    /// An output is put behind one that is not the newest any more.
    case expectsStale
    /// A snapshot holds some of the records of its last entry, and another one a state that was never committed.
    case snapshotsWithinEntries
    case snapshotsAhead
    /// Time is read before the entry's, for ticks.
    case stampsTicksEarly
    /// The end of a slice ends its entry: the result depends on the units of a slice.
    case endsEntriesEarly
    /// An owner does not hear of new entries now and then.
    case losesHints
    /// A deliverer takes an answer for one to its latest try, whichever it is to.
    case takesVerdictsTwice
    /// A push that is tried again has another id.
    case renamesRetries
    /// A start does not look for the pushes that an earlier one held back.
    case forgetsHeld
    /// A start does not look for the reloads whose timelines are to be fetched.
    case forgetsFetches
    /// A fetcher takes a partition that does not answer for one that wants nothing.
    case mistakesSilence
    /// A fetcher does not believe a provider that says when to come back.
    case ignoresRetryAfter
    /// A fetcher stores an answer without asking what of it is still wanted.
    case storesUnchecked
    /// A fetcher logs a timeline once more whose content it has fetched again.
    case logsContent
    /// A fetcher does not hear now and then that its timelines are stored.
    case losesStored
}

/// Something that has to happen in some runs, since a check of something that never happens shows nothing.
package enum Occurrence: String, Hashable, Sendable, CaseIterable {
    /// A push went to a host's token, with its cost for the widgets that it was not for.
    case tokenPush
    case collateral
    case collateralOver
    /// A push went to the token of a control.
    case controlPush
    /// APNs said that a token is not valid any more, or refused a push.
    case goneToken
    case refusedToken
    /// APNs was in trouble for long, or held everything back; a push was tried again; a start, or a deliverer that had no room
    /// before, took up outstanding reloads.
    case upstreamTrouble
    case heldDestination
    case retriedDelivery
    case caughtUp
    /// A push to a token that stands for nothing.
    case unknownToken
    /// A host's lease ran out, and one whose budget was still remembered came back.
    case lapse
    case lapseReturn
    /// A push waited because of a pause.
    case heldByPause
    /// An order took back waiting pushes.
    case cancelled
    /// A reload was charged that only a grant allowed.
    case granted
    /// The policy changed, and a widget was charged before and after that in one window.
    case policyChange
    case changedWindow
    /// Other settings were worked out from those before the ones that stood, as by a gateway that was behind.
    case overtakenSettings
    /// A push reloaded at its `not-before` or later.
    case scheduled
    /// A push was not accepted, since it matched too many.
    case turnedAway
    /// An output was written in chunks, and one may have been written or not.
    case chunk
    case unknownOutput
    /// Entries could not be read, nor the newest output behind one with an unknown outcome.
    case failedRead
    case failedLookUp
    /// A callback of the journal came twice: about a client's records, a deliverer's, a fetcher's, an output, entries that were read,
    /// and as a hint of new entries.
    case repeatedAppend
    case repeatedReport
    case repeatedFetch
    case repeatedCommit
    case repeatedRead
    case repeatedHint
    /// A client was gone when its records were in the log; a hint of new entries came late, perhaps behind newer ones.
    case lostAppend
    case lateHint
    /// A start read a snapshot, passed one by that was damaged, or one could not be written.
    case snapshotRead
    case snapshotRefused
    case snapshotFailed
    /// Another gateway took over, and an earlier one was kept from writing.
    case takeover
    case fenced
    case fullDisk
    /// A provider's timeline was taken, from an answer and from a call-back; the content of an accepted one was fetched again.
    case fetched
    case calledBack
    case restoredContent
    /// A provider was in trouble for long; a fetcher had no room for reloads, or a partition did not answer it.
    case providerTrouble
    case fetchOverflow
    case silentPartition
}
