import Storage
package import WidgetModel

/// Some of the reloads of an app that are out, and where to go on.
package struct ReloadsPage: Hashable, Sendable {
    package let reloads: [ReloadEffect]
    /// Give it back for the next page; nil at the end.
    package let next: InstanceNumber?
    /// Reloads that were issued later than this are on no page.
    package let through: LogPosition

    package init(reloads: [ReloadEffect], next: InstanceNumber?, through: LogPosition) {
        self.reloads = reloads
        self.next = next
        self.through = through
    }
}

extension Engine {
    /// How many instances are looked at for one page, so that the partition is not held up: about a millisecond.
    static let reloadsPageScanMax = 65_536

    /// The reloads of all hosts of an app that are out and not acknowledged, in pages, in no order that matters.
    ///
    /// Whatever happens between two pages, a reload that was out when the first one was asked for, and still is when its
    /// turn comes, is on exactly one page. O(limit + 65,536).
    ///
    /// - Parameters:
    ///   - cursor: Zero at first, then ``ReloadsPage/next``.
    ///   - through: The first page's ``ReloadsPage/through``; nil for the first page itself.
    ///   - limit: How many reloads a page may have; a last instance's are not torn apart.
    package func outstandingReloads(
        app: BundleID,
        from cursor: InstanceNumber = InstanceNumber(0),
        through: LogPosition? = nil,
        limit: Int
    ) -> ReloadsPage {
        let through = through ?? self.position
        guard let number = self.catalogue.findAnyApp(app) else {
            return ReloadsPage(reloads: [], next: nil, through: through)
        }
        return self.reloadsPage(from: cursor, through: through, limit) { row in
            // What a push to a token brings is not for streams.
            !row.isHostDriven && self.catalogue[row.kind].app == number
        }
    }

    /// The reloads that are out and not delivered by a stream, in pages as above: what a deliverer takes up after a restart, or
    /// when it has room again. O(limit + 65,536).
    ///
    /// - Parameter through: Reloads that were issued later are on no page; by default none is left out.
    package func undeliveredReloads(
        from cursor: InstanceNumber = InstanceNumber(0),
        through: LogPosition? = nil,
        limit: Int
    ) -> ReloadsPage {
        self.reloadsPage(from: cursor, through: through ?? self.position, limit) {
            self.registry[$0.host].delivery != .stream
        }
    }

    /// A page of the reloads that are out of some instances.
    private func reloadsPage(
        from cursor: InstanceNumber,
        through: LogPosition,
        _ limit: Int,
        where isWanted: (Registry.Instance) -> Bool
    ) -> ReloadsPage {
        var found: [ReloadEffect] = []
        let range = self.registry.instanceNumbers(from: cursor, atMost: Self.reloadsPageScanMax)
        var slot = range.lowerBound
        while slot < range.upperBound, found.count < limit {
            let reloads = self.schedule[active: slot].outstanding
            // A number that is free keeps its last row, which is at rest.
            if !reloads.isEmpty, isWanted(self.registry[slot]) {
                self.reloads.forEach(in: reloads) {
                    if $0.position <= through { found.append(self.effect(of: $0)) }
                }
            }
            slot = slot.advanced(by: 1)
        }
        return ReloadsPage(reloads: found, next: slot.index < self.registry.instanceEnd ? slot : nil, through: through)
    }
}
