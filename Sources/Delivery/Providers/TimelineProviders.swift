package import Engine
import Ownership
package import Partitions
package import Serving
import Synchronization
import TimelineProviding
package import Timelines
package import WidgetModel

/// The timeline providers of all kinds that have one, and the entries that they bring, on time.
package final class TimelineProviders: TimelineSource, ProviderStatus {
    /// The longest sleep of ``run()``: an entry that is stored meanwhile may be due before the others.
    private static let lookInterval = Interval.milliseconds(500)

    /// By kind.
    private let fetchers: Mutex<[KindKey: TimelineFetcher]>
    let services: TimelineFetcher.Services

    package init(fetchers: [TimelineFetcher], services: TimelineFetcher.Services) {
        self.fetchers = Mutex(Dictionary(uniqueKeysWithValues: fetchers.map { ($0.key, $0) }))
        self.services = services
    }

    package var gallery: Gallery { self.services.gallery }

    var all: [KindKey: TimelineFetcher] { self.fetchers.withLock { $0 } }

    /// Asks the providers of other connections from now on.
    ///
    /// Kinds whose connection has not changed go on. The fetchers of the others give up their requests, and the new
    /// fetchers ask anew, also about the outstanding reloads of a kind that had no provider until now. Reloads of a
    /// kind that has no provider any more are for its hosts again, which find them when they connect.
    ///
    /// - Parameter changed: The kinds whose connection is another one.
    package func replaceConnections(_ connections: [ProviderConnections.Item], changed: Set<KindKey>) {
        let before = self.all
        var after: [KindKey: TimelineFetcher] = [:]
        var fresh: [TimelineFetcher] = []
        for item in connections {
            if let kept = before[item.key], !changed.contains(item.key) {
                after[item.key] = kept
            } else {
                let fetcher = TimelineFetcher(item, services: self.services)
                after[item.key] = fetcher
                fresh.append(fetcher)
            }
        }
        self.fetchers.withLock { $0 = after }
        let gone = before.filter { after[$0.key] !== $0.value }.values
        let (closing, asking) = (Array(gone), fresh)
        Task {
            for fetcher in closing { await fetcher.close() }
            for fetcher in asking { await fetcher.refill() }
        }
    }

    /// Asks some kinds' providers at once about the reloads that wait after failures.
    ///
    /// - Parameter keys: nil for all those that have failed last.
    package func tryNow(_ keys: Set<KindKey>?) async {
        for (key, fetcher) in self.all {
            let isWanted = if let keys { keys.contains(key) } else { await fetcher.view.target.health.isFailing }
            if isWanted { await fetcher.tryNow() }
        }
    }

    /// Keeps so much content from now on.
    package func setLimit(contentBytesMax: Int) { self.services.contents.setLimit(bytesMax: contentBytesMax) }

    /// Takes timelines within these limits from now on.
    package func replace(timelineLimits: TimelineLimits) { self.services.timelineLimits.set(timelineLimits) }

    /// The time by which entries are shown: the log's.
    package var now: Instant { self.services.clock.now() }

    package subscript(key: KindKey) -> TimelineFetcher? { self.fetchers.withLock { $0[key] } }

    /// Whether the gateway fetches the timeline that a reload is for: the host is not told of the reload, but of the
    /// entries. A host that is reached otherwise makes its timelines itself.
    package func fetches(_ reload: ReloadEffect) -> Bool {
        reload.delivery == .stream && self[KindKey(app: reload.app, kind: reload.kind)] != nil
    }

    /// Asks providers for the timelines of the reloads among these that are for them.
    package func fetch(_ effects: [Effect]) {
        let fetchers = self.all
        guard !fetchers.isEmpty else { return }
        var own: [KindKey: [ReloadID]] = [:]
        for case .reload(let reload) in effects where reload.delivery == .stream {
            let key = KindKey(app: reload.app, kind: reload.kind)
            if fetchers[key] != nil { own[key, default: []].append(reload.id) }
        }
        for (key, reloads) in own {
            guard let fetcher = fetchers[key] else { continue }
            Task { await fetcher.fetch(reloads) }
        }
    }

    /// Asks about the reloads that were out when the gateway stopped, and shows entries on their dates until the task
    /// is cancelled.
    package func run() async {
        await self.removeGone(self.services.contents.addresses)
        await self.refill()
        for partition in self.services.log.partitionIDs { await self.restore(partition) }
        while !Task.isCancelled {
            let now = self.services.clock.now()
            await self.showDue(at: now)
            let wait = self.services.contents.nextDue.map { min($0 - now, Self.lookInterval) } ?? Self.lookInterval
            do { try await Task.sleep(for: .milliseconds(max(1, wait.milliseconds))) } catch { break }
        }
    }

    /// Asks about the outstanding reloads: at the start, and when a partition has come to this gateway.
    package func refill() async {
        for fetcher in self.all.values { await fetcher.refill() }
    }

    /// Asks for the content of accepted timelines that is not here, as it is after a partition has come from another node.
    package func restore(_ partition: PartitionID) async {
        for fetcher in self.all.values { await fetcher.restore(partition) }
    }

    private func showDue(at now: Instant) async {
        // Those of another node's partitions are shown there.
        let due = self.services.contents.due(upTo: now).filter { due in
            self.services.log.isPresent(self.services.log.partition(of: due.timeline.address.host))
        }
        if !due.isEmpty { self.services.announce(await self.current(due).map { .drawing(.entry($0)) }) }
    }

    /// Waits until every provider has answered all questions that are due by now, and shows the entries whose dates have come: for a clock
    /// that stands still meanwhile.
    ///
    /// - Returns: When there is something to ask or to show next, if nothing happens before; nil for never.
    package func settle() async -> Instant? {
        var next: [Instant] = []
        for fetcher in self.all.values { if let instant = await fetcher.settle() { next.append(instant) } }
        let now = self.services.clock.now()
        await self.showDue(at: now)
        if let due = self.services.contents.nextDue { next.append(due) }
        // Work that is due already has just been done, or cannot be.
        return next.min().map { max($0, now + .milliseconds(1)) }
    }

    package func close() async {
        for fetcher in self.all.values { await fetcher.close() }
        self.services.contents.close()
    }

    /// Without those whose instance is gone or was configured anew; those are forgotten.
    private func current(_ due: [ContentTable.Due]) async -> [ContentTable.Due] {
        let gone = Set(await self.gone(due.map(\.timeline)))
        self.services.contents.remove(Array(gone))
        return due.filter { !gone.contains($0.timeline.address) }
    }

    private func removeGone(_ addresses: [InstanceAddress]) async {
        let gone = await self.gone(self.services.contents.timelines(of: addresses))
        self.services.contents.remove(gone)
    }

    /// The instances that do not show these timelines any more, as the engine has it.
    func gone(_ timelines: [StoredTimeline]) async -> [InstanceAddress] {
        var gone: [InstanceAddress] = []
        let byPartition = Dictionary(grouping: timelines) { self.services.log.partition(of: $0.address.host) }
        for (partition, ours) in byPartition {
            let question = ReloadQuestion<ShownDigest>(ours.map(\.reload))
            // A partition that does not answer says nothing of its instances.
            guard let shown = try? await self.services.log.ask(partition, question) else { continue }
            for (timeline, shown) in zip(ours, shown) where shown?.bytes != timeline.digest {
                gone.append(timeline.address)
            }
        }
        return gone
    }
}

// MARK: - Questions

extension TimelineProviders {
    package func hasProvider(of key: KindKey) -> Bool { self[key] != nil }

    package func view(of key: KindKey) async -> ProviderView? { await self[key]?.view }

    package func answer(_ question: GalleryQuestion, _ pushed: PushedKinds) async -> JSONValue? {
        guard let fetcher = self[question.key] else { return nil }
        return await self.gallery.answer(question, fetcher.connection, pushed)
    }

    package func invalidate(_ request: InvalidationRequest) {
        self.gallery.invalidate(request)
        self.services.announce([.invalidated(request)])
    }
}
