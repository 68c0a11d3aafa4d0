package import Scenarios
package import Timelines
import WidgetModel

/// The faults of a budget policy that a scenario writes in full.
package struct ScenarioPolicyError: Error {
    package let faults: [(path: String, sentence: String)]

    /// - Parameter faults: Each with the key's path, from the policy on.
    package init(_ faults: [(path: String, sentence: String)]) {
        self.faults = faults
    }
}

extension Scenario {
    /// Reads a policy that is written as in the gateway's configuration, whose rules are not known here.
    package typealias PolicyReader = (_ yaml: String) throws(ScenarioPolicyError) -> BudgetPolicy

    /// Reads a scenario; `docs/simulation.md` lists its keys.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - file: The file's name in messages.
    ///   - policy: Reads the budgets that are written in full; without it there are presets only.
    /// - Throws: All its faults, with lines and columns.
    package init(reading text: String, file: String, policy: PolicyReader? = nil) throws(ScenarioError) {
        var reading = ScenarioReading(file: file, policy: policy)
        let scenario = reading.scenario(text)
        guard let scenario, reading.text.faults.isEmpty else { throw ScenarioError(reading.text.faults) }
        self = scenario
    }
}

/// Makes a scenario of its text, section by section.
private struct ScenarioReading {
    var text: ScenarioText
    private let policy: Scenario.PolicyReader?
    private var kinds: [SimulatedKind] = []

    init(file: String, policy: Scenario.PolicyReader?) {
        self.text = ScenarioText(file: file)
        self.policy = policy
    }

    mutating func scenario(_ yaml: String) -> Scenario? {
        let keys = [
            "name", "about", "seed", "start", "days", "partitions", "app", "team", "starvedAfter", "clockSteps",
            "kinds", "populations", "senders",
        ]
        guard let root = self.text.root(yaml, keys: keys) else { return nil }
        var scenario = Scenario()
        scenario.name = self.text.text("name", in: root, else: scenario.name)
        scenario.about = self.text.text("about", in: root, else: scenario.about)
        scenario.seed = UInt64(self.text.integer("seed", in: root, 0...Int.max, else: 1))
        scenario.start = self.text.value("start", in: root, "a date such as 2026-09-13T00:00Z", else: 1_788_998_400) {
            CivilTime($0)?.seconds
        }
        scenario.days = self.text.integer("days", in: root, 1...Scenario.daysMax, else: scenario.days)
        scenario.partitions = self.text.integer("partitions", in: root, 1...64, else: scenario.partitions)
        scenario.app = BundleID(self.text.text("app", in: root, else: scenario.app.rawValue))
        scenario.team = TeamID(self.text.text("team", in: root, else: scenario.team.rawValue))
        scenario.starvedAfter = self.text.duration(
            "starvedAfter",
            in: root,
            .minutes(1) ... .days(30),
            else: scenario.starvedAfter
        )
        let stepKeys = ["at", "by"]
        for section in self.text.sections("clockSteps", in: root, keys: stepKeys) {
            self.require(section, stepKeys)
            scenario.clockSteps.append(
                ClockStep(
                    at: self.text.duration("at", in: section, .zero ... .days(366), else: .zero),
                    by: self.text.duration("by", in: section, .zero - .days(1) ... .days(1), else: .zero)
                )
            )
        }
        scenario.clockSteps.sort { $0.at < $1.at }
        self.require(root, ["kinds", "populations"])
        for section in self.text.sections("kinds", in: root, keys: Self.kindKeys) { self.kind(section) }
        scenario.kinds = self.kinds
        for section in self.text.sections("populations", in: root, keys: Self.populationKeys) {
            scenario.populations.append(self.population(section))
        }
        for section in self.text.sections("senders", in: root, keys: Self.senderKeys) {
            scenario.senders.append(self.sender(section))
        }
        if scenario.instanceCount > Scenario.instancesMax {
            let sentence = "make \(scenario.instanceCount) widgets, at most \(Scenario.instancesMax) are simulated"
            self.text.fault(root, "populations", sentence)
        }
        return scenario
    }

    private mutating func require(_ section: ScenarioSection, _ keys: [String]) {
        for key in keys where !section.has(key) { self.text.fault(section, key, "is missing") }
    }

    /// A kind that was declared, the first one with a fault.
    private mutating func declaredKind(_ section: ScenarioSection) -> WidgetKind {
        self.require(section, ["kind"])
        let names = self.kinds.map(\.kind.rawValue)
        return self.text.value(
            "kind",
            in: section,
            "one of the kinds \(names.joined(separator: ", "))",
            else: self.kinds.first?.kind ?? WidgetKind("")
        ) { text in names.contains(text) ? WidgetKind(text) : nil }
    }

    // MARK: Kinds

    private static let kindKeys = ["kind", "parameter", "values", "budget", "timeline", "provider"]

    private mutating func kind(_ section: ScenarioSection) {
        self.require(section, ["kind", "values"])
        var kind = SimulatedKind()
        kind.kind = WidgetKind(self.text.text("kind", in: section, else: "widget"))
        if self.kinds.contains(where: { $0.kind == kind.kind }) {
            self.text.fault(section, "kind", "is declared twice")
        }
        kind.parameter = self.text.value("parameter", in: section, "a name without $ and dots", else: "topic") { text in
            text.isEmpty || text.contains("$") || text.contains(".") ? nil : text
        }
        kind.values = self.names(section)
        kind.budget = self.budget(section)
        if let inner = self.text.section("timeline", in: section, keys: Self.timelineKeys) {
            kind.timeline = self.timeline(inner)
        }
        if let inner = self.text.section("provider", in: section, keys: ["latency", "faults"]) {
            kind.provider = self.provider(inner)
        }
        self.kinds.append(kind)
    }

    /// A preset by its name, or a policy in full.
    private mutating func budget(_ section: ScenarioSection) -> BudgetPolicy {
        if let policy, let yaml = section.sectionText("budget") {
            do throws(ScenarioPolicyError) {
                return try policy(yaml)
            } catch {
                for fault in error.faults {
                    let path = fault.path.isEmpty ? "budget" : "budget.\(fault.path)"
                    self.text.fault(section, path: path, fault.sentence)
                }
                return .widgetkit
            }
        }
        let presets = BudgetPolicy.presets.map(\.name).joined(separator: ", ")
        return self.text.value("budget", in: section, "one of \(presets)", else: .widgetkit) {
            BudgetPolicy.preset(named: $0)
        }
    }

    /// The values of the parameter: a list of names, or how many there are.
    private mutating func names(_ section: ScenarioSection) -> [String] {
        if section.isList("values") {
            let names = self.text.values("values", in: section, "a text") { $0.isEmpty ? nil : $0 }
            if names.isEmpty || Set(names).count != names.count {
                self.text.fault(section, "values", "must name at least one value, and each once")
            }
            return names
        }
        return (1...self.text.integer("values", in: section, 1...100_000, else: 1)).map { "v\($0)" }
    }

    private static let timelineKeys = ["entries", "every", "policy", "foresight", "climb", "open"]

    private mutating func timeline(_ section: ScenarioSection) -> TimelineShape {
        var shape = TimelineShape()
        shape.entries = self.text.integer("entries", in: section, 1...400, else: shape.entries)
        shape.every = self.text.duration("every", in: section, .seconds(1) ... .days(7), else: shape.every)
        shape.policy = self.text.value(
            "policy",
            in: section,
            "atEnd, never or after and a length of time",
            else: shape.policy
        ) {
            text in
            if text == "atEnd" { return .atEnd }
            if text == "never" { return .never }
            let parts = text.split(separator: " ")
            guard parts.count == 2, parts[0] == "after", let length = ScenarioValue.duration(String(parts[1])),
                length > .zero
            else { return nil }
            return .after(length)
        }
        shape.foresight = self.text.duration("foresight", in: section, .zero ... .days(30), else: .zero)
        if let inner = self.text.section("climb", in: section, keys: ["from", "by", "to", "every"]) {
            var climb = TimelineShape.Climb()
            climb.from = self.text.integer("from", in: inner, 0...1_000_000, else: climb.from)
            climb.by = self.text.integer("by", in: inner, 1...1_000_000, else: climb.by)
            climb.to = self.text.integer("to", in: inner, 1...1_000_000, else: climb.to)
            climb.every = self.text.duration("every", in: inner, .seconds(1) ... .days(7), else: climb.every)
            if climb.stepsLeft(after: 0) > 400 { self.text.fault(inner, "by", "makes more than 400 steps") }
            shape.climb = climb
        }
        if section.has("open") {
            let keys = ["hours", "days", "zone"]
            if let inner = self.text.section("open", in: section, keys: keys) { shape.opening = self.opening(inner) }
        }
        return shape
    }

    private mutating func opening(_ section: ScenarioSection) -> OpeningHours {
        var opening = OpeningHours()
        let hours = self.text.value("hours", in: section, "hours such as 09:30-16:00", else: (0, 86_400)) { text in
            ScenarioValue.hours(text).map { ($0.from, $0.until) }
        }
        (opening.from, opening.until) = hours
        if section.has("days") {
            let names = ScenarioValue.weekdays.joined(separator: ", ")
            let days = self.text.values("days", in: section, "one of \(names)") {
                ScenarioValue.weekdays.firstIndex(of: $0)
            }
            if days.isEmpty, self.text.faults.isEmpty { self.text.fault(section, "days", "names no day") }
            opening.days = Set(days)
        }
        opening.zone = self.zone(section, else: .utc)
        return opening
    }

    private mutating func zone(_ section: ScenarioSection, else fallback: TimeZoneRule) -> TimeZoneRule {
        let names = TimeZoneRule.all.map(\.name).joined(separator: ", ")
        return self.text.value("zone", in: section, "one of \(names)", else: fallback) { text in
            TimeZoneRule.all.first { $0.name == text }
        }
    }

    private mutating func provider(_ section: ScenarioSection) -> SimulatedProvider {
        var provider = SimulatedProvider()
        provider.latency = self.text.value("latency", in: section, "a range of seconds such as 1s..4s", else: 1...2) {
            text in
            let parts = text.split(separator: ".", omittingEmptySubsequences: true)
            let bounds = parts.compactMap { ScenarioValue.duration(String($0)).map { Int($0.milliseconds / 1000) } }
            guard bounds.count == parts.count, let low = bounds.first, let high = bounds.last, bounds.count <= 2,
                low <= high, low >= 0, high <= 3600
            else { return nil }
            return low...high
        }
        for section in self.text.sections("faults", in: section, keys: ["fault", "at", "for", "share", "times"]) {
            self.require(section, ["fault", "at", "for"])
            var fault = SimulatedProvider.Fault()
            let times = self.text.integer("times", in: section, 2...1000, else: 10)
            fault.kind = self.text.value("fault", in: section, "slow, failing or stuck", else: .failing) { text in
                ["slow": .slow(times), "failing": .failing, "stuck": .stuck][text]
            }
            fault.at = self.text.duration("at", in: section, .zero ... .days(366), else: .zero)
            fault.length = self.text.duration("for", in: section, .seconds(1) ... .days(366), else: .hours(1))
            fault.share = self.text.share("share", in: section, else: 1)
            provider.faults.append(fault)
        }
        return provider
    }

    // MARK: Populations

    private static let populationKeys = [
        "name", "hosts", "delivery", "rhythm", "views", "opens", "taps", "zones", "offline", "widgets",
    ]

    private mutating func population(_ section: ScenarioSection) -> Population {
        self.require(section, ["hosts", "widgets"])
        var population = Population()
        population.name = self.text.text("name", in: section, else: population.name)
        population.hosts = self.text.integer("hosts", in: section, 1...Scenario.instancesMax, else: population.hosts)
        population.delivery = self.text.choice("delivery", in: section, else: population.delivery)
        population.rhythm = self.text.choice("rhythm", in: section, else: population.rhythm)
        if section.has("views") { population.views = self.text.number("views", in: section, 0...200, else: 4) }
        population.opens = self.text.number("opens", in: section, 0...100, else: population.opens)
        population.taps = self.text.number("taps", in: section, 0...100, else: population.taps)
        let zones = self.text.weights("zones", in: section, known: TimeZoneRule.all.map(\.name))
        let shares = zones.compactMap { name, weight in
            TimeZoneRule.all.first { $0.name == name }.map { ZoneShare(zone: $0, weight: weight) }
        }
        if !shares.isEmpty { population.zones = shares }
        if let inner = self.text.section("offline", in: section, keys: ["share", "for"]) {
            population.offlineShare = self.text.share("share", in: inner, else: 0)
            population.offlineFor = self.text.duration(
                "for",
                in: inner,
                .seconds(1) ... .days(7),
                else: population.offlineFor
            )
        }
        for section in self.text.sections("widgets", in: section, keys: ["kind", "count", "popularity"]) {
            var widgets = Population.Widgets()
            widgets.kind = self.declaredKind(section)
            widgets.count = self.text.integer("count", in: section, 1...64, else: 1)
            widgets.popularity = self.text.choice("popularity", in: section, else: .even)
            population.widgets.append(widgets)
        }
        if population.instancesPerHost > 256 {
            self.text.fault(section, "widgets", "are more than 256 on one host")
        }
        return population
    }

    // MARK: Senders

    private static let senderKeys = [
        "name", "kind", "events", "push", "priority", "expiration", "collapse", "digest",
    ]

    private mutating func sender(_ section: ScenarioSection) -> SimulatedSender {
        self.require(section, ["events"])
        var sender = SimulatedSender()
        sender.kind = self.declaredKind(section)
        sender.name = self.text.text("name", in: section, else: sender.kind.rawValue)
        sender.target = self.text.choice("push", in: section, else: sender.target)
        if section.has("priority") {
            sender.priority = self.text.value("priority", in: section, "10, 5 or 1", else: nil) { text in
                UInt8(text).flatMap { Priority(rawValue: $0) }
            }
        }
        if section.has("expiration") {
            sender.expiration = self.text.duration("expiration", in: section, .zero ... .days(30), else: .zero)
        }
        sender.collapses = self.text.flag("collapse", in: section, else: sender.collapses)
        sender.namesDigest = self.text.flag("digest", in: section, else: sender.namesDigest)
        for section in self.text.sections("events", in: section, keys: Self.eventKeys) {
            sender.events.append(self.event(section))
        }
        return sender
    }

    private static let eventKeys = [
        "steady", "poisson", "burst", "schedule", "within", "at", "hours", "days", "zone", "changes", "popularity",
    ]

    private mutating func event(_ section: ScenarioSection) -> EventPattern {
        var pattern = EventPattern()
        let forms = ["steady", "poisson", "burst", "schedule"].filter { section.has($0) }
        guard forms.count == 1 else {
            self.text.fault(section, "", "needs exactly one of steady, poisson, burst and schedule")
            return pattern
        }
        switch forms[0] {
        case "steady":
            let every = self.text.duration("steady", in: section, .seconds(1) ... .days(30), else: .hours(1))
            pattern.form = .steady(every: every)
        case "poisson":
            pattern.form = .poisson(perHour: self.text.number("poisson", in: section, 0.001...36_000, else: 1))
        case "burst":
            self.require(section, ["at"])
            let count = self.text.integer("burst", in: section, 1...100_000, else: 1)
            let within = self.text.duration("within", in: section, .zero ... .hours(24), else: .zero)
            pattern.form = .burst(count: count, within: within)
            pattern.times = self.times("at", section)
        default:
            pattern.form = .schedule
            pattern.times = self.times("schedule", section)
        }
        pattern.hours = self.opening(section)
        pattern.changes = self.text.choice("changes", in: section, else: .one)
        pattern.popularity = self.text.choice("popularity", in: section, else: .even)
        return pattern
    }

    private mutating func times(_ key: String, _ section: ScenarioSection) -> [Int] {
        self.text.values(key, in: section, "a time of day such as 20:15") { text in
            ScenarioValue.timeOfDay(text).flatMap { $0 < 86_400 ? $0 : nil }
        }
    }
}
