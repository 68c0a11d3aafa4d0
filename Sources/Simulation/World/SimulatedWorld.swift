import Engine
import IntentMatching
import Timelines
package import WidgetModel

/// The parts of a run that all partitions share: the scenario, the events of the world, and the values that follow from
/// both.
package struct SimulatedWorld: Sendable {
    package let scenario: Scenario
    let schedule: EventSchedule
    /// By population and zone of it.
    let clocks: [[ZoneClocks]]
    /// By population.
    let rates: [RhythmRates]
    /// By population.
    let habits: [Habits]
    /// By kind.
    let providers: [ProviderTraits]
    /// By kind: the clocks of its opening hours.
    let openingClocks: [ZoneClocks]
    /// By kind and value: the pattern that a push for it has.
    let patterns: [[MatchPattern]]

    package init(_ scenario: Scenario) {
        let span = scenario.start..<scenario.span.upperBound
        self.scenario = scenario
        self.schedule = EventSchedule(scenario)
        self.clocks = scenario.populations.map { $0.zones.map { $0.zone.clocks(over: span) } }
        self.rates = scenario.populations.map { RhythmRates($0.rhythm, views: $0.views ?? $0.rhythm.views) }
        self.habits = scenario.populations.map { Habits($0) }
        self.providers = scenario.kinds.map { ProviderTraits($0) }
        self.openingClocks = scenario.kinds.map { ($0.timeline.opening?.zone ?? .utc).clocks(over: span) }
        self.patterns = scenario.kinds.map { kind in
            kind.values.map { Self.pattern(kind.parameter, $0) }
        }
    }

    private static func pattern(_ parameter: String, _ value: String) -> MatchPattern {
        let json = JSONValue.object([JSONValue.Member(name: parameter, value: .array([.string(value)]))])
        guard let pattern = try? MatchPattern.parse(json) else {
            preconditionFailure("a parameter's name was checked when the scenario was read")
        }
        return pattern
    }

    /// The settings that the engines run under.
    var settings: EngineSettings {
        let kinds = self.scenario.kinds.map { kind in
            KindSettings(schema: Self.schema(kind), budget: kind.budget)
        }
        // Records that are kept for questions alone have no part in decisions; fewer of them fit the processor's cache.
        let limits = EngineLimits(pushesRetainedMax: 10_000, decisionsRetainedMax: 4_096, repeatEntriesMax: 100_000)
        return EngineSettings(
            apps: [AppSettings(app: self.scenario.app, team: self.scenario.team, kinds: kinds)],
            limits: limits
        )
    }

    private static func schema(_ kind: SimulatedKind) -> KindSchema {
        guard let schema = try? KindSchema(kind: kind.kind, parameters: [ParameterSchema(kind.parameter, .string)])
        else { preconditionFailure("a parameter's name was checked when the scenario was read") }
        return schema
    }

    /// When a value of a kind changed, in seconds after the start.
    func changes(_ kind: Int, _ value: Int) -> [Int32] { self.schedule.changes[kind][value] }

    /// All partitions: each has a ``PartitionRun``, to be advanced by itself, in any order or side by side.
    package var partitions: [PartitionID] { (0..<self.scenario.partitions).map { PartitionID(UInt16($0)) } }
}
