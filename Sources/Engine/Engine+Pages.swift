package import IntentMatching
import Storage
package import WidgetModel

extension Engine {
    /// The widgets of an app that match, from a number on, in the order of their numbers: `getCurrentConfigurations` of a
    /// whole app. Unlike a push it also finds instances that are not push-enabled. O(`scanMax`).
    ///
    /// - Parameters:
    ///   - app: Whose.
    ///   - kind: Of which kind, nil for all.
    ///   - pattern: What they must match, nil for everything.
    ///   - start: Where to begin: 0, or the `next` of a page.
    ///   - limit: How many to list at most.
    ///   - scanMax: How many rows to look at.
    package func widgets(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        from start: InstanceNumber,
        limit: Int,
        scanMax: Int
    ) -> ListPage<ListedWidget, InstanceNumber> {
        var page = ListPage<ListedWidget, InstanceNumber>()
        let range = self.registry.instanceNumbers(from: start, atMost: scanMax)
        var slot = range.lowerBound
        while slot < range.upperBound, page.rows.count < limit {
            let instance = slot
            slot = slot.advanced(by: 1)
            let row = self.registry[instance]
            guard row.isLive, self.catalogue[self.catalogue[row.kind].app].id == app else { continue }
            if let kind, self.catalogue[row.kind].name != kind { continue }
            if let pattern, !self.matches(instance, pattern) { continue }
            page.rows.append(
                ListedWidget(host: self.hostKey(of: row.host), registration: self.registration(of: instance))
            )
        }
        page.next = slot.index < self.registry.instanceEnd ? slot : nil
        return page
    }
}
