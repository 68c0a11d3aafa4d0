package import Scenarios
package import WidgetModel

extension LoadScenario {
    /// Reads a scenario; `docs/load-testing.md` lists its keys.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - file: The file's name in messages.
    ///   - trace: Gives the text of a file that is named by the scenario, nil if it cannot be read.
    /// - Throws: All its faults, with lines and columns.
    package init(reading text: String, file: String, trace: (String) -> String?) throws(ScenarioError) {
        var reading = LoadScenarioReading(text: ScenarioText(file: file))
        let scenario = reading.scenario(text, trace)
        guard let scenario, reading.text.faults.isEmpty else { throw ScenarioError(reading.text.faults) }
        self = scenario
    }

    /// A JSON Schema of scenarios, for editors.
    package static var schema: JSONValue {
        var reading = LoadScenarioReading(text: ScenarioText(describing: ()))
        _ = reading.scenario("", { _ in nil })
        return reading.text.schema(title: "A load for freshet bench")
    }
}

/// Makes a scenario of its text, section by section.
private struct LoadScenarioReading {
    var text: ScenarioText
    private static let longest: Int64 = 86_400_000_000_000

    mutating func scenario(_ yaml: String, _ trace: (String) -> String?) -> LoadScenario? {
        let keys = [
            "name", "about", "seed", "for", "settle", "outageMax", "connections", "streams", "app", "kind", "parameter",
            "hosts", "provider", "restartAt", "budget", "path", "followed", "loads", "objectives",
        ]
        guard let root = self.text.root(yaml, keys: keys) else { return nil }
        var scenario = LoadScenario()
        scenario.name = self.text.text("name", in: root, else: scenario.name)
        scenario.about = self.text.text("about", in: root, else: scenario.about)
        scenario.seed = UInt64(self.text.integer("seed", in: root, 0...Int.max, else: 1))
        scenario.length = self.time("for", in: root, else: scenario.length, from: 1)
        scenario.settle = self.time("settle", in: root, else: scenario.settle)
        scenario.outageMax = self.time("outageMax", in: root, else: scenario.outageMax)
        scenario.connections = self.text.integer("connections", in: root, 1...10_000, else: scenario.connections)
        scenario.streams = self.text.integer("streams", in: root, 1...1000, else: scenario.streams)
        scenario.app = self.text.text("app", in: root, else: scenario.app)
        scenario.kind = self.text.text("kind", in: root, else: scenario.kind)
        scenario.parameter = self.text.text("parameter", in: root, else: scenario.parameter)
        scenario.budget = self.text.text("budget", in: root, else: scenario.budget)
        scenario.path = self.text.value("path", in: root, "a path with {} for the token", else: scenario.path) { path in
            path.first == "/" && path.split(separator: "{}", omittingEmptySubsequences: false).count == 2 ? path : nil
        }
        scenario.followed = self.text.share("followed", in: root, else: scenario.followed)
        let hostKeys = ["count", "widgets", "values", "streams", "app", "answersAfter", "slow"]
        if let section = self.text.section("hosts", in: root, keys: hostKeys) { scenario.hosts = self.hosts(section) }
        if let section = self.text.section("provider", in: root, keys: ["latency", "fails"]) {
            scenario.provider = self.provider(section)
        }
        let restart = self.time("restartAt", in: root, else: 0)
        if root.has("restartAt") { scenario.restartAt = restart }
        if restart >= scenario.length { self.text.fault(root, "restartAt", "is after the end; make `for` longer") }
        for section in self.text.sections("loads", in: root, keys: Self.loadKeys) {
            if let load = self.load(section, scenario, trace) { scenario.loads.append(load) }
        }
        self.text.need("loads", in: root, "is missing; a scenario sends something")
        let names = scenario.loads.map(\.name)
        if Set(names).count != names.count {
            self.text.fault(root, "loads", "have one name twice; give each its own")
        }
        let phrase = "an objective such as accepted p99 <= 50ms, errors <= 0.1% or answered >= 99%"
        scenario.objectives = self.text.values("objectives", in: root, phrase) { Objective($0, loads: names) }
        return scenario
    }

    private mutating func time(
        _ key: String,
        in section: ScenarioSection,
        else fallback: Int64,
        from least: Int64 = 0
    ) -> Int64 {
        self.text.value(
            key,
            in: section,
            "a length of time such as 250us, 20ms or 30s, at most a day",
            else: fallback,
            as: JSONSchema.text("^[0-9.]+(ns|us|ms|s|m|h)$")
        ) {
            LoadValue.nanoseconds($0).flatMap { (least...Self.longest).contains($0) ? $0 : nil }
        }
    }

    private mutating func hosts(_ section: ScenarioSection) -> HostPopulation {
        var hosts = HostPopulation()
        hosts.count = self.text.integer("count", in: section, 1...LoadScenario.hostsMax, else: hosts.count)
        hosts.widgets = self.text.integer("widgets", in: section, 1...64, else: hosts.widgets)
        hosts.values = self.text.integer("values", in: section, 1...1_000_000, else: hosts.values)
        hosts.streams = self.text.integer("streams", in: section, 0...100_000, else: hosts.streams)
        if hosts.streams > hosts.count {
            self.text.fault(section, "streams", "are more than there are hosts")
        }
        hosts.followsApp = self.text.flag("app", in: section, else: hosts.followsApp)
        hosts.answersAfter = self.time("answersAfter", in: section, else: hosts.answersAfter)
        if let inner = self.text.section("slow", in: section, keys: ["share", "answersAfter"]) {
            hosts.slowShare = self.text.share("share", in: inner, else: 0.1)
            hosts.slowAnswersAfter = self.time("answersAfter", in: inner, else: hosts.slowAnswersAfter)
        }
        return hosts
    }

    private mutating func provider(_ section: ScenarioSection) -> LoadProvider {
        var provider = LoadProvider()
        provider.latency = self.time("latency", in: section, else: provider.latency)
        if let inner = self.text.section("fails", in: section, keys: ["at", "for", "share"]) {
            provider.failsAt = self.time("at", in: inner, else: 0)
            provider.failsFor = self.time("for", in: inner, else: Self.longest)
            provider.failingShare = self.text.share("share", in: inner, else: 1)
        }
        return provider
    }

    // MARK: Loads

    private static let loadKeys = [
        "name", "send", "at", "for", "rate", "until", "arrivals", "count", "within", "trace", "speed", "reach", "order",
        "priority",
    ]

    private enum Spread: String, CaseIterable {
        case uniform
        case poisson
    }

    /// The keys that say when operations are sent, all read before it is known which of them are needed.
    private struct Timing {
        /// Nil for as fast as answers come.
        var rate: Double?
        /// Below zero if the rate does not change.
        var until: Double
        var length: Int64
        var spread: Spread
        var count: Int
        var within: Int64
        var file: String
        var speed: Double
    }

    private mutating func load(
        _ section: ScenarioSection,
        _ scenario: LoadScenario,
        _ trace: (String) -> String?
    ) -> Load? {
        self.text.need("send", in: section)
        let kind = self.text.choice("send", in: section, else: Load.Kind.pushes)
        var load = Load(
            name: self.text.text("name", in: section, else: kind.rawValue),
            kind: kind,
            process: nil
        )
        load.start = self.time("at", in: section, else: 0)
        load.reach = self.text.choice("reach", in: section, else: load.reach)
        load.order = self.text.choice("order", in: section, else: load.order)
        let priorities = JSONSchema.choice([.int(10), .int(5), .int(1)])
        load.priority = self.text.value("priority", in: section, "10, 5 or 1", else: nil, as: priorities) { text in
            Int(text).flatMap { [1, 5, 10].contains($0) ? $0 : nil }
        }
        let timing = self.timing(section)
        guard let form = self.text.one(of: ["rate", "count", "trace"], in: section) else { return nil }
        guard load.start < scenario.length else {
            self.text.fault(section, "at", "is after the end of the scenario; make its `for` longer")
            return nil
        }
        switch form {
        case "rate": load.process = self.rate(section, timing, most: scenario.length - load.start)
        case "count": load.process = self.burst(section, timing)
        default: load.process = self.trace(section, timing, trace)
        }
        if kind == .reconnects {
            if scenario.hosts.streams == 0 {
                self.text.fault(section, "send", "needs hosts with streams: set hosts.streams")
            }
            if load.process == nil { self.text.fault(section, "rate", "must be a number for reconnects") }
        }
        return load
    }

    private mutating func timing(_ section: ScenarioSection) -> Timing {
        let rates = 0...LoadScenario.rateMax
        return Timing(
            rate: self.text.value(
                "rate",
                in: section,
                "operations a second up to \(Int(LoadScenario.rateMax)), or max for as fast as answers come",
                else: 1,
                as: JSONSchema.either(JSONSchema.number(rates), JSONSchema.choice([.string("max")]))
            ) { text -> Double?? in
                if text == "max" { return .some(nil) }
                return Double(text.filter { $0 != "_" }).flatMap { rates.contains($0) ? .some($0) : nil }
            },
            until: self.text.number("until", in: section, rates, else: -1),
            length: self.time("for", in: section, else: Self.longest, from: 1),
            spread: self.text.choice("arrivals", in: section, else: Spread.uniform),
            count: self.text.integer("count", in: section, 1...1_000_000_000, else: 1),
            within: self.time("within", in: section, else: 1_000_000_000, from: 1),
            file: self.text.text("trace", in: section, else: ""),
            speed: self.text.number("speed", in: section, 0.001...1000, else: 1)
        )
    }

    private mutating func refuse(_ keys: [String], in section: ScenarioSection, with form: String) {
        for key in keys where section.has(key) { self.text.fault(section, key, "cannot be used together with \(form)") }
    }

    /// An even or a random process; nil for as fast as answers come.
    private mutating func rate(_ section: ScenarioSection, _ timing: Timing, most: Int64) -> ArrivalProcess? {
        self.refuse(["within", "speed"], in: section, with: "rate")
        guard let rate = timing.rate else {
            self.refuse(["until", "arrivals", "for"], in: section, with: "the rate max")
            return nil
        }
        let curve = RateCurve(from: rate, to: timing.until < 0 ? rate : timing.until, length: min(most, timing.length))
        if curve.total <= 0 { self.text.fault(section, "rate", "sends nothing") }
        switch timing.spread {
        case .uniform: return .uniform(curve)
        case .poisson: return .poisson(curve)
        }
    }

    private mutating func burst(_ section: ScenarioSection, _ timing: Timing) -> ArrivalProcess {
        self.refuse(["until", "arrivals", "for", "speed"], in: section, with: "count")
        return .burst(count: Int64(timing.count), within: timing.within)
    }

    private mutating func trace(
        _ section: ScenarioSection,
        _ timing: Timing,
        _ trace: (String) -> String?
    ) -> ArrivalProcess? {
        self.refuse(["until", "arrivals", "for", "within"], in: section, with: "trace")
        guard let lines = trace(timing.file) else {
            self.text.fault(section, "trace", "cannot be read; paths start at the scenario's folder")
            return nil
        }
        do {
            return .trace(try ArrivalTrace(reading: lines, speed: timing.speed))
        } catch {
            self.text.fault(section, "trace", "\(timing.file) \(error)")
            return nil
        }
    }
}
