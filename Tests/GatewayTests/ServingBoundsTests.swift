import IntentMatching
import Partitions
import Serving
import Settings
import Testing
import WidgetModel

/// Serving while the configuration changes: bounds, and rates that go on.
@Suite struct ServingBoundsTests {
    private static func configuration(_ section: String) throws -> GatewayConfiguration {
        let text = """
            \(section)
            listeners: {push: {enabled: false}, host: {enabled: false}}
            teams: [{id: ABCDE12345, keys: []}]
            apps: [{bundleID: com.example.scores, team: ABCDE12345, kinds: [{kind: scores}]}]
            """
        return try ConfigurationFile.parse(text).configuration
    }

    private static func live(_ section: String) throws -> LiveApps {
        LiveApps(try Self.configuration(section), seed: 7)
    }

    private static func change(_ live: LiveApps, _ section: String) throws {
        let configuration = try Self.configuration(section)
        live.applyConfiguration(configuration, AppNumbers(configuration))
    }

    @Test func `what a configuration bounds is what is served by`() throws {
        let live = try Self.live("")
        #expect(live.bounds.intake == PushIntakeLimits())
        #expect(live.bounds.hosts == HostRouteLimits())
        #expect(live.bounds.decidedMax == 500)
        #expect(live.bounds.tokenRates == nil)
        let before = live.generation
        try Self.change(
            live,
            """
            limits: {maxDeviceBodyBytes: 512, maxHostBodyBytes: 2048, maxChannelsPerApp: 3, maxImportLines: 4, maxClockStops: 8, maxWaitingLooked: 9,
              maxPatternCost: 7, maxConditionCost: 5}
            dryRun: {decidedMax: 6}
            """
        )
        #expect(live.generation > before)
        #expect(live.bounds.intake.deviceBodyBytesMax == 512)
        #expect(live.bounds.hosts.bodyBytesMax == 2048)
        #expect(live.bounds.hosts.importLinesMax == 4)
        #expect(live.bounds.channelsMax == 3)
        #expect(live.bounds.clockStopsMax == 8)
        #expect(live.bounds.waitingLookedMax == 9)
        #expect(live.bounds.patterns == PatternLimits(costMax: 7))
        #expect(live.bounds.conditions.costMax == 5)
        #expect(live.bounds.decidedMax == 6)
    }

    @Test func `a rate that stays the same goes on, another one begins anew`() throws {
        let live = try Self.live("rateLimits: {perApp: {rate: 1/m}, perToken: {rate: 1/m}}")
        let now = Sports.start
        let app = BundleID("com.example.scores")
        let token = try #require(live.bounds.tokenRates).tag(ofHex: Array("00ff".utf8).span)
        #expect(live.apps[app]?.meter?.admit(at: now) == nil)
        #expect(live.bounds.tokenRates?.admit(token, at: now) == nil)
        try Self.change(live, "rateLimits: {perApp: {rate: 1/m}, perToken: {rate: 1/m}}\nlimits: {maxTags: 3}")
        #expect(live.apps[app]?.meter?.admit(at: now) != nil)
        #expect(live.bounds.tokenRates?.admit(token, at: now) != nil)
        try Self.change(live, "rateLimits: {perApp: {rate: 2/m}, perToken: {rate: 2/m}}")
        #expect(live.apps[app]?.meter?.admit(at: now) == nil)
        #expect(live.bounds.tokenRates?.admit(token, at: now) == nil)
        try Self.change(live, "")
        #expect(live.apps[app]?.meter == nil)
        #expect(live.bounds.tokenRates == nil)
    }
}
