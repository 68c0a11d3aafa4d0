package import IntentMatching
import Storage
import Timelines
package import WidgetModel

/// The live instances of a partition in the order of their numbers. Where all on the list are active, only active rows are looked at, and
/// in their order.
extension InstanceFilter: EngineList {
    package static let coding = Fields(Self.init, \.app, \.kind, \.host, \.state, \.behindSince)

    package func page(of engine: borrowing Engine, _ part: ListPart) -> ListPage<InstanceSummary> {
        if let host = self.host {
            guard let host = engine.registry.findHost(host) else { return ListPage() }
            return ListPage(
                rows: engine.registry.instances(of: host).compactMap { engine.summary(ofInstance: $0, self) }
            )
        }
        switch self.state {
        case .waiting, .behind, .outstanding:
            var page = ListPage<InstanceSummary>()
            let next = engine.schedule.forEachActive(from: Number(place: part.place), atMost: part.scanMax) {
                instance in
                if let row = engine.summary(ofInstance: instance, self) { page.rows.append(row) }
                return page.rows.count < part.limit
            }
            page.next = next.map { UInt64($0.raw) }
            return page
        case nil, .exhausted, .visible, .orphaned:
            let numbers = engine.registry.instanceNumbers(from: Number(place: part.place), atMost: part.scanMax)
            return ListPage(numbers, end: engine.registry.instanceEnd, limit: part.limit) {
                engine.summary(ofInstance: $0, self)
            }
        }
    }
}

extension InstanceFilter.State: ByteCoded {}

/// The widgets of an app that match, in the order of their numbers: `getCurrentConfigurations` of a whole app. Unlike a push it also
/// finds instances that are not push-enabled.
package struct WidgetList: EngineList {
    package static let coding = Fields(Self.init, \.app, \.kind, \.pattern)
    package let app: BundleID
    /// Only those of this kind; nil for all.
    package let kind: WidgetKind?
    /// Only those that match; nil for all.
    package let pattern: MatchPattern?

    package init(of app: BundleID, kind: WidgetKind? = nil, matching pattern: MatchPattern? = nil) {
        (self.app, self.kind, self.pattern) = (app, kind, pattern)
    }

    package func page(of engine: borrowing Engine, _ part: ListPart) -> ListPage<ListedWidget> {
        let numbers = engine.registry.instanceNumbers(from: Number(place: part.place), atMost: part.scanMax)
        return ListPage(numbers, end: engine.registry.instanceEnd, limit: part.limit) { instance in
            let row = engine.registry[instance]
            guard row.isLive, engine.catalogue[engine.catalogue[row.kind].app].id == self.app else { return nil }
            if let kind = self.kind, engine.catalogue[row.kind].name != kind { return nil }
            if let pattern = self.pattern, !engine.matches(instance, pattern) { return nil }
            return ListedWidget(host: engine.hostKey(of: row.host), registration: engine.registration(of: instance))
        }
    }
}

extension Engine {
    fileprivate func summary(ofInstance slot: InstanceNumber, _ filter: InstanceFilter) -> InstanceSummary? {
        let row = self.registry[slot]
        guard row.isLive else { return nil }
        let kind = self.catalogue[row.kind]
        if let wanted = filter.kind, kind.name != wanted { return nil }
        let app = self.catalogue[kind.app].id
        if let wanted = filter.app, app != wanted { return nil }
        let active = self.schedule[active: slot]
        let behindSince = self.schedule.behindSince(slot)
        if let wanted = filter.behindSince {
            guard let behindSince, behindSince <= wanted else { return nil }
        }
        let use = self.budgetUse(of: slot)
        let phase = self.schedule.phase(of: slot)
        let isVisible = self.schedule[cold: slot].visibleUntil > self.time
        switch filter.state {
        case nil: break
        case .waiting: guard phase.isWaiting else { return nil }
        case .behind: guard behindSince != nil else { return nil }
        case .outstanding: guard phase.isOutstanding else { return nil }
        case .exhausted: guard use.isExhausted else { return nil }
        case .visible: guard isVisible else { return nil }
        case .orphaned: guard row.isOrphaned else { return nil }
        }
        let host = self.registry[row.host]
        return InstanceSummary(
            address: self.address(of: slot),
            kind: kind.name,
            family: self.registry.family(of: slot),
            pushEnabled: row.pushEnabled,
            isOrphaned: row.isOrphaned,
            isVisible: host.tellsVisibility ? isVisible : nil,
            allowance: use.isUnlimited ? nil : use.allowance,
            charged: use.charged,
            waiting: Int(active.pending.count) + active.waiting.list.count,
            outstanding: self.reloads.count(of: active.outstanding),
            decidesAt: active.decidesAt.ifFinite,
            lastReload: self.budget(of: slot).lastReload,
            behind: active.behind,
            behindSince: behindSince
        )
    }
}
