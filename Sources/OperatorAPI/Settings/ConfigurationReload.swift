package import Engine
import IntentMatching
import Logging
import Metrics
package import Partitions
package import Serving
package import Settings
import Synchronization
import TLS
package import WidgetModel

/// Reads the configuration again on request, and refuses it whole if it has any fault.
///
/// Settings that the engines decide by (apps and kinds, budget policies, limits of the engine) become a record in the log; other changes
/// come in force through ``LiveSettings``. Settings that need a restart (``StartSetting``) are named. Teams and apps that operators have
/// changed by requests stay as they are, whatever the file says of them: `ConfigurationReload+Amending.swift`.
package final class ConfigurationReload: Sendable {
    /// The result of reading it last.
    package struct Report: Hashable, Sendable {
        package let at: Instant
        /// The faults; empty if it was taken.
        package var faults: [SettingFault] = []
        /// The keys whose new values are in force now.
        package var applied: [String] = []
        /// The keys whose new values need a restart.
        package var restartNeeded: [String] = []
        /// Instances that no longer fit their kind.
        package var orphaned = 0

        package init(at: Instant) {
            self.at = at
        }
    }

    struct State {
        var report: Report
        var isReading = false
        /// How often something was read or changed.
        var turns = 0
        /// The file's configuration, as far as it can be in force without a restart.
        var file: GatewayConfiguration
        /// The version of the log's settings whose changes by requests are in force here, or do not go with the file; nil before it was
        /// asked for.
        var version: Int?
        /// Whether partitions decide by this gateway's settings: others that share the log may have others.
        var isDecidedBy = true
        /// A digest of the settings that partitions decide by; nil before they were asked for, and while there are none.
        var digestInForce: UInt64?
    }

    /// How often a change is tried where changes at other gateways come first.
    static let attemptsMax = 4

    let state: Mutex<State>
    package let settings: LiveSettings
    /// The settings that partitions decide by, if they decide by the configuration in force here.
    let ownEngineSettings: Shared<EngineSettings>
    private let ownDigest: Shared<UInt64>
    private let source: (@Sendable () throws -> GatewayConfiguration)?
    let checkFiles: @Sendable (GatewayConfiguration) throws -> Void
    let log: CommandLog
    let clock: LogClock
    private let feed: OperatorFeed
    let logger: Logger
    private let instruments: GatewayInstruments?

    /// - Parameters:
    ///   - settings: The settings in force.
    ///   - source: Reads the configuration anew; nil where there is no file.
    ///   - checkFiles: Throws the faults of the files that a configuration names.
    package init(
        _ settings: LiveSettings,
        source: (@Sendable () throws -> GatewayConfiguration)?,
        checkFiles: @escaping @Sendable (GatewayConfiguration) throws -> Void = { _ in },
        log: CommandLog,
        clock: LogClock,
        feed: OperatorFeed,
        logs: GatewayLogs,
        instruments: GatewayInstruments? = nil
    ) {
        self.instruments = instruments
        self.state = Mutex(State(report: Report(at: clock.now()), file: settings.inForce))
        self.settings = settings
        let own = Shared(EngineSettings(settings.inForce))
        let digest = Shared(own.value.digest)
        settings.follow({ EngineSettings($0) }) { changed in
            own.set(changed)
            digest.set(changed.digest)
        }
        (self.ownEngineSettings, self.ownDigest) = (own, digest)
        self.source = source
        self.checkFiles = checkFiles
        self.log = log
        self.clock = clock
        self.feed = feed
        self.logger = logs.logger(.configuration)
    }

    /// The configuration that is in force.
    package var inForce: GatewayConfiguration { self.settings.inForce }
    package var report: Report { self.state.withLock { $0.report } }
    /// Whether partitions decide by this gateway's settings; false where gateways that share the log have different ones.
    package var isDecidedBy: Bool { self.state.withLock { $0.isDecidedBy } }
    /// Digests of the settings that partitions would decide by, by the configuration in force here, and of those that they decide by, if
    /// that is known.
    package var digests: (own: UInt64, inForce: UInt64?) {
        (self.ownDigest.value, self.state.withLock { $0.digestInForce })
    }
    /// The file's configuration, without the operators' changes by requests.
    package var file: GatewayConfiguration { self.state.withLock { $0.file } }

    /// Begins a turn, of which there is one at a time; ``endTurn()`` ends it.
    ///
    /// - Throws: `too-many` while another does.
    func beginTurn() throws(Problem) {
        let isFirst = self.state.withLock { state in
            defer { state.isReading = true }
            return !state.isReading
        }
        guard isFirst else {
            throw Problem(.tooMany, "the configuration is already being read or changed; send the request again")
        }
    }

    func endTurn() {
        self.state.withLock { state in
            state.isReading = false
            state.turns += 1
        }
    }

    /// Reads the configuration again and puts all changes in force that need no restart.
    ///
    /// - Throws: ``Problem`` if there is none to read, it is being read already, other gateways change it at
    /// the same moment, or the log does not take the change.
    package func reload() async throws(Problem) -> Report {
        guard let source = self.source else {
            throw Problem(.notSupported, "this gateway was started without a configuration file")
        }
        try self.beginTurn()
        defer { self.endTurn() }
        for _ in 0..<Self.attemptsMax {
            if let report = try await self.read(source) { return report }
        }
        throw Self.overtaken("configuration")
    }

    /// Reads the configuration and puts it in force.
    ///
    /// - Returns: Nil if a change at another gateway came first: nothing was taken, and it is to be read anew.
    private func read(_ source: () throws -> GatewayConfiguration) async throws(Problem) -> Report? {
        var report = Report(at: self.clock.now())
        let (inForce, latest) = try await self.askInForce()
        let file: GatewayConfiguration
        let fresh: GatewayConfiguration
        do {
            file = try source()
            fresh = try file.amended(by: latest.amendments)
            try self.checkFiles(fresh)
        } catch let faults as SettingsError {
            return self.refuse(faults.faults, &report)
        } catch {
            return self.refuse([SettingFault(place: .nowhere, path: "", sentence: "\(error)")], &report)
        }
        let before = self.inForce
        let merged = fresh.withStartSettings(of: before)
        let settings = EngineSettings(merged)
        var version = latest.settingsVersion
        // Gateways that share the log may have started partitions with different settings.
        if inForce.contains(where: { $0.settings != settings }) {
            try self.checkRules(of: inForce)
            guard let orphaned = try await self.append(SettingsChange(settings, from: version)) else { return nil }
            report.orphaned = orphaned
            version += 1
        }
        self.putInForce(merged, file: file.withStartSettings(of: before), version: version)
        let (old, new, wanted) = (before.flatKeys, merged.flatKeys, fresh.flatKeys)
        report.applied = Self.differing(old, new)
        report.restartNeeded = Self.differing(new, wanted)
        let done = report
        self.state.withLock { $0.report = done }
        self.tell(report)
        return report
    }

    /// The settings that each partition decides by, and those of the newest version.
    package func askInForce() async throws(Problem) -> (all: [InForce], latest: InForce) {
        let all = try await self.log.askAll(InForceQuestion())
        guard let latest = all.max(by: { $0.settingsVersion < $1.settingsVersion }) else {
            preconditionFailure("a log without partitions")
        }
        return (all, latest)
    }

    /// Refuses other settings while partitions decide by other rules than this program's, which theirs would not be for.
    func checkRules(of inForce: [InForce]) throws(Problem) {
        guard inForce.allSatisfy({ $0.rules == self.log.rules }) else { throw Self.otherRules }
    }

    /// Has all partitions decide by changed settings.
    ///
    /// - Returns: How many instances no longer fit their kind; nil if another change came first, and nothing was taken.
    func append(_ change: SettingsChange) async throws(Problem) -> Int? {
        var orphaned = 0
        for result in try await self.log.appendToAll(.configure(change)) {
            // All partitions have the changes in one order, and take them alike.
            switch result {
            case .settings(let count): orphaned += count
            case .settingsOvertaken: return nil
            default: throw Self.otherRules
            }
        }
        return orphaned
    }

    /// Puts a configuration in force here, once partitions decide by it.
    ///
    /// - Parameters:
    ///   - file: The file's part of it.
    ///   - version: That of the log's settings with it.
    func putInForce(_ merged: GatewayConfiguration, file: GatewayConfiguration, version: Int) {
        self.state.withLock { ($0.file, $0.version) = (file, version) }
        self.settings.replace(merged)
    }

    private static var otherRules: Problem {
        Problem(
            .preconditionFailed,
            "partitions decide by other rules than this gateway's program: end the upgrade (freshet cluster upgrade-rules), then send this to a gateway with their rules"
        )
    }

    /// For a change that others came before, again and again.
    static func overtaken(_ subject: String) -> Problem {
        Problem(.tooMany, "other gateways change the \(subject) at the same moment; send the request again")
    }

    /// The changes that reading it again would make; nothing is taken.
    package struct Difference: Sendable {
        /// One key. nil stands for a key that is not there.
        package struct Change: Sendable {
            package let key: String
            package let old: JSONValue?
            package let new: JSONValue?
            /// Whether it is in force after a restart only.
            package let takesRestart: Bool
        }

        /// Why it would be refused; nothing else is known then.
        package var faults: [SettingFault] = []
        /// In the order of their keys.
        package var changes: [Change] = []
        /// Instances that would no longer fit their kind.
        package var orphaned = 0
        /// The operators' changes by requests, which stay as they are.
        package var amendments: [AmendmentView] = []
    }

    /// Reads the configuration and compares it with that in force.
    ///
    /// - Throws: ``Problem`` if there is none to read, or a partition does not answer.
    package func compare() async throws(Problem) -> Difference {
        guard let source = self.source else {
            throw Problem(.notSupported, "this gateway was started without a configuration file")
        }
        var difference = Difference()
        let amendments = try await self.amendments()
        let fresh: GatewayConfiguration
        do {
            let file = try source()
            difference.amendments = amendments.map { AmendmentView($0, file) }
            fresh = try file.amended(by: amendments)
            try self.checkFiles(fresh)
        } catch let faults as SettingsError {
            difference.faults = faults.faults
            return difference
        } catch {
            difference.faults = [SettingFault(place: .nowhere, path: "", sentence: "\(error)")]
            return difference
        }
        let before = self.inForce
        let merged = fresh.withStartSettings(of: before)
        let (old, live, new) = (before.flatKeys, merged.flatKeys, fresh.flatKeys)
        difference.changes = Self.differing(old, new).map { key in
            Difference.Change(key: key, old: old[key], new: new[key], takesRestart: live[key] != new[key])
        }
        difference.orphaned = try await self.orphans(under: merged)
        return difference
    }

    /// How many instances would no longer fit their kind.
    func orphans(under configuration: GatewayConfiguration) async throws(Problem) -> Int {
        let settings = EngineSettings(configuration)
        guard settings != self.ownEngineSettings.value else { return 0 }
        var count = 0
        for partition in self.log.partitionIDs {
            var next: InstanceNumber? = InstanceNumber(0)
            while let start = next {
                let step = try await self.log.ask(partition, OrphansQuestion(under: settings, at: start))
                count += step.count
                next = step.next
            }
        }
        return count
    }

    private func refuse(_ faults: [SettingFault], _ report: inout Report) -> Report {
        report.faults = faults
        let refused = report
        // Nothing of it is taken, no file that it names among them; those that change are noticed by themselves.
        self.state.withLock { $0.report = refused }
        self.tell(report)
        return report
    }

    private func tell(_ report: Report) {
        self.feed.publish(.note(.configuration, Views.report(report)))
        (report.faults.isEmpty ? self.instruments?.configurationsLoaded : self.instruments?.configurationsRefused)?
            .increment()
        for fault in report.faults {
            self.logger.error("the configuration cannot be used", metadata: ["error": "\(fault)"])
        }
        if report.faults.isEmpty {
            self.logger.notice(
                "the configuration was read again",
                metadata: ["applied": "\(report.applied.joined(separator: ", "))"]
            )
        }
        if !report.restartNeeded.isEmpty {
            self.logger.warning(
                "the configuration has changes that need a restart; they are not in force",
                metadata: ["keys": "\(report.restartNeeded.joined(separator: ", "))"]
            )
        }
        if report.orphaned > 0 {
            self.logger.warning(
                "instances no longer fit their kind's schema: their hosts must register them again",
                metadata: ["instances": "\(report.orphaned)"]
            )
        }
    }

    /// The keys with different values, in order.
    static func differing(_ old: [String: JSONValue], _ new: [String: JSONValue]) -> [String] {
        Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
    }
}

extension EngineSettings {
    /// To compare those of two gateways with the same program.
    var digest: UInt64 { Digests.short(self.encoded.span) }
}

extension GatewayConfiguration {
    /// Every key with its value, by its path; secrets are none.
    var flatKeys: [String: JSONValue] {
        var keys: [String: JSONValue] = [:]
        Self.flatten(ConfigurationFile.json(of: self), "", into: &keys)
        return keys
    }

    static func flatten(_ value: JSONValue, _ path: String, into keys: inout [String: JSONValue]) {
        switch value {
        case .object(let members):
            for member in members {
                Self.flatten(member.value, path.isEmpty ? member.name : "\(path).\(member.name)", into: &keys)
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() { Self.flatten(element, "\(path)[\(index)]", into: &keys) }
        default: keys[path] = value
        }
    }
}

extension Views {
    /// The changes that reading the configuration again would make.
    static func difference(_ difference: ConfigurationReload.Difference) -> JSONValue {
        JSONValue.object(of: [
            ("faults", difference.faults.isEmpty ? nil : .array(difference.faults.map(\.json))),
            (
                "changes",
                .array(difference.changes.map { Views.change($0) })
            ),
            ("orphaned", .count(difference.orphaned)),
            ("amendments", .array(difference.amendments.map(\.json))),
        ])
    }

    /// The result of reading the configuration.
    package static func report(_ report: ConfigurationReload.Report) -> JSONValue {
        JSONValue.object(of: [
            ("loadedAt", .instant(report.at)),
            ("result", .string(report.faults.isEmpty ? "loaded" : "refused")),
            (
                "faults",
                report.faults.isEmpty
                    ? nil : .array(report.faults.map(\.json))
            ),
            ("applied", .strings(report.applied)),
            ("restartNeeded", .strings(report.restartNeeded)),
            ("orphaned", report.orphaned == 0 ? nil : .count(report.orphaned)),
        ])
    }
}
