import IntentMatching
import WidgetModel

extension IntentIndex {
    /// Calls `body` with each batch of a question that is not empty. The spans are valid only during the call.
    func matches(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        hosts: borrowing some HostNaming & ~Copyable,
        attributes: Configuration? = nil,
        order: MatchOrder = .ascending,
        batchLimit: Int,
        _ body: (Span<InstanceNumber>) -> Void
    ) {
        var cursor = self.cursor(
            app: app,
            kind: kind,
            pattern: pattern,
            hosts: hosts,
            attributes: attributes,
            order: order,
            batchLimit: batchLimit
        )
        while self.next(&cursor, hosts) {
            if cursor.batch.count > 0 { body(cursor.batch) }
        }
    }
}
