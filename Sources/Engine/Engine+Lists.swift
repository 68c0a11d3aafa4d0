import IntentMatching
import Storage
import Timelines
package import WidgetModel

/// Lists for operators, read in bounded steps, so that no question stops a partition for long: a step looks at a number
/// of rows and says where the next one begins. An instance or host that is there all the while is listed once.
extension Engine {
    /// Live instances from a number on, in the order of their numbers. Of those that are not at rest only the active rows are looked
    /// at, and in their order. O(`scanMax`).
    ///
    /// - Parameters:
    ///   - start: Where to begin: 0, or the `next` of a page for the same filter.
    ///   - limit: How many to list at most.
    ///   - scanMax: How many rows to look at.
    package func instances(
        from start: InstanceNumber,
        _ filter: InstanceFilter,
        limit: Int,
        scanMax: Int
    ) -> ListPage<InstanceSummary, InstanceNumber> {
        switch filter.state {
        case .waiting, .behind, .outstanding:
            return self.activeInstances(from: Number(raw: start.raw), filter, limit: limit, scanMax: scanMax)
        case nil, .exhausted, .visible, .orphaned: break
        }
        var page = ListPage<InstanceSummary, InstanceNumber>()
        let range = self.registry.instanceNumbers(from: start, atMost: scanMax)
        var slot = range.lowerBound
        while slot < range.upperBound, page.rows.count < limit {
            if let row = self.summary(ofInstance: slot, filter) { page.rows.append(row) }
            slot = slot.advanced(by: 1)
        }
        page.next = slot.index < self.registry.instanceEnd ? slot : nil
        return page
    }

    private func activeInstances(
        from start: Number<ActiveRow>,
        _ filter: InstanceFilter,
        limit: Int,
        scanMax: Int
    ) -> ListPage<InstanceSummary, InstanceNumber> {
        var page = ListPage<InstanceSummary, InstanceNumber>()
        let next = self.schedule.forEachActive(from: start, atMost: scanMax) { instance in
            if let row = self.summary(ofInstance: instance, filter) { page.rows.append(row) }
            return page.rows.count < limit
        }
        page.next = next.map { Number(raw: $0.raw) }
        return page
    }

    /// The live instances of a host, in the order of their ids.
    package func instances(of host: HostKey, _ filter: InstanceFilter) -> [InstanceSummary] {
        guard let slot = self.registry.findHost(host) else { return [] }
        return self.registry.instances(of: slot).compactMap { self.summary(ofInstance: $0, filter) }
    }

    /// How many live instances from a number on fit now and would not under other settings, and where the next step begins; nil
    /// at the end. O(`scanMax`).
    package func orphans(
        under settings: EngineSettings,
        from start: InstanceNumber,
        scanMax: Int
    ) -> (count: Int, next: InstanceNumber?) {
        var schemas: [BundleID: [WidgetKind: KindSchema]] = [:]
        for app in settings.apps {
            for kind in app.kinds { schemas[app.app, default: [:]][kind.schema.kind] = kind.schema }
        }
        let range = self.registry.instanceNumbers(from: start, atMost: scanMax)
        var (slot, count) = (range.lowerBound, 0)
        while slot < range.upperBound {
            let row = self.registry[slot]
            if row.isLive, !row.isOrphaned {
                let kind = self.catalogue[row.kind]
                let schema = schemas[self.catalogue[kind.app].id]?[kind.name]
                if schema?.accepts(self.registry.configuration(of: slot)) != true { count += 1 }
            }
            slot = slot.advanced(by: 1)
        }
        return (count, slot.index < self.registry.instanceEnd ? slot : nil)
    }

    private func summary(ofInstance slot: InstanceNumber, _ filter: InstanceFilter) -> InstanceSummary? {
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
        let use = self.use(of: slot)
        let phase = self.schedule.phase(of: slot)
        let isVisible = self.schedule[cold: slot].visibleUntil > self.now
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
            decidesAt: active.decidesAt == .max ? nil : Instant(milliseconds: active.decidesAt),
            lastReload: self.budget(of: slot).lastReload,
            behind: active.behind,
            behindSince: behindSince
        )
    }

    private func outstanding(of instance: InstanceNumber) -> Int {
        self.reloads.count(of: self.schedule[active: instance].outstanding)
    }

    /// Registered hosts from a number on, in the order of their numbers. O(`scanMax` + instances of those listed).
    package func hosts(
        from start: HostNumber,
        app: BundleID?,
        limit: Int,
        scanMax: Int
    ) -> ListPage<HostSummary, HostNumber> {
        self.hosts(from: start, app: app, limit: limit, scanMax: scanMax) { self.summary(ofHost: $0) }
    }

    /// What `row` makes of registered hosts from a number on.
    private func hosts<Row: Sendable>(
        from start: HostNumber,
        app: BundleID?,
        limit: Int,
        scanMax: Int,
        _ row: (HostNumber) -> Row
    ) -> ListPage<Row, HostNumber> {
        var page = ListPage<Row, HostNumber>()
        let range = self.registry.hostNumbers(from: start, atMost: scanMax)
        var slot = range.lowerBound
        while slot < range.upperBound, page.rows.count < limit {
            if self.registry[slot].isRegistered {
                let id = self.catalogue[self.registry[slot].app].id
                if app == nil || app == id { page.rows.append(row(slot)) }
            }
            slot = slot.advanced(by: 1)
        }
        page.next = slot.index < self.registry.hostNumbers.upperBound.index ? slot : nil
        return page
    }

    /// The registrations that would make an app's hosts anew, from a host's number on, in the order of their numbers: of a host
    /// with several tokens one for each, so that all of them are bound. Leases are what is left of them. O(`scanMax` +
    /// instances of those listed).
    package func registrations(
        app: BundleID,
        from start: HostNumber,
        limit: Int,
        scanMax: Int
    ) -> ListPage<[HostRegistration], HostNumber> {
        self.hosts(from: start, app: app, limit: limit, scanMax: scanMax) { self.registrations(ofHost: $0) }
    }

    private func registrations(ofHost slot: HostNumber) -> [HostRegistration] {
        let row = self.registry[slot]
        let key = self.hostKey(of: slot)
        let instances = self.registeredInstances(of: slot)
        let context = self.registry.context(of: slot)
        return self.registry.tokens(of: slot).enumerated().map { index, token in
            HostRegistration(
                host: key,
                token: token.token,
                registrant: index == 0 ? .backEnd : .backEndAddingToken,
                revision: row.revision,
                delivery: row.delivery,
                context: context,
                lease: row.leaseEnds.map { max(.seconds(1), $0 - self.time) },
                instances: instances
            )
        }
    }

    private func summary(ofHost slot: HostNumber) -> HostSummary {
        let row = self.registry[slot]
        return HostSummary(
            host: self.hostKey(of: slot),
            delivery: row.delivery,
            registeredAt: row.registeredAt,
            leaseEnds: row.leaseEnds,
            exemptions: self.exemptions(ofHost: slot),
            isInStandBy: row.isInStandBy,
            isInLowPower: row.isInLowPower,
            instances: Int(row.liveInstances),
            outstanding: self.registry.instances(of: slot).reduce(0) { $0 + self.outstanding(of: $1) }
        )
    }

    /// Why the reloads of a host are not charged at this moment, in the order of raw values.
    func exemptions(ofHost slot: HostNumber) -> [Exemption] {
        let row = self.registry[slot]
        var exemptions: [Exemption] = []
        if row.foregroundUntil > self.now { exemptions.append(.appForeground) }
        for session in HostSession.allCases where row.sessionsUntil[Int(session.rawValue)] > self.now {
            exemptions.append(session.exemption)
        }
        return exemptions
    }
}

/// What came in last, and what was decided about it.
extension Engine {
    /// The number that the next accepted push will have: every listed one's is less.
    package var pushesListed: UInt64 { self.ledger.listedCount }

    /// The pushes that were accepted last, the newest first, with their numbers. O(`scanMax`).
    ///
    /// A push for an app is one in every partition: it is listed by the first, whatever the filter says of outcomes, since
    /// only the sum over partitions can tell.
    ///
    /// - Parameter before: Those with lesser numbers only.
    package func recentPushes(
        before: UInt64,
        _ filter: PushFilter,
        limit: Int,
        scanMax: Int
    ) -> ListPage<(number: UInt64, push: PushView), UInt64> {
        var page = ListPage<(number: UInt64, push: PushView), UInt64>()
        let oldest = self.ledger.oldestListed
        var number = min(before, self.ledger.listedCount)
        var scanned = 0
        while number > oldest, scanned < scanMax, page.rows.count < limit {
            number -= 1
            scanned += 1
            guard let slot = self.ledger.listedPush(number) else { continue }
            // Those before it were not accepted later.
            if let after = filter.after, self.ledger[slot].acceptedAt <= after { return page }
            let isForApp = self.ledger[slot].isForApp
            if isForApp, self.partition.rawValue != 0 { continue }
            if let team = filter.team, TeamID(self.catalogue.teamName(self.ledger[slot].team)) != team { continue }
            let view = self.view(ofPush: slot)
            guard isForApp ? filter.isAbout(view) : filter.contains(view) else { continue }
            page.rows.append((number, view))
        }
        page.next = number > oldest ? number : nil
        return page
    }

    /// What was decided about a push, the oldest first, as far as it is kept. O(`scanMax` + decisions of the instances).
    ///
    /// - Parameters:
    ///   - start: The number of the decision to begin with; nil for the first that can be about it.
    ///   - outcome: Only decisions that came out so.
    package func decisions(
        about push: PushID,
        from start: UInt64?,
        outcome: PushOutcome?,
        limit: Int,
        scanMax: Int
    ) -> ListPage<PushDecision, UInt64> {
        guard let accepted = self.ledger.pushes(with: push).map({ self.ledger[$0].position }).min() else {
            return ListPage()
        }
        var page = ListPage<PushDecision, UInt64>()
        var number = max(start ?? self.ledger.firstDecision(from: accepted), self.ledger.oldestDecision)
        let end = min(self.ledger.decisionCount, number.addingSaturating(UInt64(scanMax)))
        while number < end, page.rows.count < limit {
            if let entry = self.ledger.decision(number), entry.hasPush, entry.push == push,
                outcome == nil || entry.outcome == outcome
            {
                page.rows.append(PushDecision(instance: self.address(ofDecision: number, entry), decision: entry.view))
            }
            number += 1
        }
        page.next = number < self.ledger.decisionCount ? number : nil
        return page
    }

    /// Whom a decision was about; nil if the number of that instance is another's by now.
    ///
    /// - Parameter lookedMax: At how many later decisions of the instance is looked for that.
    func address(ofDecision number: UInt64, _ entry: Ledger.Decision, lookedMax: Int = .max) -> InstanceAddress? {
        var last = self.schedule[entry.instance].lastDecision
        var looked = 0
        while last != number {
            guard looked < lookedMax else { return nil }
            looked += 1
            guard last != Ledger.noDecision, last > number, let newer = self.ledger.decision(last) else { return nil }
            last = newer.previous
        }
        return self.address(of: entry.instance)
    }
}

extension Ledger.Decision {
    var view: DecisionView {
        DecisionView(
            at: self.at,
            position: self.position,
            cause: self.cause,
            push: self.hasPush ? self.push : nil,
            outcome: self.outcome,
            reason: self.reason,
            exemption: self.exemption,
            until: self.until == .max ? nil : Instant(milliseconds: self.until)
        )
    }
}
