/// A test of a gateway: a scene, loads over time, and the results that they must have.
package struct LoadScenario: Hashable, Sendable {
    package var name = "Load"
    package var about = ""
    package var seed: UInt64 = 1
    /// Nanoseconds after which nothing is sent any more.
    package var length: Int64 = 10_000_000_000
    /// Nanoseconds of waiting for the answers on their way then.
    package var settle: Int64 = 5_000_000_000
    /// Nanoseconds without any connection to a listener after which a run ends before its time.
    package var outageMax: Int64 = 60_000_000_000
    /// Connections that the loads share.
    package var connections = 8
    /// Requests at once on each of them, if the server takes so many.
    package var streams = 100
    package var app = "com.example.scores"
    package var kind = "scores"
    package var parameter = "team"
    package var hosts = HostPopulation()
    package var provider: LoadProvider?
    /// Nanoseconds after which the gateway is restarted, where bench runs it itself; nil for not at all.
    package var restartAt: Int64?
    /// The budget policy of the app where bench runs the gateway itself: a preset's name.
    package var budget = "widgetkit"
    /// The path that pushes take where it is not a gateway that is loaded; `{}` stands for the token.
    package var path = "/3/device/{}"
    /// The share of pushes whose outcome is followed, for ``LatencyStage/decided``.
    package var followed = 0.0
    package var loads: [Load] = []
    package var objectives: [Objective] = []

    package init() {}

    package static let hostsMax = 5_000_000
    package static let rateMax = 10_000_000.0

    /// Whether reloads come back, so that pushes need ids by which they are recognised.
    package var hasHosts: Bool { self.hosts.streams > 0 || self.hosts.followsApp }

    /// Makes the scene smaller or larger: hosts, rates and counts; never below one.
    package func scaled(by factor: Double) -> LoadScenario {
        func scaled(_ count: Int) -> Int { count == 0 ? 0 : max(1, Int((Double(count) * factor).rounded())) }
        var copy = self
        copy.hosts.count = min(Self.hostsMax, scaled(self.hosts.count))
        copy.hosts.streams = min(copy.hosts.count, scaled(self.hosts.streams))
        copy.loads = self.loads.map { $0.scaled(by: factor) }
        return copy
    }

    /// Leaves loads out, with the objectives that are about them.
    package mutating func drop(loads names: [String]) {
        self.loads.removeAll { names.contains($0.name) }
        self.objectives.removeAll { objective in
            if case .latency(let name?, _, _) = objective.figure { return names.contains(name) }
            return false
        }
    }

    /// Makes all of it shorter or longer, at the same rates.
    package func stretched(by factor: Double) -> LoadScenario {
        var copy = self
        copy.length = max(1, self.length.stretched(by: factor))
        copy.loads = self.loads.map { $0.stretched(by: factor) }
        if let provider = self.provider { copy.provider = provider.stretched(by: factor) }
        copy.restartAt = self.restartAt?.stretched(by: factor)
        return copy
    }
}

/// The hosts that are registered before a run, and their behaviour during it.
package struct HostPopulation: Hashable, Sendable {
    package var count = 1000
    /// Widgets of each host.
    package var widgets = 3
    /// How many values the widgets' parameter has; each widget has one of them.
    package var values = 32
    /// Hosts with an event stream, and so a connection, of their own.
    package var streams = 0
    /// Whether the app's stream is read, which brings the reloads of all hosts, and whether those are acknowledged.
    package var followsApp = false
    /// Nanoseconds from a reload until the host has made its timeline and says so.
    package var answersAfter: Int64 = 0
    /// The share of hosts that take longer, and how long.
    package var slowShare = 0.0
    package var slowAnswersAfter: Int64 = 5_000_000_000

    package init() {}
}

/// A timeline provider that the generator plays itself.
package struct LoadProvider: Hashable, Sendable {
    /// Nanoseconds until it answers.
    package var latency: Int64 = 5_000_000
    /// When it begins to fail, for how long, and which share of the requests.
    package var failsAt: Int64 = 0
    package var failsFor: Int64 = 0
    package var failingShare = 1.0

    package init() {}

    func stretched(by factor: Double) -> LoadProvider {
        var copy = self
        copy.failsAt = self.failsAt.stretched(by: factor)
        copy.failsFor = self.failsFor.stretched(by: factor)
        return copy
    }
}
