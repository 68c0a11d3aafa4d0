import WidgetModel

/// The pushes that wait for an instance: how they come to wait, and when they end without a reload.
extension Engine {
    /// Puts a push among those that wait for an instance, in the place of one that it supersedes.
    mutating func enqueueIfPossible(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        let replaced = push.collapseTag == 0 ? nil : self.waiting(with: push, instance)
        return self.enqueueIfPossible(push, instance, replacing: replaced)
    }

    /// - Returns: Whether it waits now; else it has ended, since there was no room for it: `coalesced` where the reload that
    ///   others wait for serves it, too, `failed` where that is not known.
    @inline(__always)
    mutating func enqueueIfPossible(
        _ push: IncomingPush,
        _ instance: InstanceNumber,
        replacing replaced: CauseNumber?
    )
        -> Bool
    {
        if replaced == nil, !push.isOnce,
            Int(self.instances[instance].pending.count) >= self.catalogue.limits.pendingPerInstanceMax
        {
            return self.enqueueWithoutRoom(push, instance)
        }
        self.ledger.countMatch(of: push.row, as: .deferred)
        self.enqueue(push, instance, replacing: replaced, .superseded, .collapseID)
        return true
    }

    /// Does with a push for which there is no room what one reload for all that wait allows. O(1), unless it is the first of
    /// its urgency.
    private mutating func enqueueWithoutRoom(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        if self.isServed(push, instance) {
            self.ledger.countMatch(of: push.row, as: .coalesced)
            self.note(instance, .coalesced, .pendingLimit, push: push.id)
            // What the reload brings is as new as this push.
            self.instances[instance].hasPendingDigest = push.digest != nil
            if let digest = push.digest { self.instances[content: instance].pendingDigest = digest }
            return false
        }
        guard self.hastens(push, instance) else {
            self.ledger.countMatch(of: push.row, as: .failed)
            self.ledger.countFailure(of: push.row, .pendingLimit)
            self.note(instance, .failed, .pendingLimit, push: push.id)
            return false
        }
        // It makes the reload come sooner, for the one whose place it takes, too.
        self.ledger.countMatch(of: push.row, as: .deferred)
        self.enqueue(push, instance, replacing: self.instances[instance].pending.tail, .coalesced, .pendingLimit)
        return true
    }

    /// Whether the reload that an instance waits for comes for the others that wait, and serves a push, too, wherever
    /// nothing but time passes until then.
    func isServed(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        let row = self.instances[instance]
        return !row.pending.tail.isNone && !self.ledger.hasPausedSenders && row.isJoined(by: push, now: self.now)
            && self.reloads[row.pending.tail].expiresAt > row.decidesAt
    }

    /// Whether a push makes the reload for which others wait come sooner, the last of which is less urgent.
    func hastens(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        let row = self.instances[instance]
        return !row.pending.tail.isNone && push.heldUntil <= self.now && !row.hasScheduled
            && !self.ledger.hasPausedSenders && !row.isJoined(by: push, now: self.now)
            && self.reloads[row.pending.tail].priority.rawValue < push.priority.rawValue
    }

    /// Whether the instance is known to show this state of content: confirmed, and nothing else on its way.
    @inline(__always)
    func shows(_ instance: InstanceNumber, _ digest: ContentDigest) -> Bool {
        self.instances[instance].isIdle(now: self.now)
            && self.instances[content: instance].confirmedDigest == digest
    }

    /// Whether a push could be issued at this instant.
    func conforms(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        guard push.heldUntil <= self.now else { return false }
        if case .issue = self.plan(instance, with: push) { return true }
        return false
    }

    /// What would be done about an instance if this push waited for it, too.
    ///
    /// - Parameter funds: As for a demand.
    func plan(_ instance: InstanceNumber, with push: IncomingPush, _ funds: BudgetFunds? = nil) -> Plan {
        var demand = self.demand(of: instance)
        if push.heldUntil > self.now {
            demand.heldUntil = min(demand.heldUntil, push.heldUntil)
        } else {
            if push.priority == .high { demand.high = true }
            if push.priority == .normal { demand.normal = true }
        }
        if self.instances[instance].timelineDue <= self.now, !self.instances[instance].isHostDriven {
            demand.waiting.insert(ReloadCauses(.policy))
        }
        demand.minExpiry = min(demand.minExpiry, push.expiresAt)
        return self.plan(instance, demand, funds)
    }

    /// The node of a waiting push with the same collapse id of the same team.
    @inline(__always)
    func waiting(with push: IncomingPush, _ instance: InstanceNumber) -> CauseNumber? {
        var slot = self.instances[instance].pending.head
        while !slot.isNone {
            if self.reloads[slot].collapseTag == push.collapseTag {
                let other = self.reloads[slot].push
                if self.ledger[other].team == self.ledger[push.row].team,
                    self.ledger.collapseID(of: other) == self.ledger.collapseID(of: push.row)
                {
                    return slot
                }
            }
            slot = self.reloads[slot].next
        }
        return nil
    }

    /// Puts a push among those that wait: at the end, or in the place of one that ends for it.
    private mutating func enqueue(
        _ push: IncomingPush,
        _ instance: InstanceNumber,
        replacing replaced: CauseNumber?,
        _ end: PushOutcome,
        _ reason: DecisionReason
    ) {
        let node = Reloads.Cause(
            push: push.row,
            collapseTag: push.collapseTag,
            expiresAt: push.expiresAt,
            priority: push.priority,
            isScheduled: push.notBefore > self.now
        )
        if let replaced {
            let old = self.reloads[replaced]
            self.count(old.priority, -1, instance)
            self.reloads.replace(replaced, with: node)
            self.ledger.moveOutcome(of: old.push, from: .deferred, to: end, at: self.time)
            self.note(instance, end, reason, push: self.ledger[old.push].id)
            if old.expiresAt <= self.instances[instance].minExpiry { self.refreshExpiry(of: instance) }
        } else {
            self.reloads.append(node, to: &self.instances[instance].pending)
        }
        self.instances[instance].addWaiting(push, isScheduled: node.isScheduled)
        if !node.isScheduled, let digest = push.digest { self.instances[content: instance].pendingDigest = digest }
    }

    /// Counts a push in or out of its class.
    @inline(__always)
    mutating func count(_ priority: Priority, _ change: Int32, _ instance: InstanceNumber) {
        self.instances[instance].count(priority, change)
    }

    /// Finds the earliest end of a waiting push again. O(waiting).
    mutating func refreshExpiry(of instance: InstanceNumber) {
        var earliest = Int64.max
        var slot = self.instances[instance].pending.head
        while !slot.isNone {
            earliest = min(earliest, self.reloads[slot].expiresAt)
            slot = self.reloads[slot].next
        }
        self.instances[instance].minExpiry = earliest
    }

    /// Ends the waiting pushes whose time is over. O(waiting).
    mutating func expirePending(of instance: InstanceNumber) {
        var earliest = Int64.max
        var slot = self.instances[instance].pending.head
        while !slot.isNone {
            let node = self.reloads[slot]
            if node.expiresAt <= self.now {
                self.reloads.remove(slot, from: &self.instances[instance].pending)
                self.count(node.priority, -1, instance)
                let id = self.ledger[node.push].id
                self.ledger.moveOutcome(of: node.push, from: .deferred, to: .expired, at: self.time)
                self.note(instance, .expired, .expiration, push: id)
            } else {
                earliest = min(earliest, node.expiresAt)
            }
            slot = node.next
        }
        self.instances[instance].minExpiry = earliest
        if self.instances[instance].pending.count == 0 { self.instances[instance].hasScheduled = false }
    }
}

extension InstanceTable.Row {
    /// Notes until when what waits is not decided, and why.
    @inline(__always)
    mutating func wait(until: Int64, _ reason: DecisionReason) {
        self.decidesAt = until
        self.reason = reason
    }

    /// Counts a push in or out of its class.
    @inline(__always)
    mutating func count(_ priority: Priority, _ change: Int32) {
        switch priority {
        case .high: self.high = UInt32(Int32(self.high) + change)
        case .normal: self.normal = UInt32(Int32(self.normal) + change)
        case .low: break
        }
    }

    /// Notes what a push that waits from now on changes; its digest, if it has one, is for the details.
    @inline(__always)
    mutating func addWaiting(_ push: IncomingPush, isScheduled: Bool) {
        self.count(push.priority, 1)
        self.minExpiry = min(self.minExpiry, push.expiresAt)
        if isScheduled { self.hasScheduled = true } else { self.hasPendingDigest = push.digest != nil }
    }

    /// Whether nothing waits for the instance, is due or is out.
    func isIdle(now: Int64) -> Bool {
        self.pending.count == 0 && self.waiting.isEmpty && self.outstanding.isEmpty
            && self.timelineDue > now
    }

    /// Whether a push changes nothing about when the instance is decided: something at least as urgent waits already,
    /// or the push never reloads by itself, and it does not expire before. O(1).
    @inline(__always)
    func isJoined(by push: IncomingPush, now: Int64) -> Bool {
        guard !push.isOnce, push.heldUntil <= now, !self.hasScheduled else { return false }
        guard self.timelineDue > now, self.decidesAt > now, self.heldUntil <= now else { return false }
        // With nothing to decide, the timer stands for the earliest expiry.
        let isLater = push.expiresAt > self.decidesAt || (self.decidesAt == .max && self.minExpiry <= push.expiresAt)
        guard isLater else { return false }
        switch push.priority {
        case .low: return self.pending.count > 0 || !self.waiting.isEmpty
        case .normal: return !self.waiting.isEmpty || self.high > 0 || self.normal > 0
        case .high: return !self.waiting.isEmpty || self.high > 0
        }
    }
}
