import IntentMatching
import Timelines
import WidgetModel

/// Whom a push to an app is decided for.
extension Engine {
    /// Decides a push for every instance of an app that it matches, in the order of their numbers and in batches.
    ///
    /// An instance's number is a part of the engine's state; nothing else decides who comes first.
    mutating func accept(_ push: IncomingPush, app: UInt32, _ audience: PushAudience) {
        self.index.finishLoading()
        // Shared, not copied: deciding changes no instance's place in it.
        let index = self.index
        var hostDriven: [UInt32] = []
        let postponedMin = self.postponedBatchMin(push, app: app)
        index.matches(
            app: self.apps.apps[Int(app)].id,
            kind: audience.kind.map { self.apps.kinds[Int($0)].name },
            pattern: audience.pattern,
            hosts: HostNames(self.hosts, of: self.apps.apps[Int(app)].id),
            attributes: audience.attributes,
            batchLimit: 4096
        ) { batch in
            if batch.count >= postponedMin {
                return self.accept(push, postponing: batch, &hostDriven)
            }
            for first in stride(from: 0, to: batch.count, by: Self.approachedMatches) {
                let range = first..<min(batch.count, first + Self.approachedMatches)
                self.approach(batch, range, ofDigest: push.digest != nil)
                for place in range { self.accept(push, matched: batch[place], &hostDriven) }
            }
        }
        if !hostDriven.isEmpty { self.accept(push, hostDriven: hostDriven) }
    }

    /// Decides a push for one instance that it matches; those whose hosts are reached through tokens are decided together.
    @inline(__always)
    mutating func accept(_ push: IncomingPush, matched instance: UInt32, _ hostDriven: inout [UInt32]) {
        if self.instances[instance].isHostDriven { return hostDriven.append(instance) }
        self.settle(instance)
        self.accept(push, for: instance)
    }

    /// Decides a push for instances of hosts that are reached through tokens, host by host.
    private mutating func accept(_ push: IncomingPush, hostDriven: [UInt32]) {
        let sorted = hostDriven.sorted { left, right in
            let hosts = (self.instances[left].host, self.instances[right].host)
            guard hosts.0 == hosts.1 else { return hosts.0 < hosts.1 }
            return self.instances.id(of: left) < self.instances.id(of: right)
        }
        var first = sorted.startIndex
        while first < sorted.endIndex {
            let host = self.instances[sorted[first]].host
            let end = sorted[first...].firstIndex { self.instances[$0].host != host } ?? sorted.endIndex
            for together in self.byToken(Array(sorted[first..<end])) { self.accept(push, throughToken: together) }
            first = end
        }
    }

    /// How many instances a push matches.
    ///
    /// To an app: what the index takes to find them, and nothing for each that it finds. To a host: O(its instances).
    func count(matching audience: PushAudience, _ head: PushHead, _ bytes: [UInt8]) -> Int {
        switch audience.reach {
        case .nobody: return 0
        case .host(let host):
            var count = 0
            for instance in self.instances(of: host) where self.isMatched(instance, head, audience, bytes) { count += 1 }
            return count
        case .app(let app):
            var count = 0
            self.index.matches(
                app: self.apps.apps[Int(app)].id,
                kind: audience.kind.map { self.apps.kinds[Int($0)].name },
                pattern: audience.pattern,
                hosts: HostNames(self.hosts, of: self.apps.apps[Int(app)].id),
                attributes: audience.attributes,
                // No order is asked for, so that none is made.
                order: .asFound,
                batchLimit: 4096
            ) { count += $0.count }
            return count
        }
    }

    /// The push-enabled instances of an app that match, in the order of their numbers; for what is no push their
    /// conditions do not count.
    func matching(
        app: UInt32,
        kind: UInt32?,
        _ pattern: MatchPattern?,
        attributes: Configuration? = nil
    ) -> [UInt32] {
        var found: [UInt32] = []
        self.index.matches(
            app: self.apps.apps[Int(app)].id,
            kind: kind.map { self.apps.kinds[Int($0)].name },
            pattern: pattern,
            hosts: HostNames(self.hosts, of: self.apps.apps[Int(app)].id),
            attributes: attributes,
            batchLimit: 4096
        ) { batch in
            for index in batch.indices { found.append(batch[index]) }
        }
        return found
    }
}
