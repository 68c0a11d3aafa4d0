import IntentMatching
import Timelines
import WidgetModel

extension Engine {
    /// A hash of the whole state in a canonical order: hosts and instances by id, pushes by position. Two engines that
    /// applied the same records have the same, in whatever process. O(state log state). Precondition: the last record
    /// was applied whole.
    package func stateDigest() -> UInt64 {
        precondition(self.isRecordDone, "a record is still being applied")
        var writer = ByteWriter()
        writer.write(varint: self.position.rawValue)
        writer.write(self.time)
        writer.write(fixed64: self.runningHash)
        var hash = StableHash()
        hash.combine(writer.bytes.span)
        for app in self.catalogue.apps { self.digest(app, &hash) }
        for host in self.hosts.sortedSlots() { self.digest(host: host, &hash) }
        var pauses = ByteWriter()
        for order in self.standing { order.encode(into: &pauses) }
        hash.combine(pauses.bytes.span)
        for push in self.sortedPushes() { self.digest(push: push, &hash) }
        for sender in self.senders() {
            hash.combine(sender.team.rawValue)
            for count in [sender.pushes, sender.repeats, sender.matched, sender.unchanged, sender.refused] {
                hash.combine(UInt64(count))
            }
            hash.combine(UInt64(sender.charged))
            hash.combine(UInt64(sender.exempt))
            hash.combine(UInt64(sender.collateral))
            hash.combine(UInt64(sender.collateralOver))
        }
        self.ledger.digestRepeats(into: &hash)
        for removal in self.tokens.removalsInOrder {
            hash.combine(removal.token.bytes.span)
            hash.combine(UInt64(bitPattern: removal.at.milliseconds))
            hash.combine(UInt64(removal.reason.rawValue))
        }
        self.digestChannels(into: &hash)
        hash.combine(self.ledger.decisionCount)
        return hash.value
    }

    private func sortedPushes() -> [PushNumber] {
        self.ledger.usedNumbers().sorted { left, right in
            let (left, right) = (self.ledger[left], self.ledger[right])
            return (left.position, left.id.high, left.id.low, left.contentHash)
                < (right.position, right.id.high, right.id.low, right.contentHash)
        }
    }

    private func digest(_ app: Catalogue.App, _ hash: inout StableHash) {
        var writer = ByteWriter()
        writer.write(app.id.rawValue)
        writer.write(self.catalogue.teamName(app.team))
        writer.write(app.defaultExpiration)
        writer.write(byte: app.defaultPriority.rawValue)
        writer.write(app.developerMode)
        writer.write(byte: app.environment.rawValue)
        writer.write(app.isConfigured)
        for kind in app.kinds {
            self.catalogue[kind].schema.encode(into: &writer)
            self.catalogue[kind].budget.encode(into: &writer)
            writer.write(self.catalogue[kind].usesLocation)
            writer.write(self.catalogue[kind].isConfigured)
            for replaced in self.catalogue[kind].replaced {
                replaced.budget.encode(into: &writer)
                writer.write(replaced.at)
            }
        }
        hash.combine(writer.bytes.span)
    }

    private func digest(host: HostNumber, _ hash: inout StableHash) {
        let row = self.hosts[host]
        var writer = ByteWriter()
        self.hostKey(of: host).encode(into: &writer)
        writer.write(self.catalogue[row.app].id.rawValue)
        writer.write(row.isRegistered)
        writer.write(byte: row.delivery.rawValue)
        writer.write(varint: row.revision)
        writer.write(row.registeredAt)
        writer.write(row.firstRegisteredAt)
        writer.write(row.leaseEnds) { $0.write($1) }
        writer.write(signed: row.foregroundUntil)
        writer.write(signed: row.pushedAt)
        for session in HostSession.allCases { writer.write(signed: row.sessionsUntil[Int(session.rawValue)]) }
        for flag in [row.tellsVisibility, row.isInStandBy, row.isInLowPower] { writer.write(flag) }
        row.windows.encode(into: &writer)
        row.budget.encode(into: &writer)
        writer.write(varint: UInt64(row.budgetInterval))
        self.hosts.context(of: host).encode(into: &writer)
        writer.write(each: self.tokens(of: host)) { writer, token in
            writer.write(token.token.bytes)
            writer.write(token.boundAt)
            writer.write(byte: token.environment.rawValue)
        }
        for instance in self.instances(of: host) { self.digest(instance, &writer) }
        hash.combine(writer.bytes.span)
    }

    private func digest(_ instance: InstanceNumber, _ writer: inout ByteWriter) {
        let row = self.instances[instance]
        let active = self.instances[active: instance]
        let content = self.instances[content: instance]
        let observed = self.instances[observed: instance]
        let environment = self.instances[particulars: instance].controlEnvironment
        self.registration(of: instance).encode(into: &writer)
        writer.write(row.isLive)
        writer.write(row.isOrphaned)
        writer.write(row.isPolicyPaced)
        writer.write(row.isHostDriven)
        writer.write(self.instances.rollingDay(of: instance)) { $1.encode(into: &$0) }
        row.budget.encode(into: &writer)
        writer.write(varint: UInt64(active.waiting.rawValue))
        writer.write(byte: active.reason.rawValue)
        for date in [
            active.decidesAt, row.timelineDue, active.minExpiry, active.outstanding.expires, row.freeSetupAt,
            row.firstWindow, row.visibleUntil, active.heldUntil,
            observed.viewedAt, observed.systemChangeAt, observed.awaitsReport,
        ] {
            writer.write(signed: date)
        }
        for number in [row.firstLimit, row.allowance, row.views, row.rate.scaled, row.granted] {
            writer.write(varint: UInt64(number))
        }
        writer.write(varint: UInt64(row.windowMinute))
        for count in [observed.observedReloads, observed.collateralReloads, observed.collateralOverReloads] {
            writer.write(varint: UInt64(count))
        }
        writer.write(observed.awaitsLook)
        writer.write(byte: environment.rawValue)
        writer.write(content.shownEntry) { $0.write($1) }
        writer.write(varint: UInt64(row.generation))
        writer.write(varint: row.configuredAt.rawValue)
        writer.write(varint: UInt64(row.exemptReloads))
        writer.write(content.timeline) { writer, shown in
            shown.timeline.encode(into: &writer)
            writer.write(shown.receivedAt)
            writer.write(count: shown.equalDigests)
        }
        writer.write(content.confirmedDigest) { self.write($1, &$0) }
        writer.write(row.hasPendingDigest ? content.pendingDigest : nil) { self.write($1, &$0) }
        self.digest(active.pending, &writer)
        self.reloads.forEach(in: active.outstanding) { row in
            Effect.reload(self.effect(of: row)).encode(into: &writer)
            writer.write(varint: UInt64(row.generation))
            for flag in [row.isCounted, row.isPush, row.sharesToken, row.isTrigger] { writer.write(flag) }
            writer.write(row.collateral) { $0.write(byte: $1.rawValue) }
            writer.write(row.digest) { self.write($1, &$0) }
            self.digest(row.pushes, &writer)
        }
    }

    private func write(_ digest: ContentDigest, _ writer: inout ByteWriter) {
        writer.write(self.catalogue.teamName(digest.team))
        writer.write(digest.bytes)
    }

    private func digest(_ list: CauseList, _ writer: inout ByteWriter) {
        writer.write(count: Int(list.count))
        var slot = list.head
        while !slot.isNone {
            let node = self.reloads[slot]
            let push = self.ledger[node.push]
            writer.write(fixed64: push.id.high)
            writer.write(fixed64: push.id.low)
            writer.write(signed: node.expiresAt)
            writer.write(byte: node.priority.rawValue)
            slot = node.next
        }
    }

    private func digest(push: PushNumber, _ hash: inout StableHash) {
        let row = self.ledger[push]
        hash.combine(row.id.high)
        hash.combine(row.id.low)
        hash.combine(self.catalogue.teamName(row.team))
        hash.combine(row.contentHash)
        hash.combine(UInt64(bitPattern: row.expiresAt.milliseconds))
        hash.combine(UInt64(bitPattern: row.completedAt.milliseconds))
        hash.combine(UInt64(row.matched))
        hash.combine(UInt64(row.repeats))
        hash.combine(UInt64(row.failure?.rawValue ?? 0))
        for outcome in PushOutcome.allCases { hash.combine(UInt64(row.counts[Int(outcome.rawValue)])) }
    }
}
