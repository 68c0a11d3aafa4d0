import WidgetModel

/// The pushes that wait for an instance: how they come to wait, and when they end without a reload.
extension Engine {
    /// Until when a waiting push is not decided, and why; `.distantFuture` if that hangs on something else than time.
    func wait(of match: Reloads.Match) -> (until: Instant, reason: DecisionReason) {
        let held = self.heldUntil(match)
        guard held <= self.time else {
            let isPaused = self.ledger.pausedUntil(self.ledger[match.push].team) > self.time
            return (held, isPaused ? .paused : .notBefore)
        }
        let active = self.schedule[active: match.instance]
        return (active.decidesAt, match.priority == .low ? .waitsForAnother : active.reason)
    }

    /// Until when another cause that waits for an instance is not decided, and why.
    func wait(of cause: ReloadCause, _ instance: InstanceNumber) -> (until: Instant, reason: DecisionReason) {
        let active = self.schedule[active: instance]
        if cause == .policy, let hold = self.hold(of: instance) { return (active.heldUntil, hold) }
        return (active.decidesAt, active.reason)
    }

    /// Why the timeline's own reload of an instance is held now; nil if it is not.
    @inline(__always)
    func hold(of instance: InstanceNumber) -> DecisionReason? {
        guard self.schedule[active: instance].heldUntil > self.time else { return nil }
        return self.slowedUntil(instance) > self.time ? .lowPower : .hidden
    }

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
        replacing replaced: MatchNumber?
    )
        -> Bool
    {
        if replaced == nil, !push.isOnce,
            Int(self.schedule[active: instance].pending.count) >= self.catalogue.limits.pendingPerInstanceMax
        {
            return self.enqueueWithoutRoom(push, instance)
        }
        self.ledger.countMatch(of: push.row, as: .deferred)
        self.enqueue(push, instance, replacing: replaced, .superseded, .collapseID)
        return true
    }

    /// Treats a push for which there is no room as one reload for all waiting pushes allows. O(1), unless it is the
    /// first of its urgency.
    private mutating func enqueueWithoutRoom(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        if self.isServed(push, instance) {
            self.ledger.countMatch(of: push.row, as: .coalesced)
            self.noteDecision(instance, .coalesced, .pendingLimit, push: push.id)
            // The reload's content is as new as this push.
            self.schedule[instance].hasPendingDigest = push.digest != nil
            if let digest = push.digest { self.registry[content: instance].pendingDigest = digest }
            return false
        }
        guard self.hastens(push, instance) else {
            self.ledger.countMatch(of: push.row, as: .failed)
            self.ledger.countFailure(of: push.row, .pendingLimit)
            self.noteDecision(instance, .failed, .pendingLimit, push: push.id)
            return false
        }
        // It makes the reload come sooner, for the one whose place it takes, too.
        self.ledger.countMatch(of: push.row, as: .deferred)
        self.enqueue(
            push,
            instance,
            replacing: self.schedule[active: instance].pending.tail,
            .coalesced,
            .pendingLimit
        )
        return true
    }

    /// Whether the reload that an instance waits for comes for the others that wait, and serves a push, too, wherever
    /// nothing but time passes until then.
    func isServed(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        let active = self.schedule[active: instance]
        return !active.pending.tail.isNone && !self.ledger.hasPausedSenders
            && self.schedule.joinsWaiting(instance, by: push, now: self.time)
            && self.reloads[active.pending.tail].expiresAt > active.decidesAt
    }

    /// Whether a push makes the reload for which others wait come sooner, the last of which is less urgent.
    func hastens(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        let tail = self.schedule[active: instance].pending.tail
        return !tail.isNone && push.heldUntil <= self.time && !self.schedule[instance].hasScheduled
            && !self.ledger.hasPausedSenders && !self.schedule.joinsWaiting(instance, by: push, now: self.time)
            && self.reloads[tail].priority.rawValue < push.priority.rawValue
    }

    /// Whether the instance is known to show this state of content: confirmed, and nothing else on its way.
    @inline(__always)
    func shows(_ instance: InstanceNumber, _ digest: ContentDigest) -> Bool {
        self.schedule.isIdle(instance, now: self.time)
            && self.registry[content: instance].confirmedDigest == digest
    }

    /// Whether a push that may not wait could be issued at this instant, in the place of one that it supersedes.
    func conforms(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        guard push.heldUntil <= self.time else { return false }
        let replaced = push.collapseTag == 0 ? nil : self.waiting(with: push, instance)
        if case .issue = self.plan(instance, with: push, replacing: replaced) { return true }
        return false
    }

    /// The plan for an instance if this push waited for it, too.
    ///
    /// - Parameters:
    ///   - replaced: A match that would not wait any more then. Its expiration still counts.
    ///   - funds: As for a demand.
    func plan(
        _ instance: InstanceNumber,
        with push: IncomingPush,
        replacing replaced: MatchNumber? = nil,
        funds: BudgetFunds? = nil
    ) -> Plan {
        var demand = self.demand(of: instance, without: replaced)
        if push.heldUntil > self.time {
            demand.heldUntil = min(demand.heldUntil, push.heldUntil)
        } else {
            if push.priority == .high { demand.high = true }
            if push.priority == .normal { demand.normal = true }
        }
        let due = self.schedule[instance].timelineDue
        if due <= self.time, !self.registry[instance].isHostDriven,
            self.policyHeldUntil(instance, due: due, funds?.terms) <= self.time
        {
            demand.waiting.insert(ReloadCauses(.policy))
        }
        demand.minExpiry = min(demand.minExpiry, push.expiresAt)
        return self.plan(instance, demand, funds)
    }

    /// The match of a waiting push with the same collapse id of the same team.
    @inline(__always)
    func waiting(with push: IncomingPush, _ instance: InstanceNumber) -> MatchNumber? {
        var slot = self.schedule[active: instance].pending.head
        while !slot.isNone {
            if self.reloads[slot].collapseTag == push.collapseTag {
                let other = self.reloads[slot].push
                if self.ledger[other].team == self.ledger[push.row].team,
                    self.ledger.pushes.collapseID(of: other) == self.ledger.pushes.collapseID(of: push.row)
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
        replacing replaced: MatchNumber?,
        _ end: PushOutcome,
        _ reason: DecisionReason
    ) {
        let match = Reloads.Match(
            push: push.row,
            instance: instance,
            collapseTag: push.collapseTag,
            expiresAt: push.expiresAt,
            priority: push.priority,
            isScheduled: push.notBefore > self.time
        )
        if let replaced {
            let old = self.reloads[replaced]
            self.schedule[active: instance].count(old.priority, -1)
            self.reloads.replace(replaced, with: match)
            self.ledger.moveOutcome(of: old.push, from: .deferred, to: end, at: self.time)
            self.noteDecision(instance, end, reason, push: self.ledger[old.push].id)
            if old.expiresAt <= self.schedule[active: instance].minExpiry { self.refreshExpiry(of: instance) }
        } else {
            self.reloads.append(match, to: &self.schedule[active: instance].pending)
        }
        self.schedule.countWaiting(push, to: instance, isScheduled: match.isScheduled)
        if !match.isScheduled, let digest = push.digest { self.registry[content: instance].pendingDigest = digest }
    }

    /// Finds the earliest end of a waiting push again. O(waiting).
    mutating func refreshExpiry(of instance: InstanceNumber) {
        var earliest = Instant.distantFuture
        self.reloads.forEach(in: self.schedule[active: instance].pending) { earliest = min(earliest, $1.expiresAt) }
        self.schedule[active: instance].minExpiry = earliest
    }

    /// Ends a push that waits for an instance. O(1).
    mutating func endPending(
        _ number: MatchNumber,
        of instance: InstanceNumber,
        _ end: PushOutcome,
        _ reason: DecisionReason
    ) {
        let (push, priority) = (self.reloads[number].push, self.reloads[number].priority)
        self.reloads.remove(number, from: &self.schedule[active: instance].pending)
        self.schedule[active: instance].count(priority, -1)
        let id = self.ledger[push].id
        self.ledger.moveOutcome(of: push, from: .deferred, to: end, at: self.time)
        self.noteDecision(instance, end, reason, push: id)
    }

    /// Ends the waiting pushes whose time is over. O(waiting).
    mutating func expirePending(of instance: InstanceNumber) {
        var earliest = Instant.distantFuture
        var slot = self.schedule[active: instance].pending.head
        while !slot.isNone {
            let match = self.reloads[slot]
            if match.expiresAt <= self.time {
                self.endPending(slot, of: instance, .expired, .expiration)
            } else {
                earliest = min(earliest, match.expiresAt)
            }
            slot = match.next
        }
        self.schedule[active: instance].minExpiry = earliest
        if self.schedule[active: instance].pending.count == 0 { self.schedule[instance].hasScheduled = false }
    }
}
