import Clustering
import Delivery
import HTTPTransport
import HostAPI
import Ingest
import Logging
import NIOCore
import OperatorAPI
import Partitions
import Serving
import Settings

extension Gateway {
    func listen(
        _ health: HTTPServer?,
        _ parts: Parts,
        _ operatorRoutes: OperatorRoutes
    ) async throws -> RunningListeners {
        let plans = parts.files.plans
        let hosts = HostRoutes(
            apps: parts.files.apps,
            authorizer: HostAuthorizer(
                senders: parts.files.senders,
                credentials: self.verifiedCredentials(parts.files, by: self.credentialClock),
                clock: self.credentialClock
            ),
            directory: self.directory,
            log: self.log.admitted(by: self.storage).charged(to: self.work, parts.files.apps, refuses: true),
            updates: HostUpdates(
                streams: self.streams,
                followers: self.followers,
                providers: parts.delivering.providers
            ),
            states: self.states,
            registry: self.registry,
            problems: self.problems
        )
        let services = self.pushServices(parts)
        let http = self.logs.logger(.http)
        var running = RunningListeners()
        do {
            if let plan = plans.push {
                running.push = try await HTTPServer.start(plan, on: self.loops.connections, logger: http) { loop in
                    PushHandler(
                        loop: loop,
                        services: services,
                        others: Self.handler(of: hosts, on: loop),
                        role: self.configuration.listeners.isMerged ? .everything : .pushes
                    )
                }
            }
            if let plan = plans.manage {
                running.manage = try await HTTPServer.start(plan, on: self.loops.connections, logger: http) { loop in
                    PushHandler(
                        loop: loop,
                        services: services,
                        others: Self.handler(of: hosts, on: loop),
                        role: .channelManagement
                    )
                }
            }
            if let plan = plans.host {
                running.host = try await HTTPServer.start(plan, on: self.loops.connections, logger: http) { loop in
                    PushHandler(
                        loop: loop,
                        services: services,
                        others: Self.handler(of: hosts, on: loop),
                        role: .targetedPushes
                    )
                }
            }
            if let plan = plans.ops {
                running.ops = try await HTTPServer.start(plan, on: self.loops.operators, logger: http) { loop in
                    AsyncRequestHandler(
                        eventLoop: loop,
                        refuse: { operatorRoutes.ownProblems.refuse($0, $1) },
                        judge: { operatorRoutes.judge($0) },
                        answerAtOnce: { operatorRoutes.probe($0) },
                        respond: { await operatorRoutes.respond(to: $0) }
                    )
                }
            }
            running.health = health
        } catch {
            await running.drain(within: .zero)
            throw error
        }
        for (name, server) in running.all { self.listeners.add(name, server) }
        return running
    }

    func operatorRoutes(_ parts: Parts) -> OperatorRoutes {
        var doors = OperatorDoors(access: parts.access, gate: parts.gate, audit: self.audit)
        doors.dashboard = DashboardFiles(self.configuration, self.logger)
        let log = self.log.charged(to: self.work, parts.files.apps, refuses: false)
        var store = OperatedStore(log: log, clock: self.clock)
        store.travel = self.process.movableClock.map {
            TimeTravel($0, self.clock, self.log, providers: parts.delivering.providers)
        }
        store.history = self.history
        store.storage = self.storage
        store.snapshots = { parts.snapshotter?.counters }
        store.decisions = parts.filer
        store.cluster = self.stores.membership?.cluster
        if let here = self.forgetHistory(parts) {
            self.placed?.forgetHistory.set(here)
            store.forgetHistory = { [log = self.log] () async throws(Problem) in try await log.forgetHistory(here: here)
            }
        }
        var traffic = OperatedTraffic(
            streams: self.streams,
            followers: self.followers,
            directory: self.directory,
            counters: self.counters,
            senderLimits: self.senderLimits
        )
        traffic.problems = self.problems
        traffic.listeners = self.listeners
        traffic.work = self.work
        traffic.registry = self.registry
        var credentials = OperatedCredentials()
        credentials.certificates = parts.certificates
        credentials.clientCertificates = parts.files.senders.certificates
        credentials.providerKeys = parts.files.senders.keys
        var targets = OperatedTargets()
        targets.states = self.states
        targets.outgoing = parts.delivering.outgoing
        targets.providers = parts.delivering.providers
        var settings = OperatedSettings(apps: parts.files.apps)
        settings.logs = self.logs
        settings.reloading = self.reloading
        settings.telemetry = self.telemetry(parts.files.exporter)
        return OperatorRoutes(
            doors: doors,
            store: store,
            traffic: traffic,
            credentials: credentials,
            targets: targets,
            settings: settings,
            watch: parts.watch,
            readiness: self.readiness
        )
    }

    /// Answers the questions of hosts, and of senders about them, on one loop.
    private static func handler(of hosts: HostRoutes, on loop: any EventLoop) -> AsyncRequestHandler {
        AsyncRequestHandler(
            eventLoop: loop,
            refuse: { hosts.problems.refuse($0, $1) },
            judge: { hosts.judge($0) },
            respond: { await hosts.respond(to: $0) }
        )
    }

    /// The metrics that are written behind the gateway's own.
    private func telemetry(_ exporter: SpanExporter?) -> TelemetrySources {
        guard let tracing = self.tracing, let exporter else {
            return TelemetrySources(metrics: self.process.metrics)
        }
        return TelemetrySources(
            metrics: self.process.metrics,
            traces: .init(tracing: tracing, sampler: self.sampler, queue: self.spans, exporter: exporter)
        )
    }

    private func pushServices(_ parts: Parts) -> PushServices {
        PushServices(
            apps: parts.files.apps,
            senders: parts.files.senders,
            directory: self.directory,
            journal: self.journal,
            log: self.log,
            partitions: self.configuration.partitions,
            clock: self.credentialClock,
            counters: self.counters,
            senderLimits: self.senderLimits,
            channels: ChannelService(
                log: self.log.charged(to: self.work, parts.files.apps, refuses: true),
                journal: self.journal,
                apps: parts.files.apps
            ),
            work: self.work,
            relay: PushRelay(parts.delivering.outgoing),
            tracing: self.tracing,
            seed: self.seed
        )
    }
}
