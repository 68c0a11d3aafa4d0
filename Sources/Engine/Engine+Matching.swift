import IntentMatching
import Timelines
import WidgetModel

/// The instances that a push is decided for.
extension Engine {
    /// The instances of a host that a push to it is for. O(its instances).
    func matching(host: HostNumber, _ head: PushHead, _ audience: PushAudience, _ bytes: [UInt8]) -> [InstanceNumber] {
        self.registry.instances(of: host).filter { self.isMatched($0, head, audience, bytes) }
    }

    /// Begins to find the push-enabled instances of an app that match.
    func cursor(
        _ app: AppNumber,
        _ kind: KindNumber?,
        _ pattern: MatchPattern?,
        _ attributes: Configuration?,
        order: MatchOrder,
        isExplained: Bool = false
    ) -> MatchCursor {
        self.registry.cursor(
            app: self.catalogue[app].id,
            kind: kind.map { self.catalogue[$0].name },
            pattern,
            attributes,
            order: order,
            isExplained: isExplained
        )
    }

    /// Whether a push to a host is for this instance of it.
    func isMatched(_ instance: InstanceNumber, _ head: PushHead, _ audience: PushAudience, _ bytes: [UInt8]) -> Bool {
        guard self.registry[instance].isLive, self.registry[instance].pushEnabled else { return false }
        guard audience.kind == nil || audience.kind == self.registry[instance].kind else { return false }
        guard self.isAddressed(instance, head, bytes) else { return false }
        if self.registry[instance].isConditional, !self.isFulfilled(instance, audience.attributes) { return false }
        guard let pattern = audience.pattern else { return true }
        return self.matches(instance, pattern)
    }

    /// A control has a token of its own; a host's token stands for all the others.
    @inline(__always)
    private func isAddressed(_ instance: InstanceNumber, _ head: PushHead, _ bytes: [UInt8]) -> Bool {
        guard head.target == .instance else { return !self.registry[instance].isControl }
        return self.registry.id(of: instance).rawValue.equals(bytes, in: head.instance)
    }

    private func isFulfilled(_ instance: InstanceNumber, _ attributes: Configuration) -> Bool {
        self.registry[coldFields: instance].when?.holds(for: attributes) ?? true
    }

    func matches(_ instance: InstanceNumber, _ pattern: MatchPattern) -> Bool {
        pattern.matches(
            MatchSubject(
                configuration: self.registry.configuration(of: instance),
                family: self.registry.family(of: instance),
                host: self.registry.id(of: self.registry[instance].host),
                tags: self.registry[coldFields: instance].tags,
                schema: self.catalogue[self.registry[instance].kind].schema
            )
        )
    }
}
