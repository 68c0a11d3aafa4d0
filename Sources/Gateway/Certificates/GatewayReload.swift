import FoundationEssentials
import Logging
import TLS
import WidgetModel

/// What a running gateway reads again: the listeners' certificates, the revocation list and, when it is asked to, what the
/// configuration says of client certificates.
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
            subjects.append(
                FileWatch.Subject(name: "clientCertificates.revocationList", paths: [file]) {
                    let list = try RevocationList(.file(file))
                    senders.certificates.replace { $0.revoking(list) }
                    return ["revoked": "\(list.count)"]
                }
            )
        }
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
    /// - Parameter fresh: The configuration as it is now, nil if it cannot be read. What it says of client certificates is
    ///   taken; the rest takes a restart.
    func reload(_ fresh: GatewayConfiguration?) {
        self.watch.useAll()
        self.warn()
        guard let fresh else { return }
        let isSame = fresh.withClientCertificates(of: self.configuration) == self.configuration
        if !isSame {
            self.logger.warning("the configuration has changes that take a restart; they are not in force")
        }
        guard fresh.apps.map(\.bundleID) == self.configuration.apps.map(\.bundleID) else {
            self.logger.warning("client certificates stay as they were, since the apps are others; restart to apply")
            return
        }
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

    /// Says which certificates end soon.
    private func warn() {
        for view in self.certificates.ending(now: self.clock.now()) {
            self.logger.warning(
                "a certificate ends soon, or has ended",
                metadata: [
                    "listener": "\(view.listener)", "notAfter": "\(ServerCertificates.text(view.certificate.notAfter))",
                ]
            )
        }
    }
}

extension GatewayConfiguration {
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
