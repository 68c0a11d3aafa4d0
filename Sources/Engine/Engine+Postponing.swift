import Timelines
package import WidgetModel

/// Deciding a push for very many instances at once, and writing it into their rows later.
///
/// What is postponed can be seen nowhere: state, effects and answers are those of an engine that postpones nothing. An
/// instance with postponed matches is settled before anything else reads or changes its row.
extension Engine {
    /// How far ahead what is soon to be due is settled together with what is due, in milliseconds.
    private static let settledAhead: Int64 = 10_000

    /// Postpones matches from now on, where a push has many that are sure to wait. Whoever calls this also calls
    /// ``settle(atMost:)`` when there is time for it, and ``settle()`` or ``settle(_:)`` before asking anything but what
    /// became of a push and what the totals are.
    ///
    /// - Parameters:
    ///   - count: From how many matches in a row on; the index gives them out 4,096 at a time.
    ///   - max: How many are postponed at most (4 bytes each); those beyond are written at once.
    package mutating func postponeMatches(from count: Int = 256, atMost max: Int = 8_388_608) {
        self.postponed.batchMin = count
        self.postponed.countMax = max
        self.forgetSureWaits()
    }

    /// Nothing is sure any more, as when settings change. Precondition: nothing is postponed. O(instances).
    mutating func forgetSureWaits() {
        self.postponed.forgetWaits(quiet: self.apps.kinds.indices.map { self.apps.quietInterval(of: $0) }, at: self.now)
    }

    /// How many matches are postponed.
    package var postponedMatches: Int { self.postponed.count }

    /// How many matches have been postponed since ``postponeMatches(from:atMost:)``, written or not.
    package var postponedMatchesInAll: Int { self.postponed.total }

    /// Writes all that is postponed. O(postponed).
    package mutating func settle() {
        while !self.postponed.isEmpty { self.settle(atMost: 4096) }
    }

    /// Writes some of what is postponed, what was decided first.
    ///
    /// - Parameter count: How many matches at most; a thousand take some 0.5 ms.
    package mutating func settle(atMost count: Int) {
        guard !self.postponed.isEmpty else { return }
        let places = self.postponed.places(of: 0).prefix(count)
        let instances = places.map { self.postponed.instance(0, $0) }
        for first in stride(from: 0, to: instances.count, by: Self.approachedMatches) {
            let range = first..<min(instances.count, first + Self.approachedMatches)
            self.approach(instances.span, range, ofDigest: false)
            for index in range {
                self.postponed.advance(0, to: places.startIndex + index)
                self.settle(0, places.startIndex + index)
            }
        }
        self.postponed.advance(0, to: places.endIndex)
        self.postponed.tidy()
    }

    /// Writes what is postponed of a host's instances. O(instances * log postponed), O(1) if nothing is.
    package mutating func settle(_ host: HostKey) {
        guard !self.postponed.isEmpty, let host = self.hosts.find(host) else { return }
        self.settle(of: host)
        self.postponed.tidy()
    }

    /// Writes what is postponed of the instances that a record may touch beyond what it matches.
    mutating func settle(for record: Record) {
        guard !self.postponed.isEmpty else { return }
        switch record {
        case .push, .tick, .trace, .audit: break
        case .signal(let signal): self.settle(signal.host)
        case .timeline(let report): self.settle(report.host)
        case .delivery(let report): self.settle(report.host)
        case .settings, .register, .unregister, .appReload, .invalidate, .order, .channel: self.settle()
        }
    }

    /// Writes what is postponed of a host's instances; of what is being written itself, what was decided before it.
    mutating func settle(of host: UInt32) {
        guard !self.postponed.isEmpty else { return }
        var instance = self.hosts[host].firstInstance
        while instance != InstanceTable.none {
            self.settle(instance)
            instance = self.instances[instance].nextOfHost
        }
    }

    /// Writes what is postponed of an instance, and has its row at hand. O(log postponed).
    @inline(__always)
    mutating func settle(_ instance: UInt32) {
        if !self.postponed.isEmpty, self.postponed.isMarked(instance) { self.settleMatches(of: instance) }
    }

    private mutating func settleMatches(of instance: UInt32) {
        for run in self.postponed.runs.indices {
            // Nothing of this run was decided before what is being written, nor of those behind it.
            guard self.postponed.runs[run].decision(self.postponed.runs[run].next) < self.postponed.written else {
                return
            }
            guard let place = self.postponed.place(of: instance, in: run) else { continue }
            guard self.postponed.runs[run].decision(place) < self.postponed.written else { return }
            self.settle(run, place)
        }
        if !self.postponed.isEmpty { self.postponed.unmark(instance) }
    }

    /// Writes what of the postponed could have a part in what is due by the log's time, and what soon will.
    mutating func settleDue() {
        for run in self.postponed.runs.indices where self.postponed.runs[run].due <= self.now {
            var due = Int64.max
            for place in self.postponed.places(of: run) where !self.postponed.isWritten(run, place) {
                let instance = self.postponed.instance(run, place)
                let date = min(self.postponed.runs[run].push.expiresAt, self.postponed.sureUntil(instance))
                if date <= self.now + Self.settledAhead { self.settle(instance) } else { due = min(due, date) }
            }
            self.postponed.setDue(due, of: run)
        }
        self.postponed.tidy()
    }

    /// Decides a postponed match as it was decided, and writes it.
    private mutating func settle(_ run: Int, _ place: Int) {
        guard let instance = self.postponed.take(run, place) else { return }
        let push = self.postponed.runs[run].push
        let present = (self.time, self.position, self.postponed.written)
        (self.time, self.position) = (self.postponed.runs[run].time, self.postponed.runs[run].position)
        self.postponed.written = self.postponed.runs[run].decision(place)
        let number = self.log.use(self.postponed.written)
        self.ledger.unmatchDeferred(push.row)
        self.accept(push, for: instance)
        let left = self.log.use(number)
        precondition(left == DecisionLog.none, "a postponed match was not decided")
        (self.time, self.position, self.postponed.written) = present
    }
}

extension Engine {
    /// Decides a push for a batch of matches, in their order: those that are sure to wait are postponed.
    @inline(__always)
    mutating func accept(
        _ push: IncomingPush,
        postponing batch: Span<UInt32>,
        _ hostDriven: inout [UInt32]
    ) {
        var (place, approached) = (0, 0)
        while true {
            place = self.postpone(push, batch, from: place)
            guard place < batch.count else { return }
            if place >= approached {
                approached = min(batch.count, place + Self.approachedMatches)
                self.approach(batch, place..<approached, ofDigest: push.digest != nil)
            }
            self.accept(push, matched: batch[place], &hostDriven)
            place += 1
        }
    }

    /// From how many matches in a row on those of a push may be postponed: if it begins to wait now, and changes nothing but
    /// the instances' own rows.
    mutating func postponedBatchMin(_ push: IncomingPush, app: UInt32) -> Int {
        guard self.postponed.batchMin != nil else { return .max }
        self.postponed.tidy()
        if self.postponed.isEmpty, self.postponed.steps.areUsed(at: self.now) { self.forgetSureWaits() }
        guard self.senderPauses.isEmpty, !push.isOnce, push.heldUntil <= self.now, push.digest == nil,
            push.collapseTag == 0,
            self.apps.apps[Int(app)].kinds.allSatisfy({ self.apps.kinds[Int($0)].pausedUntil <= self.now })
        else { return .max }
        return self.postponed.batchMinNow
    }

    /// Postpones matches as long as they are sure to wait.
    ///
    /// - Returns: The place of the first that is not.
    private mutating func postpone(_ push: IncomingPush, _ batch: Span<UInt32>, from first: Int) -> Int {
        var test = SureWait.Test(
            push.priority,
            expiresAt: push.expiresAt,
            now: self.now,
            steps: self.postponed.steps,
            postponed: self.postponed.runs.count
        )
        let end = self.postponed.endOfSure(batch, from: first, &test)
        guard end > first else { return end }
        let matches = PostponedMatches.Matches(
            push: push,
            time: self.time,
            position: self.position,
            firstDecision: self.log.keepFree(end - first),
            due: min(push.expiresAt, self.postponed.steps.beginning(of: test.until))
        )
        self.ledger.matchDeferred(push.row, count: end - first)
        self.postponed.append(batch.extracting(first..<end), matches)
        return end
    }

    /// Notes for how long pushes are sure to wait for an instance, after something of it has changed: whenever it was
    /// decided, whenever a push was taken in, and when its host begins or ceases to be exempt.
    @inline(__always)
    mutating func noteSureWait(_ instance: UInt32) {
        guard self.postponed.batchMin != nil else { return }
        let isExempt = self.hosts[self.instances[instance].host].exemptUntil > self.now
        let wait = SureWait(
            self.instances[instance],
            quiet: isExempt ? 0 : self.postponed.quiet[Int(self.instances[instance].kind)],
            pendingMax: self.limits.pendingPerInstanceMax,
            now: self.now,
            steps: self.postponed.steps
        )
        self.postponed.note(wait, of: instance)
    }
}
