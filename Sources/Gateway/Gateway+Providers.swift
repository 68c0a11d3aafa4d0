import Delivery
import Engine
import Logging
import NIOPosix
import Partitions
import Serving
import Settings
import Synchronization
import Timelines
import WidgetModel

/// What asks timeline providers.
extension Gateway {
    /// Reads the timelines that were kept, and makes a fetcher for each kind that has a provider.
    func startProviders(_ log: CommandLog, _ connections: ProviderConnections) async throws -> TimelineProviders {
        let contents = ContentStore(
            archive: self.archive,
            bytesMax: self.configuration.timelines.contentBytesMax,
            logger: self.logs.logger(.providers)
        )
        let now = self.clock.now()
        try await NIOThreadPool.singleton.runIfActive { try contents.load(at: now) }
        let streams = self.streams
        let services = TimelineFetcher.Services(
            log: log,
            contents: contents,
            states: self.states,
            clock: self.clock,
            logger: self.logs.logger(.providers),
            gallery: Gallery(age: self.configuration.timelines.galleryAge, clock: self.clock, states: self.states),
            timelineLimits: self.configuration.limits.engine.timelines,
            tracing: self.tracing,
            fetch: self.instruments.fetch,
            asks: self.delivers,
            publish: { streams.publish($0) }
        )
        let providers = TimelineProviders(
            fetchers: connections.all.map { TimelineFetcher($0, services: services) },
            services: services
        )
        self.providers.withLock { $0 = providers }
        return providers
    }

    /// Lets what asks timeline providers follow its settings: whom it asks, and how much of their timelines is kept.
    func followSettings(_ providers: TimelineProviders, _ connections: ProviderConnections) {
        let logger = self.logs.logger(.providers)
        self.settings.follow(\.timelines) { timelines in
            providers.use(contentBytesMax: timelines.contentBytesMax)
            providers.gallery.use(age: timelines.galleryAge)
        }
        self.settings.follow(\.limits.engine.timelines) { providers.use(timelineLimits: $0) }
        self.settings.followReadings { configuration in
            do {
                let changed = try connections.use(configuration)
                providers.use(connections.all, changed: changed)
            } catch {
                // The files were good a moment ago, when the configuration was checked.
                logger.error(
                    "timeline providers stay as they were; read the configuration again",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }
}
