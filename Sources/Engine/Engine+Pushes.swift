import IntentMatching
import WidgetModel

extension Engine {
    /// Applies a push: recognises a repeat, opens its row in the ledger, and decides it for every instance it matches.
    ///
    /// - Returns: Nil if its matches are queued, see ``MatchWork``.
    mutating func acceptPush(_ record: IncomingPushRecord) -> RecordAnswer.Result? {
        let (head, team) = (record.head, record.team)
        let key = self.repeatKey(head, team: team, record.bytes)
        // A push to an app is a record of every partition and still one push: the first partition counts it.
        let isCounted = head.target != .app || self.partition.rawValue == 0
        if let matched = self.ledger.countRepeat(head, key: key, team: team, isCounted: isCounted) {
            self.counters.pushesRepeated += isCounted ? 1 : 0
            return .push(matched: matched, isRepeat: true)
        }
        self.counters.pushesAccepted += isCounted ? 1 : 0
        let audience = self.audience(head, record.pattern, record.attributes, record.bytes)
        let push = self.open(head, team: team, app: audience.app, key: key, record.bytes)
        switch audience.reach {
        case .nobody: break
        case .host(let host):
            if let matchedMax = head.matchedMax,
                self.matching(host: host, head, audience, record.bytes).count > matchedMax
            {
                return self.fail(push, isCounted: isCounted)
            }
            self.decidePush(push, on: host, head, audience, record.bytes)
        case .app(let app):
            self.registry.finishLoading()
            let cursor = self.cursor(app, audience.kind, audience.pattern, audience.attributes, order: .ascending)
            let purpose = FindingWork.Purpose.push(push, matchedMax: head.matchedMax, isCounted: isCounted)
            self.work.push(.finding(FindingWork(purpose, cursor, audience.pattern)))
            return nil
        }
        return self.close(push, isCounted: isCounted)
    }

    /// Ends a push that matches more instances than it may. It was asked before the push was logged, and others may have
    /// registered since.
    mutating func fail(_ push: IncomingPush, isCounted: Bool) -> RecordAnswer.Result {
        self.counters.pushesFailed += 1
        self.ledger.failPush(push.row, .tooMany)
        return self.close(push, isCounted: isCounted)
    }

    /// Ends the matching of a push.
    mutating func close(_ push: IncomingPush, isCounted: Bool) -> RecordAnswer.Result {
        let matched = self.ledger.closePush(
            push.row,
            repeatSlot: push.repeatSlot,
            isCounted: isCounted,
            at: self.time
        )
        return .push(matched: matched, isRepeat: false)
    }

    /// The key by which a push is the same as an earlier one, beside its id. Part of the decision rules: the seed is
    /// fixed.
    @inline(__always)
    func repeatKey(_ head: PushHead, team: TeamNumber, _ bytes: [UInt8]) -> UInt64 {
        var key = ReplayHash.mix(head.contentHash ^ UInt64(head.target.rawValue) << 32 ^ UInt64(team.raw))
        key = ReplayHash.mix(key ^ ReplayHash.of(bytes, in: head.targetName, seed: 1))
        return head.instance.isEmpty ? key : ReplayHash.mix(key ^ ReplayHash.of(bytes, in: head.instance, seed: 2))
    }

    /// The audience of a push, in the engine's numbers.
    func audience(
        _ head: PushHead,
        _ pattern: MatchPattern?,
        _ attributes: Configuration,
        _ bytes: [UInt8]
    ) -> PushAudience {
        var audience = PushAudience(app: nil, reach: .nobody, kind: nil, pattern: pattern, attributes: attributes)
        if head.target == .app {
            guard let app = self.catalogue.findApp(bytes, in: head.targetName) else { return audience }
            audience.app = app
            audience.reach = .app(app)
        } else {
            guard let host = self.registry.findHost(bytes, in: head.targetName) else {
                audience.app = self.app(ofHost: bytes[head.targetName])
                return audience
            }
            audience.app = self.registry[host].app
            guard self.registry[host].isRegistered else { return audience }
            audience.reach = .host(host)
        }
        guard head.flags.contains(.kind), let app = audience.app else { return audience }
        audience.kind = self.catalogue[app].kinds.first {
            self.catalogue[$0].name.rawValue.equals(bytes, in: head.kind)
        }
        if audience.kind == nil { audience.reach = .nobody }
        return audience
    }

    /// The app of a host's key, see ``HostKey/text``; nil if it is not configured here.
    private func app(ofHost key: ArraySlice<UInt8>) -> AppNumber? {
        guard let separator = key.firstIndex(of: 0) else { return nil }
        let bytes = Array(key[..<separator])
        return self.catalogue.findApp(bytes, in: bytes.indices)
    }

    /// Resolves the headers at the log's time, and opens the push's row.
    private mutating func open(
        _ head: PushHead,
        team: TeamNumber,
        app: AppNumber?,
        key: UInt64,
        _ bytes: [UInt8]
    ) -> IncomingPush {
        var push = self.resolve(head, team: team, app: app, bytes)
        (push.row, push.repeatSlot) = self.ledger.openPush(
            Ledger.Push(
                id: head.id,
                team: team,
                app: app ?? .none,
                priority: push.priority,
                isForApp: head.target == .app,
                contentHash: head.contentHash,
                position: self.position,
                acceptedAt: self.time,
                expiresAt: push.expiresAt,
                notBefore: push.notBefore == .distantPast ? .epoch : push.notBefore,
                hasCollapseID: !head.collapseID.isEmpty
            ),
            collapseID: bytes[head.collapseID],
            key: key
        )
        return push
    }

    /// A push with its headers resolved at the log's time.
    @inline(__always)
    func resolve(_ head: PushHead, team: TeamNumber, app: AppNumber?, _ bytes: [UInt8]) -> IncomingPush {
        let notBefore = head.flags.contains(.notBefore) && head.notBefore > self.time ? head.notBefore : nil
        var waits = Interval.hours(4)
        var priority = Priority.normal
        if let app {
            waits = self.catalogue[app].defaultExpiration
            priority = self.catalogue[app].defaultPriority
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
            ? 0 : UInt32(truncatingIfNeeded: ReplayHash.of(bytes, in: head.collapseID, seed: 3)) | 1
        return IncomingPush(
            row: .none,
            id: head.id,
            priority: head.priority ?? priority,
            expiresAt: expiresAt,
            isOnce: expiresAt <= self.time,
            notBefore: notBefore ?? .distantPast,
            heldUntil: max(notBefore ?? .distantPast, self.ledger.pausedUntil(team)),
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
        if self.registry[host].delivery == .apns {
            let matched = self.matching(host: host, head, audience, bytes)
            for together in self.byToken(matched) { self.decidePush(push, throughToken: together) }
            return
        }
        var instance = self.registry[host].firstInstance
        while !instance.isNone {
            let next = self.registry[instance].nextOfHost
            if self.isMatched(instance, head, audience, bytes) { self.decidePush(push, for: instance) }
            instance = next
        }
    }

    /// Decides a push for one instance that it matches.
    mutating func decidePush(_ push: IncomingPush, for instance: InstanceNumber) {
        self.openWindow(of: instance)
        let hasExpired = self.schedule[active: instance].minExpiry <= self.time
        if hasExpired { self.expirePending(of: instance) }
        self.match(push, instance, mayJoin: !hasExpired)
        // A push that expired between two seconds, before its timer came, had a part in when the rest is due.
        if hasExpired { self.decide(instance) }
    }

    /// - Parameter mayJoin: Whether the instance's dates are still those of its waiting causes.
    @inline(__always)
    private mutating func match(_ push: IncomingPush, _ instance: InstanceNumber, mayJoin: Bool) {
        if let digest = push.digest, self.shows(instance, digest) {
            self.ledger.countMatch(of: push.row, as: .unchanged)
            return self.noteDecision(instance, .unchanged, .sameDigest, push: push.id)
        }
        if push.isOnce, !self.conforms(push, instance) {
            self.ledger.countMatch(of: push.row, as: .expired)
            return self.noteDecision(instance, .expired, .expiration, push: push.id)
        }
        let joined =
            mayJoin && !self.ledger.hasPausedSenders && self.schedule.joinsWaiting(instance, by: push, now: self.time)
        let replaced = push.collapseTag == 0 ? nil : self.waiting(with: push, instance)
        guard self.enqueueIfPossible(push, instance, replacing: replaced) else { return }
        if joined, replaced == nil {
            // The pushes that waited already are decided first, and this one with them: nothing else changes.
            return self.noteWaiting(push, instance)
        }
        let reloads = self.schedule[active: instance].outstanding.last
        self.decide(instance, isOnce: push.isOnce)
        self.noteDeferred(push, instance, unlessAfter: reloads)
    }

    /// Notes that a push waits, unless it goes with a reload that was issued after another one.
    mutating func noteDeferred(_ push: IncomingPush, _ instance: InstanceNumber, unlessAfter last: ReloadNumber) {
        if push.notBefore > self.time {
            self.noteDecision(instance, .deferred, .notBefore, push: push.id, until: push.notBefore)
        } else if self.schedule[active: instance].outstanding.last == last {
            self.noteWaiting(push, instance)
        }
    }

    /// Notes that a push waits for what its instance waits for.
    private mutating func noteWaiting(_ push: IncomingPush, _ instance: InstanceNumber) {
        let reason = push.priority == .low ? .waitsForAnother : self.schedule[active: instance].reason
        self.noteDecision(instance, .deferred, reason, push: push.id, until: self.schedule[active: instance].decidesAt)
    }
}
