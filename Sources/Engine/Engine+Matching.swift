import IntentMatching
import Timelines
import WidgetModel

/// Whom a push to an app is decided for.
extension Engine {
    /// The instances of an app that a push is for, in the order of their numbers.
    ///
    /// An instance's number is a part of the engine's state; nothing else decides who comes first.
    mutating func matching(_ audience: PushAudience, app: UInt32) -> [UInt32] {
        self.index.finishLoading()
        return self.matching(app: app, kind: audience.kind, audience.pattern, attributes: audience.attributes)
    }

    /// How many instances a push matches.
    ///
    /// To an app: what the index takes to find them, and nothing for each that it finds. To a host: O(its instances).
    func count(matching audience: PushAudience, _ head: PushHead, _ bytes: [UInt8]) -> Int {
        switch audience.reach {
        case .nobody: return 0
        case .host(let host):
            var count = 0
            for instance in self.instances(of: host) where self.isMatched(instance, head, audience, bytes) {
                count += 1
            }
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
            for index in batch.indices { found.append(batch[index].raw) }
        }
        return found
    }
}
