import Timelines
package import WidgetModel

extension Engine {
    /// The pushes with this id in this partition: several if content or target differed. O(`lookedMax`) for each that
    /// waits.
    ///
    /// - Parameters:
    ///   - id: Their id.
    ///   - team: Their sender's team; nil for all teams, as for operators.
    ///   - lookedMax: The most waiting instances of a push to look at for their reasons; 0 for no reasons.
    package func push(_ id: PushID, team: TeamID? = nil, lookedMax: Int = 0) -> [PushView] {
        guard let team else { return self.views(of: self.ledger.pushes.find(id), lookedMax) }
        guard let number = self.catalogue.findTeam(team.rawValue) else { return [] }
        return self.views(of: self.ledger.pushes.find(id, team: number), lookedMax)
    }

    private func views(of pushes: [PushNumber], _ lookedMax: Int) -> [PushView] {
        pushes.map { push in
            var view = self.view(ofPush: push)
            if lookedMax > 0, view.counts[.deferred] > 0 { view.waiting = self.whyWaits(push, lookedMax) }
            return view
        }
    }

    /// Why a push waits. O(`lookedMax`).
    private func whyWaits(_ push: PushNumber, _ lookedMax: Int) -> PushWaiting {
        var waiting = PushWaiting()
        var (slot, looked) = (self.reloads.firstWaiting(of: push), 0)
        while !slot.isNone, looked < lookedMax {
            let match = self.reloads[slot]
            let (until, reason) = self.wait(of: match)
            waiting.add(reason, until: until.ifFinite, expiresAt: match.expiresAt)
            (slot, looked) = (match.nextOfPush, looked + 1)
        }
        waiting.isSampled = !slot.isNone
        return waiting
    }

    func view(ofPush slot: PushNumber) -> PushView {
        let row = self.ledger[slot]
        var counts = OutcomeCounts()
        for outcome in PushOutcome.allCases { counts[outcome] = Int(row.counts[Int(outcome.rawValue)]) }
        for reason in FailureReason.allCases { counts[reason] = Int(row.failures[Int(reason.rawValue)]) }
        return PushView(
            id: row.id,
            team: TeamID(self.catalogue.teamName(row.team)),
            app: row.app == .none ? nil : self.catalogue[row.app].id,
            contentHash: row.contentHash,
            position: row.position,
            acceptedAt: row.acceptedAt,
            priority: row.priority,
            expiresAt: row.expiresAt,
            notBefore: row.notBefore == .epoch ? nil : row.notBefore,
            matched: Int(row.matched),
            counts: counts,
            repeats: Int(row.repeats),
            isForApp: row.isForApp,
            isApplied: !row.isOpen,
            failure: row.failure,
            completedAt: row.isComplete ? row.completedAt : nil
        )
    }

    /// A host with its instances; nil if it is not registered here.
    package func host(_ id: HostKey) -> HostView? {
        guard let slot = self.registry.findHost(id), self.registry[slot].isRegistered else { return nil }
        let row = self.registry[slot]
        return HostView(
            host: id,
            tokens: self.registry.tokens(of: slot).map(\.token),
            revision: row.revision,
            delivery: row.delivery,
            context: self.registry.context(of: slot),
            registeredAt: row.registeredAt,
            firstRegisteredAt: row.firstRegisteredAt,
            leaseEnds: row.leaseEnds,
            exemptions: self.exemptions(ofHost: slot),
            isInStandBy: row.isInStandBy,
            isInLowPower: row.isInLowPower,
            instances: self.registeredInstances(of: slot),
            outstandingReloads: self.outstandingReloads(host: id).count
        )
    }

    /// The instances that a host shows. O(its instances).
    func registeredInstances(of host: HostNumber) -> [InstanceRegistration] {
        self.registry.liveInstances(of: host).map { self.registration(of: $0) }
    }

    /// The totals of this partition. O(1): they are counted at each change.
    package func stats() -> EngineStats {
        var stats = self.counters
        stats.position = self.position
        stats.time = self.time
        stats.tokens = self.registry.boundTokenCount
        stats.removedTokens = self.registry.removedTokenCount
        stats.channels = self.channels.count
        self.ledger.count(into: &stats)
        (stats.pushesRemembered, stats.rememberedSince) = self.ledger.remembered
        stats.reloadsOutstanding = self.reloads.count
        stats.timersArmed = self.schedule.timerCount
        return stats
    }

    /// Hosts and instances, counted one by one: the running counts have to be equal. O(instances).
    func counted() -> EngineStats {
        var stats = EngineStats()
        stats.hosts = self.registry.usedHosts().count { self.registry[$0].isRegistered }
        for instance in self.registry.usedInstances() {
            let row = self.registry[instance]
            if row.isLive { stats.instances += 1 } else { stats.tombstones += 1 }
            if row.isLive, row.pushEnabled { stats.pushEnabledInstances += 1 }
            if row.isOrphaned { stats.orphanedInstances += 1 }
        }
        return stats
    }
}
