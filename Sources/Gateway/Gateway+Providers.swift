import Delivery
import Engine
import HTTPTransport
import Logging
import NIOPosix
import OperatorAPI
import Partitions
import Serving
import Settings
import WidgetModel

/// The parts that send by HTTP, and those that take in its answers.
extension Gateway {
    /// The parts that bring reloads to upstreams and webhooks, and those that ask timeline providers.
    struct Delivering {
        let outgoing: Outgoing
        let providers: TimelineProviders
    }

    /// Has the owners' effects handed on, and then takes up the outstanding reloads. So it finds all that were issued before.
    func startDelivering(_ files: Files) async throws -> Delivering {
        let providers = try await self.makeProviders(files)
        self.followSettings(providers, files.connections)
        self.readiness.progress = nil
        self.readiness.set(.replay, met: true)
        let outgoing = self.makeOutgoing(files.deliveries)
        try await self.startFeeds(providers, outgoing.deliverer)
        let delivering = Delivering(outgoing: outgoing, providers: providers)
        await self.placed?.useProviders(providers) { [weak self] in await self?.takeUp($0, delivering) }
        await outgoing.deliverer.catchUp()
        self.settings.follow(\.deliveries) { outgoing.applySettings($0) }
        self.settings.follow(\.limits.outputCommitBytesMax) { [owners = self.owners] bytes in
            for owner in owners { owner.setOutputBytesPerCommit(bytes) }
        }
        await outgoing.receipts.begin()
        return delivering
    }

    private func makeOutgoing(_ plans: LiveDeliveryPlans) -> Outgoing {
        let client = HTTPClient(self.configuration.deliveries.client, on: self.loops.connections)
        let deliverer = ReloadDeliverer(
            plans: plans,
            settings: self.configuration.deliveries,
            client: client,
            log: self.log,
            delivers: self.delivers,
            clock: { [clock = self.clock] in clock.now() },
            telemetry: self.telemetry(.deliveries)
        )
        return Outgoing(
            plans: plans,
            deliverer: deliverer,
            receipts: self.makeReceipts(plans, client),
            client: client,
            delivers: self.delivers,
            timeout: self.configuration.deliveries.request
        )
    }

    private func telemetry(_ subsystem: LogSubsystem) -> DeliveryTelemetry {
        DeliveryTelemetry(
            logger: self.logs.logger(subsystem),
            tracing: self.tracing,
            instruments: self.instruments
        )
    }

    /// Reads the timelines that were kept, and makes a fetcher for each kind that has a provider.
    private func makeProviders(_ files: Files) async throws -> TimelineProviders {
        let contents = ContentStore(
            archive: self.stores.timelines,
            bytesMax: self.configuration.timelines.contentBytesMax,
            logger: self.logs.logger(.providers)
        )
        let now = self.clock.now()
        try await NIOThreadPool.singleton.runIfActive { try contents.load(at: now) }
        let gallery = Gallery(
            age: self.configuration.timelines.galleryAge,
            clock: self.clock,
            states: self.states
        )
        let announce = try self.makeAnnouncing(files.apps, gallery)
        let services = TimelineFetcher.Services(
            log: self.log,
            contents: contents,
            clock: self.clock,
            gallery: gallery,
            timelineLimits: self.configuration.limits.engine.timelines,
            asks: self.delivers,
            telemetry: self.telemetry(.providers),
            announce: announce
        )
        return TimelineProviders(
            fetchers: files.connections.all.map { TimelineFetcher($0, services: services) },
            services: services
        )
    }

    /// Lets the timeline providers follow their settings: the connections, and how much of their timelines is kept.
    private func followSettings(_ providers: TimelineProviders, _ connections: ProviderConnections) {
        let logger = self.logs.logger(.providers)
        self.settings.follow(\.timelines.contentBytesMax) { providers.setLimit(contentBytesMax: $0) }
        self.settings.follow(\.timelines.galleryAge) { providers.gallery.setLimit(age: $0) }
        self.settings.follow(\.limits.engine.timelines) { providers.replace(timelineLimits: $0) }
        self.settings.followReadings { configuration in
            do {
                let changed = try connections.applyConfiguration(configuration)
                providers.replaceConnections(connections.all, changed: changed)
            } catch {
                // The files were good a moment ago, when the configuration was checked.
                logger.error(
                    "timeline providers cannot be changed; the previous ones stay in force: reload the configuration again",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }
}
