package import Engine
import IntentMatching
package import Journaling
import Ownership
package import WidgetModel

/// Replays a log for one widget instance, and watches its events.
///
/// The engine runs as it is; nothing in it knows that it is watched. It applies only the records that may concern the
/// instance: those of its host, those for apps, settings, and registrations of other hosts that take a token of its
/// host. It leaves out the others. If a timer of the host fired at one of them, time passes there, so that everything
/// is decided at the same instants and positions as then. Other links between hosts are not followed: see
/// `docs/history.md`.
package struct InstanceReplay: ~Copyable {
    package private(set) var trace: InstanceTrace
    private var engine: Engine
    private var output = EngineOutput()
    private let host: [UInt8]
    /// Tokens that the host had at any time.
    private var tokens: Set<[UInt8]> = []
    private var nextTimer: Int64 = .max
    private var isTracing = false
    /// The entry taken last.
    private var newest: LogEntry?
    private let stepsMax: Int
    /// Whether every record is applied, whomever it concerns.
    private let isWhole: Bool

    /// - Parameters:
    ///   - address: The instance.
    ///   - engine: The state to begin with.
    ///   - since: The beginning of the told time.
    ///   - stepsMax: The most steps that are told, the newest ones.
    ///   - isWhole: Whether all records are applied: slower by far, and exact in every case.
    package init(
        _ address: InstanceAddress,
        from engine: consuming Engine,
        since: Instant,
        stepsMax: Int = 10_000,
        isWhole: Bool = false
    ) {
        self.trace = InstanceTrace(address: address, partition: engine.partition, since: since, until: engine.time)
        self.trace.position = engine.position
        self.host = Array(address.host.text.utf8)
        self.stepsMax = stepsMax
        self.isWhole = isWhole
        for token in engine.host(address.host)?.tokens ?? [] { self.tokens.insert(token.bytes) }
        self.nextTimer = engine.nextTimer?.milliseconds ?? .max
        self.engine = engine
    }

    /// Takes the next entry.
    ///
    /// - Throws: ``EngineError`` if a record cannot be read.
    package mutating func applyEntry(_ entry: LogEntry) throws(EngineError) {
        let bytes = entry.bytes
        self.trace.work.entries += 1
        self.trace.work.bytes += bytes.count
        self.trace.position = entry.position
        self.newest = entry
        if !self.isTracing, entry.logTime >= self.trace.since {
            self.isTracing = true
            self.trace.first = self.engine.instance(self.trace.address)
        }
        let time = max(self.engine.time, entry.logTime).milliseconds
        var run = EntryRun(entry)
        while let range = run.next {
            self.trace.work.records += 1
            let header: RecordHeader
            do throws(ByteError) {
                header = try RecordHeader(bytes, in: range)
            } catch {
                throw .damaged(entry.position, error)
            }
            if self.concerns(header, bytes) {
                try self.isTracing ? self.watch(range, of: &run) : self.apply(&run)
                self.learnTokens(header, bytes)
            } else {
                if self.nextTimer <= time { try self.pass(to: entry) }
                if self.isWhole { try self.apply(&run) } else { run.skipNext() }
            }
        }
    }

    /// The trace, once the last entry was taken.
    ///
    /// Time goes on to that entry first, which fires nothing that had not fired by then.
    package mutating func finish() throws(EngineError) -> InstanceTrace {
        if let newest = self.newest, newest.logTime > self.engine.time { try self.pass(to: newest) }
        if !self.isTracing { self.trace.first = self.engine.instance(self.trace.address) }
        self.trace.last = self.engine.instance(self.trace.address)
        self.trace.until = max(self.trace.until, self.engine.time)
        return self.trace
    }

    // MARK: - Applied records

    private func concerns(_ header: RecordHeader, _ bytes: [UInt8]) -> Bool {
        switch header.subject {
        case .anybody: return true
        case .nobody: return false
        case .host(let range):
            if range.count == self.host.count, bytes[range].elementsEqual(self.host) { return true }
            guard let token = header.token, !self.tokens.isEmpty else { return false }
            return self.tokens.contains(Array(bytes[token]))
        }
    }

    private mutating func learnTokens(_ header: RecordHeader, _ bytes: [UInt8]) {
        guard header.kind == .register, case .host(let range) = header.subject, let token = header.token,
            bytes[range].elementsEqual(self.host)
        else { return }
        self.tokens.insert(Array(bytes[token]))
    }

    /// Lets time pass to an entry, so that timers fire as they did there.
    private mutating func pass(to entry: LogEntry) throws(EngineError) {
        var run = EntryRun(LogEntry(position: entry.position, logTime: entry.logTime, packed: .tick))
        guard self.isTracing else { return try self.apply(&run) }
        let before = self.engine.instance(self.trace.address)
        let count = self.engine.decisionCount
        try self.apply(&run)
        if self.engine.decisionCount > count { self.noteStep(nil, nil, before, since: count) }
    }

    /// Applies the next record.
    private mutating func apply(_ run: inout EntryRun) throws(EngineError) {
        self.output = try run.applyNext(&self.engine) ?? EngineOutput()
        self.trace.work.applied += 1
        self.nextTimer = self.engine.nextTimer?.milliseconds ?? .max
    }

    // MARK: - Watching

    /// Applies the next record, and notes the effect that it has on the instance.
    private mutating func watch(_ range: Range<Int>, of run: inout EntryRun) throws(EngineError) {
        let entry = run.entry
        // Timers first and by themselves: their effects are not the record's.
        if self.nextTimer <= max(self.engine.time, entry.logTime).milliseconds { try self.pass(to: entry) }
        let record: Record
        do throws(ByteError) {
            var reader = ByteReader(entry.bytes, in: range)
            record = try Record(from: &reader)
        } catch {
            throw .damaged(entry.position, error)
        }
        guard case .push(let push) = record else {
            let before = self.engine.instance(self.trace.address)
            let count = self.engine.decisionCount
            try self.apply(&run)
            let isAbout = self.isAbout(record)
            if isAbout || self.engine.decisionCount > count { self.noteStep(record, isAbout, before, since: count) }
            return
        }
        let host = self.engine.host(self.trace.address.host)
        let verdict = self.verdict(of: push, on: host)
        // Behind APNs a push for one widget reloads those beside it, too.
        let mayTouch = verdict.matches || host?.delivery == .apns
        let before = mayTouch ? self.engine.instance(self.trace.address) : nil
        let count = self.engine.decisionCount
        try self.apply(&run)
        if case .push(_, isRepeat: true)? = self.output.answers.last?.result {
            self.trace.misses.repeats += verdict.matches ? 1 : 0
            return
        }
        guard verdict.matches else {
            self.trace.misses.add(TraceMisses.Miss(at: self.engine.time, record: push, verdict: verdict))
            if self.engine.decisionCount > count { self.noteStep(record, false, before, since: count) }
            return
        }
        self.trace.pushes.append(
            TracedPush(record: push, position: entry.position, acceptedAt: self.engine.time, verdict: verdict)
        )
        self.noteStep(record, true, before, since: count)
    }

    private func verdict(of push: PushRecord, on host: HostView?) -> MatchVerdict {
        let address = self.trace.address
        let registration = host?.instances.first { $0.id == address.instance }
        let app = host?.app
        let settings = app.flatMap { app in self.engine.settings?.apps.first { $0.app == app } }
        let schema = settings?.kinds.first { $0.schema.kind == registration?.kind }?.schema
        return MatchVerdict(of: push, for: address, registration, app: app, schema: schema)
    }

    /// Whether a record is about the instance itself, be anything decided upon it or not.
    private func isAbout(_ record: Record) -> Bool {
        let address = self.trace.address
        switch record {
        case .push, .tick, .trace, .audit, .channel, .settings, .configure, .invalidate, .appReload: return false
        case .register(let registration): return registration.host == address.host
        case .unregister(let removal): return removal.host == address.host
        case .timeline(let report): return report.host == address.host && report.instance == address.instance
        case .delivery(let report): return self.engine.isAbout(report.reload, address)
        case .signal(let signal):
            guard signal.host == address.host else { return false }
            if case .entryShown(let reload, _) = signal.event { return self.engine.isAbout(reload, address) }
            return signal.event.instance == nil || signal.event.instance == address.instance
        case .order(let order):
            return switch order.scope {
            case .host(let host): host == address.host
            case .instance(let instance): instance == address
            case .app, .kind, .sender, .push: false
            }
        }
    }

    /// Notes a step, if it is about the instance.
    private mutating func noteStep(_ record: Record?, _ isAbout: Bool?, _ before: InstanceView?, since count: UInt64) {
        var decisions: [DecisionView] = []
        self.engine.forEachDecision(from: count) { traced in
            if traced.instance == self.trace.address { decisions.append(traced.decision) }
        }
        let after = self.engine.instance(self.trace.address)
        // A host's own affairs are no step of a widget that it does not show.
        guard !decisions.isEmpty || isAbout == true && (before != nil || after != nil) else { return }
        let reload = self.issued()
        let served = reload.map { self.engine.pushes(servedBy: $0.id) } ?? []
        let out = Set((after?.outstanding ?? []).map(\.id))
        let ended = (before?.outstanding ?? []).map(\.id).filter { !out.contains($0) }
        let step = TraceStep(
            at: self.engine.time,
            position: self.engine.position,
            record: record,
            answer: record == nil ? nil : self.output.answers.last?.result,
            decisions: decisions,
            reload: reload,
            served: served,
            ended: ended,
            before: before?.budget,
            after: after?.budget
        )
        self.follow(step)
        if self.trace.steps.count == self.stepsMax {
            self.trace.steps.removeFirst()
            self.trace.work.droppedSteps += 1
        }
        self.trace.steps.append(step)
    }

    /// The instance's reload among the effects.
    private func issued() -> ReloadEffect? {
        self.output.effects.lazy.flatMap(\.reloads).first { $0.address == self.trace.address }
    }
}

// MARK: - Outcomes of pushes

extension InstanceReplay {
    private mutating func follow(_ step: TraceStep) {
        var ended = step.ended[...]
        for decision in step.decisions {
            switch decision.outcome {
            case .issued: self.join(step, decision)
            case .reloaded, .exempt:
                if let reload = ended.popFirst() { self.end(reload, decision) }
            case .failed where decision.reason != .pendingLimit:
                if let reload = ended.popFirst() { self.end(reload, decision) }
            case .removed:
                // A push that waited is named in a decision of its own, before those of reloads that were out.
                if let push = decision.push, self.change(push, decision) { continue }
                if let reload = ended.popFirst() { self.end(reload, decision) }
            case .deferred, .coalesced, .superseded, .expired, .unchanged, .cancelled, .failed:
                if let push = decision.push { _ = self.change(push, decision) }
            }
        }
    }

    /// The waiting push that a decision names: the newest for its first decision, else the oldest with that id.
    private mutating func change(_ id: PushID, _ decision: DecisionView) -> Bool {
        let waiting = self.trace.pushes.indices.filter { index in
            guard self.trace.pushes[index].record.id == id else { return false }
            let outcome = self.trace.pushes[index].outcome
            return outcome == nil || outcome == .deferred
        }
        guard let index = waiting.last(where: { self.trace.pushes[$0].outcome == nil }) ?? waiting.first else {
            return false
        }
        self.add(decision, decision.outcome, nil, to: index)
        return true
    }

    /// The pushes that a reload takes along are issued with it.
    private mutating func join(_ step: TraceStep, _ decision: DecisionView) {
        guard let reload = step.reload else { return }
        for served in step.served {
            let index = self.trace.pushes.lastIndex { push in
                push.position == served.position && push.record.id == served.id
                    && push.record.contentHash == served.contentHash
            }
            guard let index else { continue }
            self.trace.pushes[index].isPrimary = served.isPrimary
            self.add(decision, .issued, reload.id, to: index)
        }
    }

    private mutating func end(_ reload: ReloadID, _ decision: DecisionView) {
        for index in self.trace.pushes.indices {
            guard let last = self.trace.pushes[index].changes.last, last.outcome == .issued, last.reload == reload
            else { continue }
            let isCoalesced =
                !self.trace.pushes[index].isPrimary && (decision.outcome == .reloaded || decision.outcome == .exempt)
            self.add(decision, isCoalesced ? .coalesced : decision.outcome, reload, to: index)
        }
    }

    private mutating func add(_ decision: DecisionView, _ outcome: PushOutcome, _ reload: ReloadID?, to index: Int) {
        self.trace.pushes[index].changes.append(
            TracedPush.Change(
                at: decision.at,
                position: decision.position,
                outcome: outcome,
                reason: decision.reason,
                until: outcome == .deferred ? decision.until : nil,
                reload: reload
            )
        )
    }
}
