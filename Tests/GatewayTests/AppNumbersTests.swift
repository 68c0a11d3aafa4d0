import Partitions
import Serving
import Settings
import Testing
import WidgetModel

/// Apps keep their numbers while others come and go.
@Suite struct AppNumbersTests {
    private static func configuration(_ apps: [String]) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.apps = apps.map { GatewayConfiguration.App(bundleID: BundleID($0), team: TeamID("ABCDE12345")) }
        return configuration
    }

    @Test func `an app that comes gets a number of its own, and its old one when it comes again`() {
        var numbers = AppNumbers(Self.configuration(["a", "b"]))
        numbers.add([BundleID("c"), BundleID("a")])
        numbers.add([BundleID("b")])
        #expect(numbers.apps.map(\.rawValue) == ["a", "b", "c"])
        #expect(["a", "b", "c"].map { numbers[BundleID($0)] } == [0, 1, 2])
    }

    @Test func `an app that goes has no name any more, and is found by its number`() {
        let live = LiveApps(ServedApps(Self.configuration(["a", "b"])))
        var numbers = AppNumbers(Self.configuration(["a", "b"]))
        let before = live.generation
        let next = Self.configuration(["c", "b"])
        numbers.add(next.apps.map(\.bundleID))
        live.applyConfiguration(next, numbers)
        #expect(live.generation > before)
        #expect(live.apps.apps.map(\.bundle.rawValue) == ["c", "b"])
        #expect(live.apps.apps.map(\.number) == [2, 1])
        #expect(live.apps[BundleID("a")] == nil)
        #expect(live.apps[number: 0].bundle.rawValue == "a")
        #expect(live.apps[BundleID("c")]?.number == 2)
    }
}
