import FoundationEssentials
import Logging
import Synchronization
import TLS
import WidgetModel

/// What a running gateway reads again: the listeners' certificates, the provider keys, the revocation list and, when it is
/// asked to, what the configuration says of teams and of client certificates.
final class GatewayReload: Sendable {
    /// The keys that seal session tickets live so long at most: a new context is made with new ones. TLS 1.2 has no forward
    /// secrecy for what a ticket resumes, against whoever takes the key.
    static let ticketKeysMax = Interval.hours(12)

    private let configuration: GatewayConfiguration
    private let certificates: ServerCertificates
    private let senders: SenderDirectory
    private let clock: LogClock
    private let logger: Logger
    private let watch: FileWatch
    /// The configuration that the keys in force are of.
    private let keyed: Shared<GatewayConfiguration>

    /// - Parameters:
    ///   - configuration: What the gateway was started with.
    ///   - plans: Its listeners' certificates, as read at the start.
    ///   - use: Serves a listener's next connections under another context.
    init(
        configuration: GatewayConfiguration,
        plans: ListenerPlans,
        certificates: ServerCertificates,
        senders: SenderDirectory,
        clock: LogClock,
        logger: Logger,
        use: @escaping @Sendable (_ listener: String, TLSContext) -> Void
    ) {
        self.configuration = configuration
        self.certificates = certificates
        self.senders = senders
        self.clock = clock
        self.logger = logger
        var subjects = plans.certificates.map { plan in
            let paths = [plan.files.certificate, plan.files.key] + [plan.files.clientAuthorities].compactMap { $0 }
            return FileWatch.Subject(name: "certificate of listeners.\(plan.listener)", paths: paths) {
                let context = try certificates.replace(plan.listener, now: clock.now(), load: plan.load)
                use(plan.listener, context)
                guard let end = context.certificate?.notAfter else { return [:] }
                return ["notAfter": "\(ServerCertificates.text(end))"]
            }
        }
        if let file = configuration.clientCertificates.revocationList {
            // With whom it has to be signed by: a list is good or not as they change.
            let paths = [file] + configuration.clientAuthorities
            subjects.append(
                FileWatch.Subject(name: "clientCertificates.revocationList", paths: paths) {
                    let list = try senders.certificates.revoke { try RevocationList(configuration) }
                    return ["revoked": "\(list.count)"]
                }
            )
        }
        let keyed = Shared(configuration)
        self.keyed = keyed
        subjects.append(
            FileWatch.Subject(name: "keys of teams", paths: { keyed.value.teams.flatMap { $0.keys.map(\.file) } }) {
                try senders.replaceKeys(keyed.value)
                return ["keys": "\(senders.keys.count)"]
            }
        )
        self.watch = FileWatch(subjects, logger: logger) { path in
            (try? Data(contentsOf: URL(filePath: path))).map { [UInt8]($0) }
        }
    }

    /// Looks for changed files until the task is cancelled.
    func run() async {
        self.warn()
        var sinceUse = Interval.zero
        let interval = self.configuration.certificateCheck
        while true {
            do {
                try await Task.sleep(for: .milliseconds(interval.milliseconds))
            } catch {
                return
            }
            sinceUse = sinceUse + interval
            if sinceUse >= Self.ticketKeysMax {
                sinceUse = .zero
                self.watch.useAll()
                self.warn()
            } else {
                self.watch.look()
            }
        }
    }

    /// Reads everything again now, changed or not.
    ///
    /// - Parameter fresh: The configuration as it is now, nil if it cannot be read. What it says of teams with their keys,
    ///   and of client certificates, is taken; the rest takes a restart.
    func reload(_ fresh: GatewayConfiguration?) {
        defer { self.warn() }
        guard let fresh else { return self.watch.useAll() }
        guard fresh.apps.map(\.owner) == self.configuration.apps.map(\.owner) else {
            self.logger.warning(
                "keys and client certificates stay those that the configuration named, since the apps are others; restart to apply"
            )
            return self.watch.useAll()
        }
        // First, so that a file which nobody names any more is not asked for.
        self.keyed.set(self.keyed.value.withTeams(of: fresh))
        self.watch.useAll()
        self.replaceClientCertificates(fresh)
    }

    private func replaceClientCertificates(_ fresh: GatewayConfiguration) {
        // Names and rules are new; the apps, and the file of revoked ones, are those that are served.
        let merged = self.configuration.withClientCertificates(of: fresh)
        do {
            let table = try ClientCertificateTable(merged)
            self.senders.certificates.replace { _ in table }
            self.logger.notice("client certificates read again")
        } catch {
            self.logger.error("client certificates stay as they were", metadata: ["error": "\(error)"])
        }
    }

    /// Says which certificates end soon, and whether a revocation list is older than it should be.
    private func warn() {
        for view in self.certificates.ending(now: self.clock.now()) {
            self.logger.warning(
                "a certificate ends soon, or has ended",
                metadata: [
                    "listener": "\(view.listener)", "notAfter": "\(ServerCertificates.text(view.certificate.notAfter))",
                ]
            )
        }
        if let due = self.senders.certificates.revocations.nextUpdate, due <= self.clock.now() {
            self.logger.warning(
                "a revocation list should have been renewed; it stays in force as it is",
                metadata: ["nextUpdate": "\(ServerCertificates.text(due))"]
            )
        }
    }
}

/// A value that several threads read and one replaces.
private final class Shared<Value: Sendable>: Sendable {
    private let held: Mutex<Value>

    init(_ value: Value) {
        self.held = Mutex(value)
    }

    var value: Value { self.held.withLock { $0 } }

    func set(_ value: Value) { self.held.withLock { $0 = value } }
}

extension GatewayConfiguration.App {
    /// What has to be as it was for keys and certificates to mean the same.
    fileprivate var owner: String { "\(self.bundleID) \(self.team)" }
}

extension GatewayConfiguration {
    /// This configuration with another one's teams and keys.
    fileprivate func withTeams(of other: GatewayConfiguration) -> GatewayConfiguration {
        var merged = self
        merged.teams = other.teams
        return merged
    }

    /// This configuration with what another one says of client certificates, app by app; its own file of revoked ones.
    fileprivate func withClientCertificates(of other: GatewayConfiguration) -> GatewayConfiguration {
        var merged = self
        merged.clientCertificates.unnamed = other.clientCertificates.unnamed
        for index in merged.apps.indices {
            let theirs = other.apps.first { $0.bundleID == merged.apps[index].bundleID }
            merged.apps[index].clientCertificates = theirs?.clientCertificates ?? []
        }
        return merged
    }
}
