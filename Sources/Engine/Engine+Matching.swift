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
