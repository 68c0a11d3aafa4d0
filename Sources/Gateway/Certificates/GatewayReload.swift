import Delivery
import FoundationEssentials
import Ingest
import Logging
import OperatorAPI
import Ownership
import Partitions
import Serving
import Settings
import TLS
import WidgetModel

/// The files that a running gateway reads again: the listeners' certificates, the provider keys, the revocation list, keys and secrets of
/// deliveries, tokens of timeline providers and, when it is asked to, the configuration of apps, teams, client certificates and operators.
final class GatewayReload: Sendable {
    /// The keys that seal session tickets live so long at most: a new context is made with new ones. TLS 1.2 has no forward
    /// secrecy for the sessions that a ticket resumes, against a thief of the key.
    static let ticketKeysMax = Interval.hours(12)

    private let certificates: ServerCertificates
    private let senders: SenderDirectory
    private let clock: LogClock
    private let logger: Logger
    private let watch: FileWatch
    /// The configuration that the tables in force are of, and the numbers of its apps.
    private let keyed: Shared<(configuration: GatewayConfiguration, numbers: AppNumbers)>
    private let tables: Tables

    /// The tables that are replaced, beside the senders'.
    struct Tables: Sendable {
        let apps: LiveApps
        let directory: HostDirectory
        let deliveries: LiveDeliveryPlans
        let providers: ProviderConnections
        let access: OperatorAccess
        let gate: OperatorGate
        let retry: Retry
    }

    /// Functions that try again at once where the fault may be mended now.
    struct Retry: Sendable {
        /// Deliveries to upstreams and webhooks that are another place now, or are shown other credentials.
        let deliveries: @Sendable (Set<Destination>) -> Void
        /// Requests to the providers of these kinds.
        let providers: @Sendable (Set<KindKey>) -> Void
        /// Everything that failed last.
        let failing: @Sendable () -> Void
    }

    /// - Parameters:
    ///   - configuration: The configuration that the gateway was started with.
    ///   - plans: Its listeners' certificates, as read at the start.
    ///   - tables: The tables that are replaced.
    ///   - use: Serves a listener's next connections under another context.
    init(
        configuration: GatewayConfiguration,
        plans: ListenerPlans,
        certificates: ServerCertificates,
        senders: SenderDirectory,
        tables: Tables,
        clock: LogClock,
        logger: Logger,
        use: @escaping @Sendable (_ listener: String, TLSContext) -> Void
    ) {
        self.certificates = certificates
        self.senders = senders
        self.tables = tables
        self.clock = clock
        self.logger = logger
        let keyed = Shared((configuration: configuration, numbers: AppNumbers(configuration)))
        self.keyed = keyed
        var subjects = plans.certificates.map { plan in
            let files: @Sendable () -> [String] = {
                let configuration = keyed.value.configuration
                guard let listener = configuration.listeners[plan.listener] else { return [] }
                let files = configuration.tls(for: listener)
                return [files.certificate, files.key] + [files.clientAuthorities].compactMap { $0 }
            }
            return FileWatch.Subject(name: "certificate of listeners.\(plan.listener)", paths: files) {
                let configuration = keyed.value.configuration
                guard let listener = configuration.listeners[plan.listener] else { return [:] }
                let context = try certificates.replace(plan.listener, now: clock.now()) {
                    try TLSContext.server(configuration, listener)
                }
                use(plan.listener, context)
                guard let end = context.certificate?.notAfter else { return [:] }
                return ["notAfter": "\(ServerCertificates.text(end))"]
            }
        }
        // With whom it has to be signed by: a list is good or not as they change.
        let revocationFiles: @Sendable () -> [String] = {
            let configuration = keyed.value.configuration
            return configuration.clientCertificates.revocationList.map { [$0] + configuration.clientAuthorities } ?? []
        }
        subjects.append(
            FileWatch.Subject(name: "clientCertificates.revocationList", paths: revocationFiles) {
                let list = try senders.certificates.revoke { try RevocationList(keyed.value.configuration) }
                return ["revoked": "\(list.count)"]
            }
        )
        let keyFiles: @Sendable () -> [String] = {
            keyed.value.configuration.teams.flatMap { $0.keys.compactMap(\.file) }
        }
        subjects.append(
            FileWatch.Subject(name: "keys of teams", paths: keyFiles) {
                try senders.replaceKeys(keyed.value.configuration, keyed.value.numbers)
                return ["keys": "\(senders.keys.count)"]
            }
        )
        subjects.append(
            FileWatch.Subject(
                name: "keys, certificates and secrets of deliveries",
                paths: { keyed.value.configuration.deliveryFiles }
            ) {
                tables.retry.deliveries(try tables.deliveries.replace(keyed.value.configuration))
                return [:]
            }
        )
        subjects.append(
            FileWatch.Subject(name: "tokens of timeline providers", paths: { tables.providers.tokenFiles }) {
                tables.retry.providers(try tables.providers.readTokens())
                return [:]
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
        while true {
            let interval = self.keyed.value.configuration.certificateCheck
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
    /// - Parameter merged: The configuration that is in force from now on. The engines have its settings already.
    func reload(_ merged: GatewayConfiguration) {
        // Something may have been mended, here or elsewhere.
        defer {
            self.warn()
            self.tables.retry.failing()
        }
        var numbers = self.keyed.value.numbers
        numbers.add(merged.apps.map(\.bundleID))
        // First, so that a file which is no longer named is not asked for.
        self.keyed.set((merged, numbers))
        // Apps come before the keys that may push to them, so that no sender is told of one that is not there.
        self.tables.directory.serve(numbers.apps)
        self.tables.apps.applyConfiguration(merged, numbers)
        do throws(OperatorTokenFile.FileError) {
            try self.tables.access.applySettings(merged.operators)
        } catch {
            self.logger.error(
                "operators' credentials cannot be read again; the previous ones stay in force",
                metadata: ["error": "\(error)"]
            )
        }
        self.tables.gate.replace(names: merged.operators.names)
        self.watch.useAll()
        self.replaceClientCertificates(merged, numbers)
    }

    private func replaceClientCertificates(_ merged: GatewayConfiguration, _ numbers: AppNumbers) {
        do {
            let table = try ClientCertificateTable(merged, numbers)
            self.senders.certificates.replace { _ in table }
        } catch {
            self.logger.error(
                "client certificate settings cannot be read again; the previous ones stay in force",
                metadata: ["error": "\(error)"]
            )
        }
    }

    /// Says which certificates end soon, and whether a revocation list is older than it should be.
    private func warn() {
        for view in self.certificates.ending(now: self.clock.now()) {
            let metadata: Logger.Metadata = [
                "listener": "\(view.listener)", "notAfter": "\(ServerCertificates.text(view.certificate.notAfter))",
            ]
            if view.hasEnded(now: self.clock.now()) {
                self.logger.critical(
                    "a certificate has expired, and peers refuse it: replace it with a newer one",
                    metadata: metadata
                )
            } else {
                self.logger.warning("a certificate expires soon: replace it with a newer one", metadata: metadata)
            }
        }
        if let due = self.senders.certificates.revocations.nextUpdate, due <= self.clock.now() {
            self.logger.warning(
                "a revocation list is out of date, but stays in force: replace it with a newer one",
                metadata: ["nextUpdate": "\(ServerCertificates.text(due))"]
            )
        }
    }
}
