import HTTPTransport
import Serving
import Settings
import Testing

/// Whether the configured connections fit the descriptors that the process may have.
@Suite struct DescriptorLimitTests {
    private static func limits(_ files: String) -> String {
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max processes             96213                96213                processes
        Max open files            \(files)              1048576              files
        Max locked memory         8388608              8388608              bytes

        """
    }

    @Test func `the soft limit counts`() throws {
        #expect(try #require(DescriptorLimit(limits: Self.limits("1024"))).max == 1024)
        #expect(try #require(DescriptorLimit(limits: Self.limits("unlimited"))).max == nil)
        #expect(DescriptorLimit(limits: Self.limits("many")) == nil)
        #expect(DescriptorLimit(limits: "") == nil)
        #expect(try #require(DescriptorLimit.current).max ?? .max > 0)
    }

    @Test(arguments: [("30256", 30_000), ("473", 217), ("472", 216), ("471", 215), ("100", 30), ("unlimited", nil)])
    func `the process keeps descriptors for itself`(files: String, connections: Int?) throws {
        #expect(try #require(DescriptorLimit(limits: Self.limits(files))).allowance(open: 40).max == connections)
    }

    // Three listeners are on by default.
    @Test(arguments: [("30256", false), ("30255", true), ("unlimited", false), ("1024", true)])
    func `connections that cannot all be open are told of`(files: String, isTold: Bool) throws {
        let limit = try #require(DescriptorLimit(limits: Self.limits(files)))
        let warning = limit.warning(of: GatewayConfiguration())
        #expect((warning != nil) == isTold)
        guard isTold else { return }
        #expect(warning?.hasPrefix("the process may open \(files) files, and 30256 would be needed") == true)
    }

    @Test func `a listener that is off needs none`() throws {
        var configuration = GatewayConfiguration()
        configuration.limits.connectionsMax = 100
        let limit = try #require(DescriptorLimit(limits: Self.limits("500")))
        #expect(limit.warning(of: configuration) != nil)
        configuration.listeners.host.isEnabled = false
        #expect(limit.warning(of: configuration) == nil)
    }
}
