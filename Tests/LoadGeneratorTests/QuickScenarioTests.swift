import LoadGenerator
import Scenarios
import Testing

/// The scenarios that the program has itself.
@Suite struct QuickScenarioTests {
    private static func size(_ widgets: Int, _ rate: Int, _ seconds: Int) -> QuickScenario.Size {
        var size = QuickScenario.Size(cores: 1, memory: 0)
        (size.widgets, size.rate, size.seconds) = (widgets, rate, seconds)
        return size
    }

    private static let sizes = [
        Self.size(1, 1, 1), Self.size(2, 1, 1), Self.size(3, 7, 2), QuickScenario.Size(cores: 2, memory: 8 << 30),
        Self.size(
            QuickScenario.Size.widgetsRange.upperBound,
            QuickScenario.Size.rateRange.upperBound,
            QuickScenario.Size.secondsRange.upperBound
        ),
    ]

    @Test(arguments: QuickScenario.allCases, Self.sizes)
    func `each is an ordinary scenario of any size`(quick: QuickScenario, size: QuickScenario.Size) throws {
        let scenario = try LoadScenario(reading: quick.yaml(size), file: "quick") { _ in nil }
        #expect(scenario.length == Int64(size.seconds) * 1_000_000_000)
        #expect(scenario.hosts.count * scenario.hosts.widgets >= size.widgets)
        #expect(scenario.hosts.count * scenario.hosts.widgets <= size.widgets + 2)
        let pushes = try #require(scenario.loads.first { $0.name == "pushes" }?.process)
        #expect(pushes.expectedCount == Double(size.rate * size.seconds))
        for load in scenario.loads { #expect(load.start + 1_000_000 <= scenario.length, "\(load.name)") }
        // No objective is one that a slow machine would miss.
        #expect(scenario.objectives.map(\.text) == ["errors <= 0", "answered >= 100%"])
    }

    @Test func `each has what it is about`() throws {
        func scenario(_ quick: QuickScenario) throws -> LoadScenario {
            try LoadScenario(reading: quick.yaml(Self.size(300, 10, 10)), file: "quick") { _ in nil }
        }
        #expect(try scenario(.burst).loads.contains { $0.kind == .targeted && $0.reach == .everyone })
        #expect(try scenario(.storm).loads.map(\.kind) == [.pushes, .registrations, .reconnects])
        #expect(try scenario(.steady).loads.map(\.kind) == [.pushes])
        #expect(try scenario(.slowHosts).hosts.slowShare == 0.2)
        #expect(try scenario(.failingProvider).provider?.failsFor == 2_500_000_000)
        #expect(try scenario(.restart).restartAt == 3_333_000_000)
    }

    @Test(arguments: [
        (1, UInt64(0), 300, 250), (2, 8 << 30, 20_000, 500), (4, 8 << 30, 40_000, 1000), (2, 64 << 20, 8388, 500),
        (64, UInt64.max, 100_000, 2000), (0, 8 << 30, 10_000, 250),
    ])
    func `the size suits the machine`(cores: Int, memory: UInt64, widgets: Int, rate: Int) {
        let size = QuickScenario.Size(cores: cores, memory: memory)
        #expect(size.widgets == widgets)
        #expect(size.rate == rate)
    }
}
