import IntentMatching
import WidgetModel

// Tests count instances and hosts in plain numbers.
extension IntentIndex {
    mutating func insert(
        _ instance: UInt32,
        app: BundleID,
        kind: WidgetKind,
        family: WidgetFamily,
        host: UInt32,
        tags: [String],
        configuration: Configuration,
        when: MatchPattern? = nil,
        pushEnabled: Bool
    ) {
        self.insert(
            InstanceNumber(raw: instance),
            app: app,
            kind: kind,
            family: family,
            host: HostNumber(raw: host),
            tags: tags,
            configuration: configuration,
            when: when,
            pushEnabled: pushEnabled
        )
    }

    mutating func remove(_ instance: UInt32) { self.remove(InstanceNumber(raw: instance)) }

    /// Calls `body` with each batch, and says how they were found.
    func explain(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        hosts: HostList,
        attributes: Configuration? = nil,
        order: MatchOrder = .ascending,
        _ body: (Span<InstanceNumber>) -> Void = { _ in }
    ) -> [QueryPlan] {
        var cursor = self.cursor(
            app: app,
            kind: kind,
            pattern: pattern,
            hosts: hosts,
            attributes: attributes,
            order: order,
            isExplained: true,
            batchLimit: 4096
        )
        while self.next(&cursor, hosts) { body(cursor.batch) }
        return self.plans(of: cursor)
    }
}

extension PlainInstance {
    init(_ instance: UInt32, family: WidgetFamily, host: UInt32, configuration: Configuration) {
        self.init(
            InstanceNumber(raw: instance),
            family: family,
            host: HostNumber(raw: host),
            configuration: configuration
        )
    }
}
