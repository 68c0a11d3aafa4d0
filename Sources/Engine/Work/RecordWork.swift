import BasicContainers
import IntentMatching
import WidgetModel

/// The rest of the work of the record that is being applied: a queue of steps.
///
/// A step is a value that knows how far it is. It can be left after any unit of its work and taken up again. So the work of a record can be
/// done in slices of any size, with the same result.
struct RecordWork: ~Copyable, Sendable {
    enum Step: ~Copyable, Sendable {
        /// Timers that were due before the record.
        case timers(DueTimers)
        case removedTokens
        case completedPushes
        /// The record itself, once the steps before it are done.
        case record(IncomingRecord)
        /// The instances of an app that match are found, for a push or for the app's own request.
        case finding(FindingWork)
        case matches(MatchWork)
        case appReload(AppReloadWork)
        case invalidation(InvalidationWork)
        case order(OrderWork)
        /// The removals of an erased host's tokens are taken out of the list of all.
        case erasure(Registry.Erasure)
        case settings(SettingsWork)
    }

    /// The record's index in its entry.
    var recordIndex = 0
    /// The next one is the last.
    private var steps = UniqueArray<Step>()

    var isDone: Bool { self.steps.isEmpty }

    /// Whether the state is consistent: not while some instances have adopted changed settings, and others have not, and not while removals
    /// are out of order.
    var isConsistent: Bool {
        guard !self.steps.isEmpty else { return true }
        return switch self.steps[self.steps.count - 1] {
        case .settings: false
        case .erasure: false
        default: true
        }
    }

    /// Adds a step that is done before all others.
    mutating func push(_ step: consuming Step) { self.steps.append(step) }

    /// Takes the next step out.
    mutating func popNext() -> Step? { self.steps.popLast() }
}

/// A record that was read, and waits until the work that was due before it is done.
enum IncomingRecord: Sendable {
    case push(IncomingPushRecord)
    case other(Record)
}

/// A push as it was read: places in the entry's bytes, and those.
struct IncomingPushRecord: Sendable {
    let head: PushHead
    let pattern: MatchPattern?
    let attributes: Configuration
    let team: TeamNumber
    let bytes: [UInt8]
}
