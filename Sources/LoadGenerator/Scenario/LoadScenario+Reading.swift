package import Scenarios

extension LoadScenario {
    /// Reads a scenario; `docs/load-testing.md` lists its keys.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - file: What the file is called in messages.
    ///   - trace: Gives the text of a file that is named by the scenario, nil if it cannot be read.
    /// - Throws: Everything that is wrong with it, with lines and columns.
    package init(reading text: String, file: String, trace: (String) -> String?) throws(ScenarioFaults) {
        var reading = LoadScenarioReading(file: file)
        let scenario = reading.scenario(text, trace)
        guard let scenario, reading.text.faults.isEmpty else { throw ScenarioFaults(reading.text.faults) }
        self = scenario
    }
}

/// Makes a scenario of its text, section by section.
private struct LoadScenarioReading {
    var text: ScenarioText
    private static let longest: Int64 = 86_400_000_000_000

    init(file: String) {
        self.text = ScenarioText(file: file)
    }

    mutating func scenario(_ yaml: String, _ trace: (String) -> String?) -> LoadScenario? {
        let keys = [
            "name", "about", "seed", "for", "settle", "outageMax", "connections", "streams", "app", "kind", "parameter",
            "hosts",
            "provider", "budget", "path", "followed", "loads", "objectives",
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
        for section in self.text.sections("loads", in: root, keys: Self.loadKeys) {
            if let load = self.load(section, scenario, trace) { scenario.loads.append(load) }
        }
        if !root.has("loads") { self.text.fault(root, "loads", "is missing; a scenario sends something") }
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
        self.text.value(key, in: section, "a length of time such as 250us, 20ms or 30s, at most a day", else: fallback)
        {
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

    private mutating func load(
        _ section: ScenarioSection,
        _ scenario: LoadScenario,
        _ trace: (String) -> String?
    ) -> Load? {
        if !section.has("send") { self.text.fault(section, "send", "is missing") }
        let kind = self.text.choice("send", in: section, else: Load.Kind.pushes)
        let forms = ["rate", "count", "trace"].filter { section.has($0) }
        guard forms.count == 1 else {
            self.text.fault(section, "", "needs exactly one of rate, count and trace")
            return nil
        }
        var load = Load(
            name: self.text.text("name", in: section, else: kind.rawValue),
            kind: kind,
            process: nil
        )
        load.start = self.time("at", in: section, else: 0)
        guard load.start < scenario.length else {
            self.text.fault(section, "at", "is after the end of the scenario; make its `for` longer")
            return nil
        }
        load.reach = self.text.choice("reach", in: section, else: load.reach)
        load.order = self.text.choice("order", in: section, else: load.order)
        load.priority = self.text.value("priority", in: section, "10, 5 or 1", else: nil) { text in
            Int(text).flatMap { [1, 5, 10].contains($0) ? $0 : nil }
        }
        switch forms[0] {
        case "rate": load.process = self.rate(section, load, scenario)
        case "count": load.process = self.burst(section)
        default: load.process = self.trace(section, trace)
        }
        if kind == .reconnects {
            if scenario.hosts.streams == 0 {
                self.text.fault(section, "send", "needs hosts with streams: set hosts.streams")
            }
            if load.process == nil { self.text.fault(section, "rate", "has to be a number for reconnects") }
        }
        return load
    }

    /// An even or a random process; nil for as fast as answers come.
    private mutating func rate(
        _ section: ScenarioSection,
        _ load: Load,
        _ scenario: LoadScenario
    ) -> ArrivalProcess? {
        for key in ["within", "speed"] where section.has(key) {
            self.text.fault(section, key, "does not go with rate")
        }
        let phrase = "operations a second up to \(Int(LoadScenario.rateMax)), or max for as fast as answers come"
        let rate: Double? = self.text.value("rate", in: section, phrase, else: 1) { text -> Double?? in
            if text == "max" { return .some(nil) }
            return Double(text.filter { $0 != "_" }).flatMap { $0 >= 0 && $0 <= LoadScenario.rateMax ? .some($0) : nil }
        }
        guard let rate else {
            for key in ["until", "arrivals", "for"] where section.has(key) {
                self.text.fault(section, key, "does not go with the rate max")
            }
            return nil
        }
        let until = self.text.number("until", in: section, 0...LoadScenario.rateMax, else: rate)
        let most = scenario.length - load.start
        let length = min(most, self.time("for", in: section, else: most, from: 1))
        let curve = RateCurve(from: rate, to: until, length: length)
        if curve.total <= 0 { self.text.fault(section, "rate", "sends nothing") }
        switch self.text.choice("arrivals", in: section, else: Spread.uniform) {
        case .uniform: return .uniform(curve)
        case .poisson: return .poisson(curve)
        }
    }

    private mutating func burst(_ section: ScenarioSection) -> ArrivalProcess {
        for key in ["until", "arrivals", "for", "speed"] where section.has(key) {
            self.text.fault(section, key, "does not go with count")
        }
        let count = self.text.integer("count", in: section, 1...1_000_000_000, else: 1)
        return .burst(count: Int64(count), within: self.time("within", in: section, else: 1_000_000_000, from: 1))
    }

    private mutating func trace(_ section: ScenarioSection, _ trace: (String) -> String?) -> ArrivalProcess? {
        for key in ["until", "arrivals", "for", "within"] where section.has(key) {
            self.text.fault(section, key, "does not go with trace")
        }
        let file = self.text.text("trace", in: section, else: "")
        let speed = self.text.number("speed", in: section, 0.001...1000, else: 1)
        guard let lines = trace(file) else {
            self.text.fault(section, "trace", "cannot be read; paths start at the scenario's folder")
            return nil
        }
        do {
            return .trace(try ArrivalTrace(reading: lines, speed: speed))
        } catch {
            self.text.fault(section, "trace", "\(file) \(error)")
            return nil
        }
    }
}
