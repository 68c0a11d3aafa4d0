import Storage
import WidgetModel

/// The bookkeeping of phases, see ``Phase``. The first change of its active row ends an instance's rest. The engine makes the
/// transitions, and ends each with ``Engine/settle(_:shownUpTo:)``: that counts the instance as behind or not, and gives a blank row
/// back.
extension Schedule {
    /// The phase of an instance.
    @inline(__always)
    func phase(of instance: InstanceNumber) -> Phase {
        let row = self[active: instance]
        return Phase(isWaiting: row.isWaiting, isOutstanding: !row.outstanding.isEmpty)
    }

    /// An instance's fields while it is not at rest: a blank row at rest. A change makes it active, until
    /// ``settle(_:as:of:at:shownUpTo:)`` finds the row blank.
    @inline(__always)
    subscript(active instance: InstanceNumber) -> ActiveRow {
        _read { yield self.active[self.resting[instance.index].active] }
        _modify {
            if !self.resting[instance.index].isActive {
                self.resting[instance.index].active = self.active.insert(of: .init(instance: instance, since: 0))
            }
            yield &self.active[self.resting[instance.index].active]
        }
    }

    /// Ends a transition: counts an active instance by its present state, and brings it to rest if nothing waits for it any more and
    /// no reload is outstanding.
    ///
    /// - Parameters:
    ///   - reason: Why it is behind now; nil if it is not. Precondition: nil if its active row is blank.
    ///   - kind: Its kind.
    ///   - now: The log's time.
    ///   - shown: The host shows all content that was due up to here, so the instance is behind since then at the earliest.
    @inline(__always)
    mutating func settle(
        _ instance: InstanceNumber,
        as reason: BehindReason?,
        of kind: KindNumber,
        at now: Instant,
        shownUpTo shown: Instant = .distantPast
    ) {
        let number = self.resting[instance.index].active
        guard number != ActiveTable.rest else { return }
        if self.active[number].behind != reason || (reason != nil && shown != .distantPast) {
            self.recount(number, as: reason, of: kind, at: now, shownUpTo: shown)
        }
        if self.active[number].isBlank { self.endActive(instance) }
    }

    @inline(__always)
    private mutating func recount(
        _ number: Number<ActiveRow>,
        as reason: BehindReason?,
        of kind: KindNumber,
        at now: Instant,
        shownUpTo shown: Instant
    ) {
        let second = UInt32(clamping: now.seconds)
        self.behind.advance(to: second)
        var since = second
        if let before = self.active[number].behind {
            since = min(second, max(self.active[owner: number].since, UInt32(clamping: shown.seconds)))
            self.behind.remove(kind, before, since: self.active[owner: number].since)
        }
        if let reason { self.behind.add(kind, reason, since: since) }
        self.active[number].behind = reason
        self.active[owner: number].since = reason == nil ? 0 : since
    }

    private mutating func endActive(_ instance: InstanceNumber) {
        self.active.release(self.resting[instance.index].active)
        self.resting[instance.index].active = ActiveTable.rest
    }

    /// Notes that nothing is to be decided, once the last waiting push is taken out of the row, and the last other cause.
    @inline(__always)
    mutating func endWaiting(_ instance: InstanceNumber) {
        if self[instance].isActive { self[active: instance].endWaiting() }
        self[instance].hasPendingDigest = false
    }

    /// Counts a push that waits from now on, once it is on the row's list; the caller keeps its digest in the registry.
    @inline(__always)
    mutating func countWaiting(_ push: IncomingPush, to instance: InstanceNumber, isScheduled: Bool) {
        self[active: instance].count(push.priority, 1)
        self[active: instance].minExpiry = min(self[active: instance].minExpiry, push.expiresAt)
        if isScheduled {
            self[instance].hasScheduled = true
        } else {
            self[instance].hasPendingDigest = push.digest != nil
        }
    }

    /// Brings an instance that is removed to rest; its budget stays until ``release(_:)``. Precondition: no push waits for it, and its
    /// reloads have ended.
    mutating func remove(_ instance: InstanceNumber, of kind: KindNumber, at now: Instant) {
        let number = self.resting[instance.index].active
        if number != ActiveTable.rest {
            self.recount(number, as: nil, of: kind, at: now, shownUpTo: .distantPast)
            self.endActive(instance)
        }
        self[instance].hasScheduled = false
        self[instance].hasPendingDigest = false
        self[instance].timelineDue = .distantFuture
        self[cold: instance].visibleUntil = .distantPast
    }

    /// Whether nothing waits for an instance, is due or is outstanding.
    func isIdle(_ instance: InstanceNumber, now: Instant) -> Bool {
        self.phase(of: instance) == .atRest && self[instance].timelineDue > now
    }

    /// Whether a push changes nothing about when an instance is decided: a cause that is as urgent waits already, none is due or held,
    /// and the push expires after the decision, or after another waiting push. O(1).
    @inline(__always)
    func joinsWaiting(_ instance: InstanceNumber, by push: IncomingPush, now: Instant) -> Bool {
        let row = self[instance]
        guard row.isActive, !push.isOnce, push.heldUntil <= now, !row.hasScheduled else { return false }
        let active = self[active: instance]
        guard row.timelineDue > now, active.decidesAt > now, active.heldUntil <= now else { return false }
        // With nothing to decide, the timer stands for the earliest expiry.
        let isLater =
            push.expiresAt > active.decidesAt
            || (active.decidesAt == .distantFuture && active.minExpiry <= push.expiresAt)
        guard isLater else { return false }
        switch push.priority {
        case .low: return active.isWaiting
        case .normal: return !active.waiting.isEmpty || active.high > 0 || active.normal > 0
        case .high: return !active.waiting.isEmpty || active.high > 0
        }
    }
}
