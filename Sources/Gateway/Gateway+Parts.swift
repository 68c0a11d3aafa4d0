import Delivery
import HTTPTransport
import Logging
import OperatorAPI
import Partitions
import Serving
import Settings
import TLS

extension Gateway {
    /// The parts that are read from files before the log is touched.
    struct Files {
        let apps: LiveApps
        let senders: SenderDirectory
        let plans: ListenerPlans
        let deliveries: LiveDeliveryPlans
        let connections: ProviderConnections
        /// Nil where pushes are not traced.
        let exporter: SpanExporter?
    }

    /// The parts that a start has made by the time that the listeners open.
    struct Parts {
        let files: Files
        let access: OperatorAccess
        let gate: OperatorGate
        let certificates: ServerCertificates
        let delivering: Delivering
        let watch: GatewayWatch
        /// Nil where no snapshots are made.
        let snapshotter: Snapshotter?
        /// Nil where decisions are in memory only.
        let filer: DecisionFiler?
    }

    /// - Throws: The fault of a file: every such fault is found here.
    func readFiles() throws -> Files {
        let apps = LiveApps(self.configuration, seed: self.seed, work: self.work)
        let senders = try SenderDirectory(self.configuration)
        let plans = try ListenerPlans(self.configuration)
        if let warning = DescriptorLimit.current?.warning(of: self.configuration) {
            self.logger.warning("\(warning)")
        }
        let group = self.loops.connections
        return Files(
            apps: apps,
            senders: senders,
            plans: plans,
            deliveries: LiveDeliveryPlans(try DeliveryPlans(self.configuration)),
            connections: try ProviderConnections(self.configuration, on: group),
            exporter: try self.tracing.map {
                try SpanExporter(self.spans, $0.settings, on: group, logger: self.logger)
            }
        )
    }

    /// - Throws: If the operators' own token is needed, and can be neither read nor made.
    func makeParts(_ files: Files, _ delivering: Delivering, _ watch: GatewayWatch) throws -> Parts {
        let certificates = ServerCertificates(
            files.plans.certificates.compactMap { plan in
                plan.context.certificate.map { (listener: plan.listener, certificate: $0) }
            }
        )
        return Parts(
            files: files,
            access: try OperatorAccess(
                self.configuration.operators,
                ownToken: self.configuration.listeners.ops.isEnabled ? self.operatorToken : nil,
                revocations: files.senders.certificates,
                credentials: self.verifiedCredentials(files, by: self.clock)
            ),
            gate: OperatorGate(
                address: self.configuration.listeners.ops.address,
                names: self.configuration.operators.names,
                certificates: certificates
            ),
            certificates: certificates,
            delivering: delivering,
            watch: watch,
            snapshotter: self.makeSnapshotter(),
            filer: self.makeDecisionFiler()
        )
    }

    /// Remembers the credentials that the routes of hosts, or those of operators, have verified.
    func verifiedCredentials(_ files: Files, by clock: LogClock) -> VerifiedCredentials {
        VerifiedCredentials(
            senders: files.senders,
            clock: clock,
            capacity: { files.apps.bounds.intake.verifiedTokensMax },
            seed: self.seed
        )
    }

    /// The part that reads files again while the gateway runs.
    func makeReload(_ parts: Parts) -> GatewayReload {
        let files = parts.files
        let (outgoing, providers) = (parts.delivering.outgoing, parts.delivering.providers)
        return GatewayReload(
            configuration: self.configuration,
            plans: files.plans,
            certificates: parts.certificates,
            senders: files.senders,
            tables: .init(
                apps: files.apps,
                directory: self.directory,
                deliveries: files.deliveries,
                providers: files.connections,
                access: parts.access,
                gate: parts.gate,
                retry: .init(
                    deliveries: { outgoing.usePlans(changed: $0) },
                    providers: { kinds in Task { await providers.tryNow(kinds) } },
                    failing: {
                        Task {
                            await outgoing.tryFailing()
                            await providers.tryNow(nil)
                        }
                    }
                )
            ),
            clock: self.clock,
            logger: self.logs.logger(.certificates),
            use: { [listeners = self.listeners] in listeners[$0]?.replaceContext($1) }
        )
    }
}
