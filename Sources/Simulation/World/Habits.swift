import Timelines
import WidgetModel

/// The traits of a population that a step of the simulation asks for, as plain numbers: nothing is counted up and down
/// to read them.
struct Habits: Sendable {
    /// How likely a look is followed by a visit to the app, or goes with a tap.
    let visitChance: Double
    let tapChance: Double
    let offlineShare: Double
    let offlineSeconds: Int
    /// Whether its hosts are behind APNs and run their timelines by themselves.
    let isPhone: Bool

    init(_ population: Population) {
        let views = population.views ?? population.rhythm.views
        self.visitChance = views > 0 ? population.opens / views : 0
        self.tapChance = views > 0 ? population.taps / views : 0
        self.offlineShare = population.offlineShare
        self.offlineSeconds = Int(population.offlineFor.milliseconds / 1000)
        self.isPhone = population.delivery == .apns
    }
}

/// The traits of a kind's timeline provider that a step of the simulation asks for, as plain numbers.
struct ProviderTraits: Sendable {
    let latency: ClosedRange<Int>
    let hasFaults: Bool
    let entries: Int
    let every: Int
    let policy: TimelineShape.Policy
    let foresight: Int
    let climb: TimelineShape.Climb?
    let hasOpening: Bool
    /// When a phone asks for a timeline at the earliest that asked for one at once, in seconds.
    let patience: Int

    init(_ kind: SimulatedKind) {
        self.latency = kind.provider.latency
        self.hasFaults = !kind.provider.faults.isEmpty
        self.entries = kind.timeline.entries
        self.every = Int(kind.timeline.every.milliseconds / 1000)
        self.policy = kind.timeline.policy
        self.foresight = Int(kind.timeline.foresight.milliseconds / 1000)
        self.climb = kind.timeline.climb
        self.hasOpening = kind.timeline.opening != nil
        let day = BudgetWindow(start: .epoch, length: .day)
        let pace = kind.budget.isUnlimited ? .zero : BudgetTerms(policy: kind.budget, window: day).interval
        self.patience = max(900, Int(pace.milliseconds / 1000))
    }
}
