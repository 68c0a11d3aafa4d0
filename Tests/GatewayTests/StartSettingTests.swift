import Journaling
import Serving
import Testing
import WidgetModel
@testable import OperatorAPI
@testable import Settings

/// The table of the settings that need a restart, compared with the settings that a running gateway follows, and with the words at each
/// key.
@Suite struct StartSettingTests {
    /// Texts of which every key takes one at least that is not its default.
    private static let texts = [
        "true", "false", "1", "2", "7", "70", "131", "65536", "268435456", "7s", "7m", "30m", "7h", "40%",
        "50% within 7m",
        "127.0.0.2", "/tmp/other", "7/s", "127.0.0.1:4317", "http://127.0.0.1:4318", "bearer", "human", "debug",
        "topics",
        "connection", "key", "gateway",
    ]

    private static let brokers = """
        journal:
          jetstream:
            servers: ["nats://127.0.0.1"]
            credentials: {file: a}
            systemCredentials: {file: a}
            tls: {certificate: a, key: a}
        """

    /// A configuration, and one in which that key has another value; nil where none of the texts fits.
    private static func changed(_ key: String) throws -> (old: GatewayConfiguration, new: GatewayConfiguration)? {
        // Brokers are all there or not at all.
        let least = key.hasPrefix("journal.") ? Self.brokers : ""
        let unchanged = try ConfigurationFile.parse(least).configuration
        for text in Self.texts {
            let parsed = try? ConfigurationFile.parse(least, options: [(path: key, text: text)])
            guard let configuration = parsed?.configuration else { continue }
            if configuration.flatKeys[key] != unchanged.flatKeys[key] { return (unchanged, configuration) }
        }
        return nil
    }

    /// The settings that are taken with every reading: by the logs, and by the tables of apps, keys, certificates, operators and timeline
    /// providers, which also look at files again. Beside them the bounds that requests are served by (``isServed(_:_:)``).
    private static let takenWithEach = [
        "clientCertificates", "listeners.host.tls", "listeners.manage.tls", "listeners.ops.tls", "listeners.push.tls",
        "log.level", "log.levels", "log.maxRepeats", "log.repeatWindow", "ops.open", "ops.tokensFile",
        "rateLimits.maxTokens", "rateLimits.perApp", "rateLimits.perKey", "timelines.maxAnswerBytes",
        "timelines.maxWaiting", "tls",
    ]
    /// Those that are read each time that they count.
    private static let readAnew = [
        "limits.maxAmendmentBytes", "limits.maxAmendments", "timeouts.drain", "timeouts.lameDuck",
        "timeouts.lastSnapshot",
    ]
    /// Those of a part that a gateway without a data directory does not have, and those of apps.
    private static let ofTheAbsent = ["decisions", "limits.hosts", "limits.instances"]

    /// Whether requests are served by other bounds.
    private static func isServed(_ old: GatewayConfiguration, _ new: GatewayConfiguration) -> Bool {
        let (old, new) = (LiveApps(old, seed: 7).bounds, LiveApps(new, seed: 7).bounds)
        return String(describing: old) != String(describing: new)
    }

    @Test func `a running gateway follows what is not in the table, and nothing that is`() async throws {
        let gateway = try await RunningGateway(snapshots: MemorySnapshots())
        let known = Self.takenWithEach + Self.readAnew + Self.ofTheAbsent
        var tried = Set<String>()
        for key in SettingsKeyList.all.settable {
            guard let (old, fresh) = try Self.changed(key) else { continue }
            tried.insert(key)
            let needsRestart = StartSetting.all.contains { $0.holds(key) }
            let isFollowed = gateway.settings.isFollowed(old, fresh) || Self.isServed(old, fresh)
            let isTaken = known.contains { key == $0 || key.hasPrefix("\($0).") }
            #expect([needsRestart, isFollowed, isTaken].count { $0 } == 1, "\(key)")
            // The table names the same value as its key.
            let merged = fresh.withStartSettings(of: old)
            #expect((merged.flatKeys[key] == fresh.flatKeys[key]) != needsRestart, "\(key)")
        }
        try await gateway.stop()
        // Every setting of the table is one of those that were tried, and so are most others.
        for setting in StartSetting.all { #expect(tried.contains(where: setting.holds), "\(setting.key)") }
        let untried = SettingsKeyList.all.settable.filter { !tried.contains($0) }
        #expect(untried.count < 10, "\(untried)")
    }

    @Test func `what needs a restart says so where it is explained, and nothing else does`() {
        let said = SettingExplanations.all.filter { $0.value.contains("eeds a restart") }.keys
        for setting in StartSetting.all {
            #expect(said.contains { $0 == setting.key || setting.key.hasPrefix("\($0).") }, "\(setting.key)")
        }
        for key in said {
            #expect(StartSetting.all.contains { $0.key == key || $0.key.hasPrefix("\(key).") }, "\(key)")
        }
    }
}
