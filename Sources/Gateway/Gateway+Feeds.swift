import Clustering
import Delivery
import Engine
import Journaling
import Logging
import OperatorAPI
import Ownership
import Partitions
import Serving
import Settings
import WidgetModel

/// The feeds of committed effects, on whichever node they are decided.
extension Gateway {
    /// Has committed effects handed on, on whichever node they are decided.
    func startFeeds(_ providers: TimelineProviders, _ deliverer: ReloadDeliverer) async throws {
        let (streams, operators, logger) = (self.streams, self.feed, self.logs.logger(.partitions))
        let feeds = EffectFeeds(
            partitions: self.log.partitions,
            self.stores.outputs,
            EffectFeeds.Sinks(
                begin: { partition, position in
                    guard streams.begin(partition, at: position) else { return }
                    logger.warning(
                        "decisions of another node were removed before this node read them: the partition's event streams begin anew",
                        metadata: ["partition": "\(partition)", "position": "\(position)"]
                    )
                },
                publish: { [log = self.log, followers = self.followers, receiptWakes = self.receiptWakes] in
                    streams.publish($1, of: $0, unless: providers.fetches)
                    operators.publish($1.effects)
                    // An owner here has woken them.
                    guard !log.isPresent($0) else { return }
                    followers.wake(.applied)
                    receiptWakes.wake(.applied)
                },
                read: { [owners = self.owners] in owners[Int($0.rawValue)].noteOutput($1) }
            )
        )
        // First, so that hosts that come from another node resume among the effects that were committed just before.
        feeds.follow()
        if self.stores.outputs != nil { try await self.unlessToldToEnd { try await feeds.settle() } }
        for owner in self.owners {
            let partition = owner.partition
            try await owner.serve { news in
                if case .committed(let output) = news {
                    providers.fetch(output.effects)
                    deliverer.publish(output.effects)
                }
                feeds.takeNews(news, of: partition)
                switch news {
                case .begins: streams.setDrawing(true, partition)
                case .committed: break
                case .ends: streams.setDrawing(false, partition)
                }
            }
        }
    }

    /// A function that shows placeholders and entries to the hosts that are to draw them, whichever node has their streams, and tells the
    /// other nodes of answers that are out of date. What other nodes announce takes effect from now on.
    func makeAnnouncing(_ apps: LiveApps, _ gallery: Gallery) throws -> @Sendable ([Announcement]) -> Void {
        let streams = self.streams
        let draw: @Sendable ([Announcement]) -> Void = { announcements in
            let drawings = announcements.compactMap { if case .drawing(let drawing) = $0 { drawing } else { nil } }
            if !drawings.isEmpty { streams.draw(drawings) }
        }
        guard let cluster = self.stores.membership?.cluster else { return draw }
        try cluster.watch { bytes in
            // A newer program's announcement may not be readable here.
            switch try? Announcement(bytes) {
            case .drawing(let drawing): streams.draw([drawing])
            case .pushed(let pushed):
                let served = apps.apps
                for noted in pushed { served[noted.app]?.pushedKinds.noteElsewhere(noted.kinds) }
            case .invalidated(let request): gallery.invalidate(request)
            case nil: break
            }
        }
        return { announcements in
            draw(announcements)
            for bytes in announcements.compactMap(\.bytes) { cluster.announce(bytes) }
        }
    }

    /// Tells the other nodes at every beat which kinds pushes were accepted for, until the task is cancelled.
    func announcePushedKinds(_ apps: LiveApps) async {
        guard let membership = self.stores.membership else { return }
        while (try? await Task.sleep(for: .milliseconds(membership.limits.beat.milliseconds))) != nil {
            for bytes in apps.apps.takeUntold().compactMap(\.bytes) { membership.cluster.announce(bytes) }
        }
    }

    /// Follows the other nodes until the task is cancelled: wakes the followers of applied entries when another node has applied some, and
    /// counts those that share the senders' rates.
    func watchElsewhere() async {
        guard let membership = self.stores.membership else { return }
        var applied: [LogPosition] = []
        while true {
            do {
                try await Task.sleep(for: .milliseconds(membership.limits.beat.milliseconds))
            } catch {
                return
            }
            let view = membership.cluster.view
            self.senderLimits.nodes.set(view?.livingMembers ?? 1)
            let now = view?.partitions.map(\.applied) ?? []
            guard now != applied else { continue }
            applied = now
            self.followers.wake(.applied)
            self.receiptWakes.wake(.applied)
        }
    }

    /// Asks other nodes once a second what apps have in their partitions, for the limits of apps and teams, until the task is cancelled.
    func watchUsagesElsewhere() async {
        guard self.placed != nil else { return }
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            guard self.registry.hasLimits else { continue }
            let away = self.log.partitionIDs.filter { !self.log.isPresent($0) }
            for (partition, result) in await self.log.results(of: away, UsagesQuestion()) {
                if case .success(let usages) = result { self.registry.publish(usages, elsewhere: partition) }
            }
        }
    }

    /// Ends event streams whose token another node has taken from its host, at every heartbeat, until the task is cancelled. An owner
    /// here ends them at once.
    func watchTokensElsewhere() async {
        guard self.placed != nil else { return }
        while true {
            do {
                try await Task.sleep(for: .milliseconds(self.settings.inForce.streams.heartbeat.milliseconds))
            } catch {
                return
            }
            let asked = self.streams.tokens.filter { !self.log.isPresent(self.log.partition(of: $0.host)) }
            guard !asked.isEmpty else { continue }
            let lookups = await self.log.lookups(asked.map(\.token), in: self.directory)
            self.streams.revoke(zip(asked, lookups).compactMap { $1.isUnbound(from: $0.host) ? $0 : nil })
        }
    }
}

extension Result<TokenLookup, Problem> {
    /// Whether it is known that a token does not stand for a host.
    fileprivate func isUnbound(from host: HostKey) -> Bool {
        guard case .success(let lookup) = self else { return false }
        if case .bound(let binding) = lookup { return binding.host != host }
        return true
    }
}
