/// A load test that needs no file: it makes the text of an ordinary scenario, of a size that suits the machine.
package enum QuickScenario: String, Hashable, Sendable, CaseIterable {
    case burst
    case storm
    case steady
    case slowHosts = "slow-hosts"
    case failingProvider = "failing-provider"
    case restart

    /// How large a quick scenario is.
    package struct Size: Hashable, Sendable {
        /// Widgets in all; each host has up to three of them.
        package var widgets: Int
        /// Pushes a second.
        package var rate: Int
        /// How long something is sent.
        package var seconds: Int

        package static let widgetsRange = 1...LoadScenario.hostsMax
        package static let rateRange = 1...Int(LoadScenario.rateMax)
        package static let secondsRange = 1...86_400

        /// A size that an ordinary disk and the machine's processors and memory are equal to. The generator needs a core itself.
        ///
        /// - Parameter memory: Bytes.
        package init(cores: Int, memory: UInt64) {
            // A widget takes some 2 KB in the gateway, its generator and the caches between; a quarter of the memory may go.
            let room = Int(min(memory / 4 / 2000, 1_000_000))
            self.widgets = max(300, min(10_000 * min(max(1, cores), 10), room))
            self.rate = 250 * min(max(1, cores), 8)
            self.seconds = 15
        }
    }

    /// Its purpose, as a list says it.
    package var about: String {
        switch self {
        case .burst:
            "one push for every widget: its effect on all other pushes, and the time until the last widget has it"
        case .storm: "every host registers again, then hundreds of event streams break at once, amid pushes"
        case .steady: "pushes at random instants to hosts that read and acknowledge: the latency of an ordinary day"
        case .slowHosts: "a fifth of the hosts take two seconds to answer: the effect on the others"
        case .failingProvider:
            "a timeline provider fails for a while: pushes are accepted all the same, and the gateway catches up afterwards"
        case .restart:
            "the gateway is restarted under load: the time until it is back, the cost, and whether anything is lost"
        }
    }

    /// The scenario's YAML, for ``LoadScenario/init(reading:file:trace:)`` or for a file to go on from.
    package func yaml(_ size: Size) -> String {
        let hosts = (size.widgets + 2) / 3
        let perHost = min(3, size.widgets)
        let streams = min(hosts, 200)
        func part(_ share: Int) -> String { "\(max(1, size.seconds * 1000 / share))ms" }
        let parts: [String]
        switch self {
        case .burst:
            parts = [
                "hosts: {count: \(hosts), widgets: \(perHost), app: true}", "followed: 1%", "loads:", Self.pushes(size),
                "  - {name: burst, send: targeted, reach: everyone, count: 1, at: \(part(2)), priority: 10}",
            ]
        case .storm:
            parts = [
                "hosts: {count: \(hosts), widgets: \(perHost), streams: \(streams), app: true}", "loads:",
                Self.pushes(size),
                "  - {send: registrations, order: sequence, count: \(hosts), at: \(part(5)), within: \(part(5))}",
                "  - {send: reconnects, order: sequence, count: \(streams), at: \(part(2)), within: \(part(15))}",
            ]
        case .steady:
            parts = [
                "hosts: {count: \(hosts), widgets: \(perHost), app: true}", "followed: 1%", "loads:", Self.pushes(size),
            ]
        case .slowHosts:
            parts = [
                "hosts:", "  count: \(hosts)", "  widgets: \(perHost)", "  streams: \(streams)", "  app: true",
                "  answersAfter: 5ms", "  slow: {share: 20%, answersAfter: 2s}", "loads:", Self.pushes(size),
                "  - {name: looks, send: signals, rate: \(max(1, size.rate / 4)), arrivals: poisson}",
            ]
        case .failingProvider:
            parts = [
                "hosts: {count: \(hosts), widgets: \(perHost), app: true}",
                "provider: {latency: 5ms, fails: {at: \(part(4)), for: \(part(4))}}", "loads:", Self.pushes(size),
            ]
        case .restart:
            parts = [
                "hosts: {count: \(hosts), widgets: \(perHost), app: true}", "restartAt: \(part(3))", "loads:",
                Self.pushes(size),
            ]
        }
        let head = [
            "# \(self.about.prefix(1).uppercased())\(self.about.dropFirst()).", "name: \(self.title)",
            "about: \(self.sentence)",
            "seed: 1", "for: \(size.seconds)s", "# The run ends as soon as every push has its answer and its reloads.",
            "settle: 10m",
            "# Every push reloads its widgets at once: with the policy widgetkit, most pushes of so short a run would wait.",
            "budget: unlimited",
        ]
        return (head + parts + ["objectives:", "  - errors <= 0", "  - answered >= 100%"]).joined(separator: "\n")
            + "\n"
    }

    private static func pushes(_ size: Size) -> String {
        "  - {name: pushes, send: pushes, rate: \(size.rate), arrivals: poisson}"
    }

    private var title: String {
        switch self {
        case .burst: "A burst"
        case .storm: "A storm of hosts"
        case .steady: "A steady day"
        case .slowHosts: "Slow hosts"
        case .failingProvider: "A failing provider"
        case .restart: "A restart"
        }
    }

    private var sentence: String {
        switch self {
        case .burst: "One push for every widget amid pushes at random instants."
        case .storm: "Every host registers again, then event streams break and come back, amid pushes."
        case .steady: "Pushes at random instants to hosts that read their reloads and acknowledge them."
        case .slowHosts: "A fifth of the hosts take two seconds to make a timeline."
        case .failingProvider: "The timeline provider answers nothing but 500 for a quarter of the time."
        case .restart: "The gateway gets SIGTERM under load, and is started again."
        }
    }
}
