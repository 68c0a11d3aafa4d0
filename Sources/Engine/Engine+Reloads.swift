import Timelines
package import WidgetModel

/// How an outstanding reload ends.
enum ReloadEnd {
    case acknowledged
    case failed(FailureReason, DecisionReason)
    case removed(DecisionReason)
}

extension Engine {
    /// Issues a reload of an instance for every waiting cause, but for pushes whose not-before is still to come.
    ///
    /// - Parameters:
    ///   - instance: A live instance with something to reload for.
    ///   - exemption: Why the reload is not charged; nil charges it, and then it must conform.
    ///   - isPush: Whether it is charged to the pushes' share.
    ///   - isOnce: Whether a push that is now or never is among the waiting ones.
    mutating func issue(_ instance: InstanceNumber, _ exemption: Exemption?, isPush: Bool, isOnce: Bool = false) {
        let payment = exemption.map { ReloadPayment.exempt($0) } ?? .charged(isPush: isPush)
        if self.registry[instance].isHostDriven {
            return self.issueThroughToken(instance, payment, isOnce: isOnce)
        }
        let row = self.open(instance, payment)
        let addressHash = self.addressHash(of: instance)
        self.combine(row, addressHash)
        self.output.effects.append(.reload(self.effect(of: row, addressHash)))
        self.reloads.append(row, to: &self.schedule[active: instance].outstanding)
    }

    /// Pays for a reload, takes the waiting causes into it and books it. It is not in the table yet.
    ///
    /// - Parameters:
    ///   - instance: A live instance.
    ///   - payment: Its cost.
    ///   - trigger: The push that made another instance with the same token reload, if that is the cause.
    @inline(__always)
    mutating func open(_ instance: InstanceNumber, _ payment: ReloadPayment, for trigger: PushID? = nil)
        -> Reloads.Reload
    {
        let terms = self.terms(of: instance)
        let counted = self.pay(instance, payment, terms)
        let taken = self.takePending(of: instance)
        var causes = self.schedule[active: instance].waiting
        let isSystem = !causes.isEmpty
        if taken.count > 0 || causes.isEmpty { causes.insert(ReloadCauses(.push)) }
        self.schedule[active: instance].waiting = []
        self.schedule[active: instance].heldUntil = .distantPast
        let (primary, latest) = self.markIssued(taken)
        let expiresAt = isSystem ? Instant.distantFuture : max(latest, self.time + Self.acknowledgementMin)
        let push = primary.isNone ? trigger : self.ledger[self.reloads[primary].push].id
        let details = self.schedule[instance].hasPendingDigest ? self.registry[content: instance].pendingDigest : nil
        self.schedule[instance].hasPendingDigest = false
        let reload = Reloads.Reload(
            row: Reloads.Row(
                instance: instance,
                position: self.position,
                issuedAt: self.time,
                expiresAt: min(expiresAt, self.time + min(self.catalogue.limits.acknowledgementMax, .hours(24))),
                causes: causes,
                exemption: payment.exemption,
                generation: self.registry[instance].generation,
                window: terms.window,
                collateral: payment.collateral,
                isCounted: counted.count,
                isPush: counted.push
            ),
            served: Reloads.Served(
                pushes: taken,
                primary: isSystem || payment.collateral != nil ? .none : primary,
                push: push,
                digest: details
            )
        )
        self.noteDecision(
            instance,
            .issued,
            payment.reason,
            cause: causes.first,
            push: push,
            exemption: payment.exemption
        )
        self.book(reload)
        self.counters.reloadsIssued += 1
        var bits = causes.rawValue
        while bits != 0 {
            self.counters.reloadsByCause[bits.trailingZeroBitCount] += 1
            bits &= bits - 1
        }
        return reload
    }

    /// Takes the cost of a reload from the budget.
    ///
    /// - Returns: Whether it counts in the window, and against the pushes' share, so that it can be given back.
    @inline(__always)
    private mutating func pay(
        _ instance: InstanceNumber,
        _ payment: ReloadPayment,
        _ terms: BudgetTerms
    ) -> (count: Bool, push: Bool) {
        switch payment {
        case .charged(let isPush):
            self.charge(instance, isPush: isPush, terms: terms)
            self.counters.reloadsCharged += 1
            return (true, isPush)
        case .exempt(let exemption):
            self.schedule[instance].budget.noteExempt(at: self.time)
            self.schedule[cold: instance].exemptReloads += 1
            if exemption == .added || exemption == .configured { self.schedule[cold: instance].freeSetupAt = self.time }
            self.counters.reloadsExempt[Int(exemption.rawValue)] += 1
            return (false, false)
        case .collateral(let collateral, let isPaid):
            return self.pay(instance, collateral, isPaid: isPaid, terms)
        }
    }

    /// Takes the pushes that a reload may serve out of those that wait.
    private mutating func takePending(of instance: InstanceNumber) -> MatchList {
        guard self.schedule[instance].hasScheduled || self.ledger.hasPausedSenders else {
            return self.schedule[active: instance].takePending()
        }
        var taken = MatchList()
        var remaining = false
        var slot = self.schedule[active: instance].pending.head
        while !slot.isNone {
            let match = self.reloads[slot]
            if self.heldUntil(match) > self.time {
                remaining = remaining || match.isScheduled
            } else {
                self.reloads.move(slot, from: &self.schedule[active: instance].pending, to: &taken)
                self.schedule[active: instance].count(match.priority, -1)
                // The scheduled push's digest may be older than later pushes' digests.
                if match.isScheduled { self.schedule[instance].hasPendingDigest = false }
            }
            slot = match.next
        }
        self.schedule[instance].hasScheduled = remaining
        self.refreshExpiry(of: instance)
        return taken
    }

    /// Counts pushes as issued; gives the match of the most urgent, oldest one, and when the last of them expires.
    private mutating func markIssued(_ taken: MatchList) -> (primary: MatchNumber, latest: Instant) {
        var primary = MatchNumber.none
        var urgency = UInt8(0)
        var latest = Instant.distantPast
        var slot = taken.head
        while !slot.isNone {
            let match = self.reloads[slot]
            self.reloads.stopWaiting(slot)
            self.ledger.moveOutcome(of: match.push, from: .deferred, to: .issued, at: self.time)
            latest = max(latest, match.expiresAt)
            if match.priority.rawValue > urgency { (primary, urgency) = (slot, match.priority.rawValue) }
            slot = match.next
        }
        return (primary, latest)
    }

    /// Takes a reload into the running hash; see ``addressHash(of:)``.
    mutating func combine(_ row: Reloads.Reload, _ addressHash: UInt64) {
        self.combine(addressHash)
        self.combine(UInt64(row.causes.rawValue) | UInt64(row.exemption.map { $0.rawValue + 1 } ?? 0) << 16)
        self.combine(UInt64(bitPattern: row.expiresAt.milliseconds))
        self.combine(UInt64(row.pushes.count))
        if let push = row.push { self.combine(push.low ^ ReplayHash.mix(push.high)) }
    }

    /// The effect that a reload was given out as.
    func effect(of row: Reloads.Reload) -> ReloadEffect {
        self.effect(of: row, self.addressHash(of: row.instance))
    }

    /// The same where the hash of its instance's address is at hand.
    @inline(__always)
    private func effect(of row: Reloads.Reload, _ addressHash: UInt64) -> ReloadEffect {
        let instance = self.registry[row.instance]
        let kind = instance.kind
        return ReloadEffect(
            id: self.reloadID(at: row.position, of: row.instance, addressHash: addressHash),
            address: self.address(of: row.instance),
            kind: self.catalogue[kind].name,
            family: self.registry.family(of: row.instance),
            delivery: self.registry[instance.host].delivery,
            causes: row.causes,
            exemption: row.exemption,
            issuedAt: row.issuedAt,
            expiresAt: row.expiresAt,
            pushCount: Int(row.pushes.count),
            push: row.push
        )
    }

    /// The outstanding reloads of a host, in the order in which they were issued: a host gets them again when it
    /// reconnects.
    package func outstandingReloads(host: HostKey) -> [ReloadEffect] {
        guard let slot = self.registry.findHost(host) else { return [] }
        var found: [Reloads.Reload] = []
        var instance = self.registry[slot].firstInstance
        while !instance.isNone {
            self.reloads.forEach(in: self.schedule[active: instance].outstanding) { found.append($0) }
            instance = self.registry[instance].nextOfHost
        }
        // Instances come in the order of their ids, and the sort is stable.
        return found.sorted { $0.position < $1.position }.map { self.effect(of: $0) }
    }
}

extension Engine {
    /// A host, or its deliverer, reports the end of a reload. A report about a reload that a push to a token brings is
    /// about all reloads of that push, unless the host has been given another delivery since.
    mutating func acceptDelivery(_ report: DeliveryReport) -> RecordAnswer.Result {
        guard report.reload.partition == self.partition, let host = self.registry.findHost(report.host) else {
            return .delivery(known: false)
        }
        if let instance = self.liveInstance(of: report.reload, on: host),
            let named = self.findReload(report.reload.position, of: instance),
            !self.reloads[row: named].sharesToken || !self.registry[instance].isHostDriven
        {
            self.end(named, of: instance, by: report.result)
            self.decide(instance)
            return .delivery(known: true)
        }
        var touched: [InstanceNumber] = []
        for (instance, reload) in self.reloadsSharing(report.reload.position, of: host) {
            touched.append(instance)
            self.end(reload, of: instance, by: report.result)
        }
        for instance in touched { self.decide(instance) }
        return .delivery(known: !touched.isEmpty)
    }

    private mutating func end(_ reload: ReloadNumber, of instance: InstanceNumber, by result: DeliveryReport.Result) {
        switch result {
        case .acknowledged: self.acknowledge(reload, of: instance)
        case .refused:
            self.counters.reloadsRefused += 1
            let row = self.reloads[reload]
            if row.isCounted {
                self.refund(instance, in: row.window, chargedAt: row.issuedAt, isPush: row.isPush)
            }
            if self.registry[observed: instance].awaitsReport == row.issuedAt {
                self.registry[observed: instance].awaitsReport = .distantPast
            }
            self.end(reload, of: instance, .failed(.refused, .refused))
        }
    }

    /// Ends a reload of which its host has said that it did it.
    mutating func acknowledge(_ reload: ReloadNumber, of instance: InstanceNumber) {
        self.counters.reloadsAcknowledged += 1
        self.counters.acknowledgement.record(self.time - self.reloads[row: reload].issuedAt)
        self.end(reload, of: instance, .acknowledged)
    }

    /// Gives up the reloads that were not acknowledged in time. Their charge is kept. O(outstanding reloads of the instance).
    mutating func expireReloads(of instance: InstanceNumber) {
        var (previous, slot) = (ReloadNumber.none, self.schedule[active: instance].outstanding.first)
        while !slot.isNone {
            let reload = self.reloads[row: slot]
            if reload.expiresAt <= self.time {
                self.counters.reloadsUnacknowledged += 1
                self.end(slot, after: previous, of: instance, .failed(.unacknowledged, .unacknowledged))
            } else {
                previous = slot
            }
            slot = reload.next
        }
        self.reloads.refreshExpiry(of: &self.schedule[active: instance].outstanding)
    }

    /// An outstanding reload; nil if it has ended. O(outstanding reloads of the instance).
    func findReload(_ id: ReloadID) -> Reloads.Reload? {
        self.liveInstance(of: id).flatMap { self.findReload(id.position, of: $0) }.map { self.reloads[$0] }
    }

    /// The outstanding reload of an instance that was issued at a position; nil if it is not outstanding any more.
    /// O(outstanding reloads of the instance).
    func findReload(_ position: LogPosition, of instance: InstanceNumber) -> ReloadNumber? {
        self.reloads.find(position, in: self.schedule[active: instance].outstanding)
    }

    /// Ends every reload of an instance that is gone. O(outstanding reloads of the instance).
    mutating func removeReloads(of instance: InstanceNumber, _ reason: DecisionReason) {
        while !self.schedule[active: instance].outstanding.isEmpty {
            let first = self.schedule[active: instance].outstanding.first
            self.end(first, after: .none, of: instance, .removed(reason))
        }
    }

    /// Ends a reload and the pushes that it served, and forgets it. O(outstanding reloads of the instance).
    private mutating func end(_ reload: ReloadNumber, of instance: InstanceNumber, _ end: ReloadEnd) {
        let previous = self.reloads.previous(of: reload, in: self.schedule[active: instance].outstanding)
        self.end(reload, after: previous, of: instance, end)
        self.reloads.refreshExpiry(of: &self.schedule[active: instance].outstanding)
    }

    /// Ends one of many reloads, which lies behind `previous`, and the pushes that it served, and forgets it. O(1) beside its pushes: the
    /// caller has the earliest end of the others found.
    private mutating func end(
        _ reload: ReloadNumber,
        after previous: ReloadNumber,
        of instance: InstanceNumber,
        _ end: ReloadEnd
    ) {
        let row = self.reloads[reload]
        if case .acknowledged = end, let acceptedAt = self.oldestPush(of: row) {
            let news = Registry.Unshown(position: row.position, acceptedAt: acceptedAt)
            self.registry[content: instance].unshown = news
        }
        self.endPushes(of: row, end)
        self.reloads.remove(reload, after: previous, from: &self.schedule[active: instance].outstanding)
        let cause = row.causes.first
        var shown = Instant.distantPast
        switch end {
        case .acknowledged:
            // Causes that still wait, and other outstanding reloads, came after this one was issued.
            shown = row.issuedAt
            if row.generation == self.registry[instance].generation,
                row.position >= self.registry.confirmedBy(of: instance)
            {
                self.registry[content: instance].confirmedDigest = row.digest
                self.registry.setConfirmedBy(of: instance, row.position)
            }
            let outcome = row.exemption == nil ? PushOutcome.reloaded : .exempt
            self.noteDecision(instance, outcome, .acknowledged, cause: cause, push: row.push, exemption: row.exemption)
        case .failed(_, let reason):
            self.noteDecision(instance, .failed, reason, cause: cause, push: row.push, exemption: row.exemption)
            // The content is not what it should be: the timeline's policy asks anew, as it would have later.
            if !row.causes.isDisjoint(with: .lasting) {
                let retry = self.time + Self.retryInterval
                self.schedule[instance].timelineDue = min(self.schedule[instance].timelineDue, retry)
            }
        case .removed(let reason):
            self.noteDecision(instance, .removed, reason, cause: cause, push: row.push, exemption: row.exemption)
        }
        self.settle(instance, shownUpTo: shown)
    }

    /// When the oldest push that a reload serves was accepted; nil if it serves none.
    private func oldestPush(of row: Reloads.Reload) -> Instant? {
        var oldest: Instant?
        self.reloads.forEach(in: row.pushes) { _, match in
            let acceptedAt = self.ledger[match.push].acceptedAt
            oldest = min(oldest ?? acceptedAt, acceptedAt)
        }
        return oldest
    }

    private mutating func endPushes(of row: Reloads.Reload, _ end: ReloadEnd) {
        var slot = row.pushes.head
        while !slot.isNone {
            let match = self.reloads[slot]
            switch end {
            case .acknowledged:
                let outcome: PushOutcome =
                    slot != row.primary ? .coalesced : row.exemption == nil ? .reloaded : .exempt
                self.ledger.moveOutcome(of: match.push, from: .issued, to: outcome, at: self.time)
            case .failed(let failure, _):
                self.ledger.countFailure(of: match.push, failure)
                self.ledger.moveOutcome(of: match.push, from: .issued, to: .failed, at: self.time)
            case .removed:
                self.ledger.moveOutcome(of: match.push, from: .issued, to: .removed, at: self.time)
            }
            slot = match.next
        }
        self.reloads.release(row.pushes)
    }
}
