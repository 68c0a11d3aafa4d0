import APNSWire
import Engine
import HTTPTransport
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Telemetry

extension Gateway {
    func listen(
        _ plans: ListenerPlans,
        on loops: GatewayLoops,
        _ apps: LiveApps,
        _ senders: SenderDirectory,
        _ operators: (access: OperatorAccess, gate: OperatorGate),
        _ certificates: ServerCertificates,
        _ log: CommandLog,
        _ outgoing: Outgoing,
        _ watch: GatewayWatch,
        _ live: LiveConfiguration
    ) async throws -> RunningListeners {
        let hosts = HostRoutes(
            apps: apps,
            authorizer: HostAuthorizer(senders: senders, clock: self.credentialClock),
            directory: self.directory,
            log: log.admitted(by: self.storage).charged(to: self.work, apps, refuses: true),
            streams: self.streams,
            followers: self.followers,
            providers: self.providers.withLock { $0 },
            states: self.states,
            registry: self.registry,
            problems: self.problems
        )
        let operatorRoutes = OperatorRoutes(
            log: log.charged(to: self.work, apps, refuses: false),
            streams: self.streams,
            followers: self.followers,
            directory: self.directory,
            counters: self.counters,
            problems: self.problems,
            senderLimits: self.senderLimits,
            listeners: self.listeners,
            readiness: self.readiness,
            access: operators.access,
            gate: operators.gate,
            certificates: certificates,
            clientCertificates: senders.certificates,
            providerKeys: senders.keys,
            outgoing: outgoing,
            clock: self.clock,
            travel: self.movableClock.map {
                TimeTravel($0, self.clock, log, providers: self.providers.withLock { $0 })
            },
            apps: apps,
            states: self.states,
            providers: self.providers.withLock { $0 },
            watch: watch,
            history: self.history,
            snapshots: { self.snapshotter.withLock { $0?.counters } },
            storage: self.storage,
            work: self.work,
            registry: self.registry,
            forgetHistory: { try await self.snapshotter.withLock { $0 }?.forgetHistory() },
            live: live,
            telemetry: self.telemetry,
            logs: self.logs,
            audit: self.audit,
            dashboard: DashboardFiles(self.configuration, self.logger)
        )
        let services = self.pushServices(apps, senders, log, outgoing)
        let http = self.logs.logger(.http)
        var running = RunningListeners()
        do {
            if let plan = plans.push {
                running.push = try await HTTPServer.start(plan, on: loops.connections, logger: http) { loop in
                    PushHandler(
                        loop: loop,
                        services: services,
                        others: Self.handler(of: hosts, on: loop)
                    )
                }
            }
            if let plan = plans.manage {
                running.manage = try await HTTPServer.start(plan, on: loops.connections, logger: http) { loop in
                    PushHandler(
                        loop: loop,
                        services: services,
                        others: Self.handler(of: hosts, on: loop),
                        role: .channelManagement
                    )
                }
            }
            if let plan = plans.host {
                running.host = try await HTTPServer.start(plan, on: loops.connections, logger: http) { loop in
                    PushHandler(
                        loop: loop,
                        services: services,
                        others: Self.handler(of: hosts, on: loop),
                        role: .targetedPushes
                    )
                }
            }
            if let plan = plans.ops {
                running.ops = try await HTTPServer.start(plan, on: loops.operators, logger: http) { loop in
                    AsyncRequestHandler(
                        eventLoop: loop,
                        refuse: { operatorRoutes.ownProblems.refuse($0, $1) },
                        judge: { operatorRoutes.judge($0) },
                        answerAtOnce: { operatorRoutes.probe($0) },
                        respond: { await operatorRoutes.respond(to: $0) }
                    )
                }
            }
            running.health = self.health.withLock { $0 }
        } catch {
            await running.drain(within: .zero)
            throw error
        }
        for (name, server) in running.all { self.listeners.add(name, server) }
        return running
    }

    /// Answers what hosts, and senders about them, ask on one loop.
    private static func handler(of hosts: HostRoutes, on loop: any EventLoop) -> AsyncRequestHandler {
        AsyncRequestHandler(
            eventLoop: loop,
            refuse: { hosts.problems.refuse($0, $1) },
            judge: { hosts.judge($0) },
            respond: { await hosts.respond(to: $0) }
        )
    }

    /// What is written in metrics behind the gateway's own.
    private var telemetry: TelemetrySources {
        guard let tracing = self.tracing, let exporter = self.exporter.withLock({ $0 }) else {
            return TelemetrySources(metrics: self.metrics)
        }
        return TelemetrySources(
            metrics: self.metrics,
            traces: .init(tracing: tracing, sampler: self.sampler, queue: self.spans, exporter: exporter)
        )
    }

    private func pushServices(
        _ apps: LiveApps,
        _ senders: SenderDirectory,
        _ log: CommandLog,
        _ outgoing: Outgoing
    ) -> PushServices {
        PushServices(
            apps: apps,
            senders: senders,
            directory: self.directory,
            journal: self.journal,
            log: log,
            partitions: self.configuration.partitions,
            clock: self.credentialClock,
            counters: self.counters,
            senderLimits: self.senderLimits,
            channels: ChannelService(
                log: log.charged(to: self.work, apps, refuses: true),
                journal: self.journal,
                apps: apps
            ),
            work: self.work,
            relay: PushRelay(outgoing),
            tracing: self.tracing,
            seed: self.seed
        )
    }
}
