import Engine
import Journaling
import Logging
import Synchronization
import Timelines
import WidgetModel

extension Gateway {
    /// Puts the bounds of a configuration in force, but for those of listeners and engines.
    func useBounds(of configuration: GatewayConfiguration) {
        let limits = configuration.limits
        self.senderLimits.backlog.use(max: limits.inFlightPushesMax)
        self.journal.use(
            appendBytesInFlightMax: limits.inFlightBytesMax,
            outputBytesPerCommit: limits.outputCommitBytesMax
        )
        self.history.use(concurrentMax: limits.historyQuestionsMax)
        self.streams.use(HostStreams.Limits(configuration.streams))
        self.followers.use(max: configuration.streams.followedPushesMax)
        self.feed.use(configuration.feed)
        self.snapshotter.withLock { $0 }?.use(configuration.snapshots)
        self.decisions.withLock { $0 }?.store.use(configuration.decisions)
        self.storage?.use(configuration.storage)
        self.work.use(configuration.fairness)
        self.registry.use(RegistryLimits(configuration), configuration.memoryMax)
        self.heartbeat.set(configuration.streams.heartbeat)
    }

    /// Asks the timeline providers of a configuration from now on, and keeps as much of their timelines as it says.
    func use(
        _ configuration: GatewayConfiguration,
        _ providers: TimelineProviders,
        _ connections: ProviderConnections
    ) {
        providers.use(contentBytesMax: configuration.timelines.contentBytesMax)
        providers.use(timelineLimits: configuration.limits.engine.timelines)
        providers.gallery.use(age: configuration.timelines.galleryAge)
        do {
            let changed = try connections.use(configuration)
            providers.use(connections.all, changed: changed)
        } catch {
            // The files were good a moment ago, when the configuration was checked.
            self.logs.logger(.providers).error(
                "timeline providers stay as they were; read the configuration again",
                metadata: ["error": "\(error)"]
            )
        }
    }

    /// Lets event streams be heard, and looks at the clock and the disk, until the task is cancelled.
    func beat() async {
        while true {
            do {
                try await Task.sleep(for: .milliseconds(self.heartbeat.value.milliseconds))
            } catch {
                return
            }
            self.streams.beat()
            self.followers.wake(.heartbeat)
            self.watchClock()
            self.watched.probe()
        }
    }
}
