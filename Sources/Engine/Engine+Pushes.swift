import IntentMatching
import WidgetModel

/// An accepted push, ready to be decided for each instance that it matches.
struct IncomingPush: Sendable {
    /// Its row in the ledger.
    var row: PushNumber
    let id: PushID
    let priority: Priority
    /// Milliseconds.
    let expiresAt: Int64
    /// Reloads at its log instant or ends `expired`.
    let isOnce: Bool
    /// Milliseconds; `.min` if there is none or it has come already.
    let notBefore: Int64
    /// Until when it may not reload, by its not-before or since its sender is paused, in milliseconds.
    let heldUntil: Int64
    /// 0 if it has no collapse id.
    let collapseTag: UInt32
    let digest: ContentDigest?
}

/// Whom a push is for.
struct PushAudience {
    enum Reach {
        case nobody
        case host(HostNumber)
        case app(AppNumber)
    }

    /// The app that the target belongs to, if it is known.
    var app: AppNumber?
    var reach: Reach
    var kind: KindNumber?
    let pattern: MatchPattern?
    /// What the conditions of instances ask for.
    let attributes: Configuration
}

extension Engine {
    /// Applies a push: recognises a repeat, opens its row in the ledger, and decides it for every instance it matches.
    ///
    /// - Returns: Nil if its matches are queued, see ``MatchWork``.
    mutating func acceptPush(_ record: IncomingPushRecord) -> RecordAnswer.Result? {
        let (head, team) = (record.head, record.team)
        let key = self.repeatKey(head, team: team, record.bytes)
        // A push to an app is a record of every partition and still one push: the first partition counts it.
        let isCounted = head.target != .app || self.partition.rawValue == 0
        if let known = self.repeats.find(head.id, key: key) {
            self.counters.pushesRepeated += isCounted ? 1 : 0
            self.accounts[team].repeats += isCounted ? 1 : 0
            self.ledger.noteRepeat(head.id, team: team, contentHash: head.contentHash)
            return .push(matched: self.repeats.matched(known), isRepeat: true)
        }
        self.counters.pushesAccepted += isCounted ? 1 : 0
        let audience = self.audience(head, record.pattern, record.attributes, record.bytes)
        let push = self.open(head, team: team, app: audience.app, record.bytes)
        let repeatSlot = self.repeats.insert(head.id, key: key, at: self.time)
        if self.isTooMany(audience, head, record.bytes) {
            self.counters.pushesFailed += 1
            self.ledger.fail(push.row, .tooMany)
        } else {
            switch audience.reach {
            case .nobody: break
            case .host(let host): self.decidePush(push, on: host, head, audience, record.bytes)
            case .app(let app):
                let matches = self.matching(audience, app: app)
                self.work.push(.matches(MatchWork(push, matches, repeatSlot: repeatSlot, isCounted: isCounted)))
                return nil
            }
        }
        return self.close(push, repeatSlot: repeatSlot, isCounted: isCounted)
    }

    /// Ends the matching of a push.
    mutating func close(_ push: IncomingPush, repeatSlot: Int, isCounted: Bool) -> RecordAnswer.Result {
        self.ledger.close(push.row, at: self.time)
        self.accounts.note(self.ledger[push.row], isCounted: isCounted)
        let matched = Int(self.ledger[push.row].matched)
        self.repeats.setMatched(repeatSlot, matched)
        return .push(matched: matched, isRepeat: false)
    }

    /// Whether a push matches more instances than it may. It was asked before the push was logged, and others may have
    /// registered since.
    private mutating func isTooMany(_ audience: PushAudience, _ head: PushHead, _ bytes: [UInt8]) -> Bool {
        guard let matchedMax = head.matchedMax else { return false }
        if case .app = audience.reach { self.index.finishLoading() }
        return self.count(matching: audience, head, bytes) > matchedMax
    }

    /// What makes a push the same as an earlier one, beside its id. Part of the decision rules: the seed is fixed.
    @inline(__always)
    func repeatKey(_ head: PushHead, team: TeamNumber, _ bytes: [UInt8]) -> UInt64 {
        var key = ByteHash.mix(head.contentHash ^ UInt64(head.target.rawValue) << 32 ^ UInt64(team.raw))
        key = ByteHash.mix(key ^ ByteHash.of(bytes, in: head.targetName, seed: 1))
        return head.instance.isEmpty ? key : ByteHash.mix(key ^ ByteHash.of(bytes, in: head.instance, seed: 2))
    }

    /// Whom a push is for, in the engine's numbers.
    func audience(
        _ head: PushHead,
        _ pattern: MatchPattern?,
        _ attributes: Configuration,
        _ bytes: [UInt8]
    ) -> PushAudience {
        var audience = PushAudience(app: nil, reach: .nobody, kind: nil, pattern: pattern, attributes: attributes)
        if head.target == .app {
            guard let app = self.apps.names.find(bytes, in: head.targetName), self.apps[app].isConfigured
            else { return audience }
            audience.app = app
            audience.reach = .app(app)
        } else {
            guard let host = self.hosts.find(bytes, in: head.targetName) else {
                audience.app = self.app(ofHost: bytes[head.targetName])
                return audience
            }
            audience.app = self.hosts[host].app
            guard self.hosts[host].isRegistered else { return audience }
            audience.reach = .host(host)
        }
        guard head.flags.contains(.kind), let app = audience.app else { return audience }
        audience.kind = self.apps[app].kinds.first {
            self.apps[$0].name.rawValue.equals(bytes, in: head.kind)
        }
        if audience.kind == nil { audience.reach = .nobody }
        return audience
    }

    /// The app of a host's key, see ``HostKey/text``; nil if it is not configured here.
    private func app(ofHost key: ArraySlice<UInt8>) -> AppNumber? {
        guard let separator = key.firstIndex(of: 0) else { return nil }
        let bytes = Array(key[..<separator])
        guard let app = self.apps.names.find(bytes, in: bytes.indices), self.apps[app].isConfigured else {
            return nil
        }
        return app
    }

    /// Resolves what the headers mean at the log's time, and opens the push's row.
    private mutating func open(_ head: PushHead, team: TeamNumber, app: AppNumber?, _ bytes: [UInt8]) -> IncomingPush {
        var push = self.resolve(head, team: team, app: app, bytes)
        push.row = self.ledger.open(
            PushLedger.Row(
                id: head.id,
                team: team,
                app: app ?? .none,
                priority: push.priority,
                isForApp: head.target == .app,
                contentHash: head.contentHash,
                position: self.position,
                acceptedAt: self.time,
                expiresAt: Instant(milliseconds: push.expiresAt),
                notBefore: push.notBefore == .min ? .epoch : Instant(milliseconds: push.notBefore),
                hasCollapseID: !head.collapseID.isEmpty
            ),
            collapseID: bytes[head.collapseID]
        )
        return push
    }

    /// What a push's headers mean at the log's time.
    @inline(__always)
    func resolve(_ head: PushHead, team: TeamNumber, app: AppNumber?, _ bytes: [UInt8]) -> IncomingPush {
        let notBefore = head.flags.contains(.notBefore) && head.notBefore > self.time ? head.notBefore : nil
        var waits = Interval.hours(4)
        var priority = Priority.normal
        if let app {
            waits = self.apps[app].defaultExpiration
            priority = self.apps[app].defaultPriority
        }
        let expiresAt: Instant
        if head.flags.contains(.expiration) {
            let date = min(Instant(seconds: head.expiration), self.time + Self.expirationMax)
            expiresAt = max(self.time, date)
        } else {
            expiresAt = (notBefore ?? self.time) + waits
        }
        let tag =
            head.collapseID.isEmpty
            ? 0 : UInt32(truncatingIfNeeded: ByteHash.of(bytes, in: head.collapseID, seed: 3)) | 1
        return IncomingPush(
            row: .none,
            id: head.id,
            priority: head.priority ?? priority,
            expiresAt: expiresAt.milliseconds,
            isOnce: expiresAt <= self.time,
            notBefore: notBefore?.milliseconds ?? .min,
            heldUntil: max(notBefore?.milliseconds ?? .min, self.pausedUntil(team: team)),
            collapseTag: tag,
            digest: head.flags.contains(.digest) ? ContentDigest(team: team, bytes: Array(bytes[head.digest])) : nil
        )
    }

    /// Decides a push for the instances of its host that it matches.
    private mutating func decidePush(
        _ push: IncomingPush,
        on host: HostNumber,
        _ head: PushHead,
        _ audience: PushAudience,
        _ bytes: [UInt8]
    ) {
        if self.hosts[host].delivery == .apns {
            let matched = self.matching(host: host, head, audience, bytes)
            for together in self.byToken(matched) { self.decidePush(push, throughToken: together) }
            return
        }
        var instance = self.hosts[host].firstInstance
        while !instance.isNone {
            let next = self.instances[instance].nextOfHost
            if self.isMatched(instance, head, audience, bytes) { self.decidePush(push, for: instance) }
            instance = next
        }
    }

    /// Whether a push to a host is for this instance of it.
    func isMatched(_ instance: InstanceNumber, _ head: PushHead, _ audience: PushAudience, _ bytes: [UInt8]) -> Bool {
        guard self.instances[instance].isLive, self.instances[instance].pushEnabled else { return false }
        guard audience.kind == nil || audience.kind == self.instances[instance].kind else { return false }
        guard self.isAddressed(instance, head, bytes) else { return false }
        if self.instances[instance].isConditional, !self.isFulfilled(instance, audience.attributes) { return false }
        guard let pattern = audience.pattern else { return true }
        return self.matches(instance, pattern)
    }

    /// A control has a token of its own; a host's token stands for all the others.
    @inline(__always)
    private func isAddressed(_ instance: InstanceNumber, _ head: PushHead, _ bytes: [UInt8]) -> Bool {
        guard head.target == .instance else { return !self.instances[instance].isControl }
        return self.instances.id(of: instance).rawValue.equals(bytes, in: head.instance)
    }

    private func isFulfilled(_ instance: InstanceNumber, _ attributes: Configuration) -> Bool {
        self.instances[particulars: instance].when?.holds(for: attributes) ?? true
    }

    func matches(_ instance: InstanceNumber, _ pattern: MatchPattern) -> Bool {
        pattern.matches(
            MatchSubject(
                configuration: self.instances.configuration(of: instance),
                family: self.instances.family(of: instance),
                host: self.hosts.id(of: self.instances[instance].host),
                tags: self.instances[particulars: instance].tags,
                schema: self.apps[self.instances[instance].kind].schema
            )
        )
    }

    /// Decides a push for one instance that it matches.
    mutating func decidePush(_ push: IncomingPush, for instance: InstanceNumber) {
        self.openWindow(of: instance)
        let hasExpired = self.instances[instance].minExpiry <= self.now
        if hasExpired { self.expirePending(of: instance) }
        self.match(push, instance, mayJoin: !hasExpired)
        // What expired between two seconds, before its timer came, had a part in when the rest is due.
        if hasExpired { self.decide(instance) }
    }

    /// - Parameter mayJoin: Whether the instance's dates are those of what waits for it now.
    @inline(__always)
    private mutating func match(_ push: IncomingPush, _ instance: InstanceNumber, mayJoin: Bool) {
        if let digest = push.digest, self.shows(instance, digest) {
            self.ledger.match(push.row, as: .unchanged)
            return self.note(instance, .unchanged, .sameDigest, push: push.id)
        }
        if push.isOnce, !self.conforms(push, instance) {
            self.ledger.match(push.row, as: .expired)
            return self.note(instance, .expired, .expiration, push: push.id)
        }
        let joined =
            mayJoin && self.senderPauses.isEmpty && self.instances[instance].isJoined(by: push, now: self.now)
        let replaced = push.collapseTag == 0 ? nil : self.waiting(with: push, instance)
        guard self.enqueueIfPossible(push, instance, replacing: replaced) else { return }
        if joined, replaced == nil {
            // What waited already is decided first, and this with it: nothing else changes.
            return self.note(
                instance,
                .deferred,
                push.priority == .low ? .waitsForAnother : self.instances[instance].reason,
                push: push.id,
                until: self.instances[instance].decidesAt
            )
        }
        let reloads = self.instances[instance].lastReload
        self.decide(instance, isOnce: push.isOnce)
        if push.notBefore > self.now {
            self.note(instance, .deferred, .notBefore, push: push.id, until: push.notBefore)
        } else if self.instances[instance].lastReload == reloads {
            self.note(
                instance,
                .deferred,
                push.priority == .low ? .waitsForAnother : self.instances[instance].reason,
                push: push.id,
                until: self.instances[instance].decidesAt
            )
        }
    }

    /// Puts a push among those that wait for an instance, in the place of one that it supersedes.
    mutating func enqueueIfPossible(_ push: IncomingPush, _ instance: InstanceNumber) -> Bool {
        let replaced = push.collapseTag == 0 ? nil : self.waiting(with: push, instance)
        return self.enqueueIfPossible(push, instance, replacing: replaced)
    }

    /// - Returns: Whether there was room for it; else it has ended `failed`.
    @inline(__always)
    private mutating func enqueueIfPossible(
        _ push: IncomingPush,
        _ instance: InstanceNumber,
        replacing replaced: CauseNumber?
    )
        -> Bool
    {
        if replaced == nil, !push.isOnce,
            Int(self.instances[instance].pending.count) >= self.limits.pendingPerInstanceMax
        {
            self.ledger.match(push.row, as: .failed)
            self.ledger.noteFailure(push.row, .pendingLimit)
            self.note(instance, .failed, .pendingLimit, push: push.id)
            return false
        }
        self.ledger.match(push.row, as: .deferred)
        self.enqueue(push, instance, replacing: replaced)
        return true
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
    private func waiting(with push: IncomingPush, _ instance: InstanceNumber) -> CauseNumber? {
        var slot = self.instances[instance].pending.head
        while !slot.isNone {
            if self.causes[slot].collapseTag == push.collapseTag {
                let other = self.causes[slot].push
                if self.ledger[other].team == self.ledger[push.row].team,
                    self.ledger.collapseID(other) == self.ledger.collapseID(push.row)
                {
                    return slot
                }
            }
            slot = self.causes[slot].next
        }
        return nil
    }

    /// Puts a push among those that wait: at the end, or in the place of one that it supersedes.
    private mutating func enqueue(_ push: IncomingPush, _ instance: InstanceNumber, replacing replaced: CauseNumber?) {
        let node = PendingCauses.Node(
            push: push.row,
            collapseTag: push.collapseTag,
            expiresAt: push.expiresAt,
            priority: push.priority,
            isScheduled: push.notBefore > self.now
        )
        if let replaced {
            let old = self.causes[replaced]
            self.count(old.priority, -1, instance)
            self.causes.replace(replaced, with: node)
            self.ledger.move(old.push, from: .deferred, to: .superseded, at: self.time)
            self.note(instance, .superseded, .collapseID, push: self.ledger[old.push].id)
            if old.expiresAt <= self.instances[instance].minExpiry { self.refreshExpiry(of: instance) }
        } else {
            self.causes.append(node, to: &self.instances[instance].pending)
        }
        self.instances[instance].take(push, isScheduled: node.isScheduled)
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
            earliest = min(earliest, self.causes[slot].expiresAt)
            slot = self.causes[slot].next
        }
        self.instances[instance].minExpiry = earliest
    }

    /// Ends the waiting pushes whose time is over. O(waiting).
    mutating func expirePending(of instance: InstanceNumber) {
        var earliest = Int64.max
        var slot = self.instances[instance].pending.head
        while !slot.isNone {
            let node = self.causes[slot]
            if node.expiresAt <= self.now {
                self.causes.remove(slot, from: &self.instances[instance].pending)
                self.count(node.priority, -1, instance)
                let id = self.ledger[node.push].id
                self.ledger.move(node.push, from: .deferred, to: .expired, at: self.time)
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

    /// Notes what a push that waits from now on changes; its digest, if it has one, is for the details. All in one change
    /// of the row, since each is preceded by a look at whether the table is shared.
    @inline(__always)
    mutating func take(_ push: IncomingPush, isScheduled: Bool) {
        self.count(push.priority, 1)
        self.minExpiry = min(self.minExpiry, push.expiresAt)
        if isScheduled { self.hasScheduled = true } else { self.hasPendingDigest = push.digest != nil }
    }

    /// Whether nothing waits for the instance, is due or is out.
    func isIdle(now: Int64) -> Bool {
        self.pending.count == 0 && self.waiting.isEmpty && self.firstReload.isNone
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
