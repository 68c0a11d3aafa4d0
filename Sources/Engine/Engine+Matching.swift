import IntentMatching
import Timelines
import WidgetModel

/// Whom a push to an app is decided for.
extension Engine {
    /// The instances of an app that a push is for, in the order of their numbers.
    ///
    /// An instance's number is a part of the engine's state; nothing else decides who comes first.
    mutating func matching(_ audience: PushAudience, app: AppNumber) -> [InstanceNumber] {
        self.index.finishLoading()
        return self.matching(app: app, kind: audience.kind, audience.pattern, attributes: audience.attributes)
    }

    /// How many instances a push matches.
    ///
    /// To an app: what the index takes to find them, and nothing for each that it finds. To a host: O(its instances).
    func count(matching audience: PushAudience, _ head: PushHead, _ bytes: [UInt8]) -> Int {
        switch audience.reach {
        case .nobody: return 0
        case .host(let host): return self.matching(host: host, head, audience, bytes).count
        case .app(let app):
            var count = 0
            // No order is asked for, so that none is made.
            self.findMatches(app, audience.kind, audience.pattern, audience.attributes, order: .asFound) {
                count += $0.count
            }
            return count
        }
    }

    /// The instances of a host that a push to it is for. O(its instances).
    func matching(host: HostNumber, _ head: PushHead, _ audience: PushAudience, _ bytes: [UInt8]) -> [InstanceNumber] {
        self.instances(of: host).filter { self.isMatched($0, head, audience, bytes) }
    }

    /// The push-enabled instances of an app that match, in the order of their numbers; for what is no push their
    /// conditions do not count.
    func matching(
        app: AppNumber,
        kind: KindNumber?,
        _ pattern: MatchPattern?,
        attributes: Configuration? = nil
    ) -> [InstanceNumber] {
        var found: [InstanceNumber] = []
        self.findMatches(app, kind, pattern, attributes, order: .ascending) { batch in
            for index in batch.indices { found.append(batch[index]) }
        }
        return found
    }

    /// Calls `body` with each batch of the push-enabled instances of an app that match.
    private func findMatches(
        _ app: AppNumber,
        _ kind: KindNumber?,
        _ pattern: MatchPattern?,
        _ attributes: Configuration?,
        order: MatchOrder,
        _ body: (Span<InstanceNumber>) -> Void
    ) {
        self.index.matches(
            app: self.apps[app].id,
            kind: kind.map { self.apps[$0].name },
            pattern: pattern,
            hosts: self.hosts,
            attributes: attributes,
            order: order,
            batchLimit: 4096,
            body
        )
    }
}
