package import Engine
package import Journaling
import Ownership
package import WidgetModel

/// One partition's log run twice side by side: under the policies that were in force, and under another one.
///
/// The acts of people, hosts and senders are the same in both. The hosts' answers to reloads are not: a reload that
/// went out in both at about the same moment has the answer that it had; one that is new has an answer estimated by an
/// ``AnswerBook``; an answer to a reload that never was is left out. Time passes in the other run as a gateway would
/// have let it: a tick whenever a timer is due.
package struct TwinRun: ~Copyable, Sendable {
    /// The result of a run.
    package struct Result: Sendable {
        package fileprivate(set) var actual: WhatIfMeasures
        package fileprivate(set) var other: WhatIfMeasures
        /// How many reloads of the other run had the answer that was given, and how many an estimated one.
        package fileprivate(set) var answersKept = 0
        package fileprivate(set) var answersEstimated = 0
        /// The newest time that was taken.
        package fileprivate(set) var until: Instant
    }

    private var result: Result

    private let rewrite: PolicyRewrite
    private let since: Instant
    private var first: Engine
    private var second: Engine
    /// Entries of the other run have positions of their own, since it has other ticks.
    private var otherPosition: LogPosition
    /// How many more changes of the settings the other run has taken: the rewritten ones that it began with.
    private var versionsAhead = 0
    private var book = AnswerBook()
    private var answers = EventQueue<ReloadEffect>()
    /// Outstanding reloads, by the instance or host that they wake: the first's not yet matched with one of the
    /// second, and the reverse.
    private var unmatchedFirst: [String: [ReloadEffect]] = [:]
    private var unmatchedSecond: [String: [ReloadEffect]] = [:]
    /// The id of the second's reload that goes with a reload of the first.
    private var partners: [ReloadID: ReloadID] = [:]
    private var matchedSecond: Set<ReloadID> = []
    private var outstanding: [ReloadID: ReloadEffect] = [:]

    /// How far apart two reloads may go out and still be the same one.
    private static let tolerance = Interval.seconds(10)

    /// - Parameter engine: The state to begin with, as it was; the other run goes on from it under the other policy.
    /// - Throws: ``EngineError`` if the settings in force cannot be changed.
    package init(
        _ engine: consuming Engine,
        _ rewrite: PolicyRewrite,
        since: Instant,
        starvedAfter: Interval
    ) throws(EngineError) {
        self.rewrite = rewrite
        self.since = since
        self.otherPosition = engine.position
        let measures = WhatIfMeasures(since: since, starvedAfter: starvedAfter)
        self.result = Result(actual: measures, other: measures, until: engine.time)
        self.second = engine.duplicate()
        self.first = engine
        guard let settings = self.first.settings else { return }
        self.adopt(self.first.allOutstanding(settings))
        let rewritten = rewrite.applied(to: settings)
        guard rewritten != settings else { return }
        let version = self.first.settingsVersion
        self.versionsAhead = version == 0 ? 0 : 1
        let record =
            version == 0 ? Record.settings(rewritten) : .configure(SettingsChange(rewritten, from: version))
        try self.applySecond(record, at: self.first.time, isNewEntry: true)
    }

    /// Takes over the reloads that were out before both runs began: they are the same in both.
    private mutating func adopt(_ reloads: [ReloadEffect]) {
        for reload in reloads {
            self.outstanding[reload.id] = reload
            self.partners[reload.id] = reload.id
            self.matchedSecond.insert(reload.id)
        }
    }

    /// Takes the next entry.
    package mutating func applyEntry(_ entry: LogEntry) throws(EngineError) {
        if entry.logTime >= self.since {
            // The other run is measured from then on, also before this entry.
            try self.passOther(to: self.since - .milliseconds(1))
            self.result.actual.begin(self.first)
            self.result.other.begin(self.second)
        }
        try self.passOther(to: entry.logTime)
        self.otherPosition = self.otherPosition.next
        var run = EntryRun(entry)
        while let range = run.next {
            let record: Record
            do throws(ByteError) {
                var reader = ByteReader(entry.bytes, in: range)
                record = try Record(from: &reader)
            } catch {
                throw .damaged(entry.position, error)
            }
            try self.applyFirst(record, &run)
            if let record = self.translated(record) {
                try self.applySecond(record, at: entry.logTime, isNewEntry: false)
            }
        }
        self.result.until = max(self.result.until, entry.logTime)
    }

    /// The result, once the last entry was taken.
    package consuming func finish() throws(EngineError) -> Result {
        try self.passOther(to: self.result.until)
        self.result.actual.end(self.first)
        self.result.other.end(self.second)
        return self.result
    }

    // MARK: - As it was

    private mutating func applyFirst(_ record: Record, _ run: inout EntryRun) throws(EngineError) {
        let number = self.first.decisionCount
        let effects = try run.applyNext(&self.first)?.effects ?? []
        self.result.actual.takeDecisions(self.first, since: number)
        for (reloads, key) in Self.units(of: effects) {
            for reload in reloads {
                self.outstanding[reload.id] = reload
                let served = self.first.pushes(servedBy: reload.id).count
                self.result.actual.noteServed(served, app: reload.app, kind: reload.kind, at: self.first.time)
            }
            self.match(reloads[0], key, isFirst: true)
        }
        self.learn(record, at: self.first.time)
    }

    /// Keeps a host's answer.
    private mutating func learn(_ record: Record, at now: Instant) {
        switch record {
        case .timeline(let report):
            guard let id = report.reload, let reload = self.outstanding.removeValue(forKey: id) else { return }
            let latency = now - reload.issuedAt
            let answer = AnswerBook.Answer(timeline: report.timeline, receivedAt: now, latency: latency)
            self.book.noteAnswer(answer, to: reload)
        case .delivery(let report):
            guard let reload = self.outstanding.removeValue(forKey: report.reload) else { return }
            guard case .acknowledged = report.result else { return }
            let answer = AnswerBook.Answer(timeline: nil, receivedAt: now, latency: now - reload.issuedAt)
            self.book.noteAnswer(answer, to: reload)
        default: return
        }
    }

    // MARK: - As it would have been

    /// Lets time pass in the other run: its own timers, and answers that are estimated.
    private mutating func passOther(to instant: Instant) throws(EngineError) {
        while true {
            let timer = self.second.nextTimer.map { max($0, self.second.time).milliseconds } ?? .max
            let answer = self.answers.next ?? .max
            guard min(timer, answer) <= instant.milliseconds else { return }
            if timer <= answer {
                try self.applySecond(.tick, at: Instant(milliseconds: timer), isNewEntry: true)
            } else if let (at, reload) = self.answers.popFirst() {
                try self.answer(reload, at: Instant(milliseconds: at))
            }
        }
    }

    /// Gives an estimated answer, unless the reload has turned out to be one that had an answer.
    private mutating func answer(_ reload: ReloadEffect, at now: Instant) throws(EngineError) {
        guard !self.matchedSecond.contains(reload.id), let answer = self.book.estimate(for: reload) else { return }
        self.result.answersEstimated += now >= self.since ? 1 : 0
        let record: Record =
            answer.timeline.map { timeline in
                .timeline(
                    TimelineReport(
                        host: reload.host,
                        instance: reload.instance,
                        reload: reload.id,
                        timeline: timeline
                    )
                )
            } ?? .delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged))
        try self.applySecond(record, at: now, isNewEntry: true)
    }

    /// A record as it happened in the other run; nil if it did not happen there.
    private mutating func translated(_ record: Record) -> Record? {
        switch record {
        case .tick: return nil
        case .settings(let settings): return .settings(self.rewrite.applied(to: settings))
        case .configure(var change):
            change.settings = change.settings.map { self.rewrite.applied(to: $0) }
            change.base &+= self.versionsAhead
            return .configure(change)
        case .delivery(var report):
            guard let partner = self.partner(of: report.reload) else { return nil }
            report.reload = partner
            return .delivery(report)
        case .timeline(var report):
            guard let reload = report.reload else { return record }
            guard let partner = self.partner(of: reload) else { return nil }
            report.reload = partner
            return .timeline(report)
        case .signal(var signal):
            guard case .entryShown(let reload, let date) = signal.event else { return record }
            guard let partner = self.partner(of: reload, counts: false) else { return nil }
            signal.event = .entryShown(partner, date: date)
            return .signal(signal)
        case .push, .register, .unregister, .appReload, .invalidate, .order, .channel, .trace, .audit: return record
        }
    }

    private mutating func partner(of reload: ReloadID, counts: Bool = true) -> ReloadID? {
        guard let partner = self.partners[reload] else { return nil }
        if counts, self.first.time >= self.since { self.result.answersKept += 1 }
        return partner
    }

    private mutating func applySecond(_ record: Record, at now: Instant, isNewEntry: Bool) throws(EngineError) {
        if isNewEntry { self.otherPosition = self.otherPosition.next }
        let number = self.second.decisionCount
        let packed = PackedRecords(record.bytes)
        var run = EntryRun(LogEntry(position: self.otherPosition, logTime: now, packed: packed))
        let effects = try run.applyNext(&self.second)?.effects ?? []
        self.result.other.takeDecisions(self.second, since: number)
        for (reloads, key) in Self.units(of: effects) {
            for reload in reloads {
                let served = self.second.pushes(servedBy: reload.id).count
                self.result.other.noteServed(served, app: reload.app, kind: reload.kind, at: self.second.time)
            }
            if let estimate = self.book.estimate(for: reloads[0]) {
                self.answers.insert(reloads[0], at: estimate.receivedAt.milliseconds)
            }
            self.match(reloads[0], key, isFirst: false)
        }
    }

    // MARK: - Which reload is which

    /// The reloads that are answered together: of one widget, or of one push to a token. The key names the widget or
    /// host that wakes.
    private static func units(of effects: [Effect]) -> [(reloads: [ReloadEffect], key: String)] {
        effects.compactMap { effect in
            switch effect {
            case .reload(let reload): ([reload], reload.address.description)
            case .push(let push):
                (
                    push.members.map(\.reload),
                    push.isControl ? push.members[0].reload.address.description : push.host.description
                )
            case .invalidation: nil
            }
        }
    }

    /// Finds the reload of the other run that a reload is the same as.
    private mutating func match(_ reload: ReloadEffect, _ key: String, isFirst: Bool) {
        var waiting = (isFirst ? self.unmatchedSecond[key] : self.unmatchedFirst[key]) ?? []
        waiting.removeAll { reload.issuedAt - $0.issuedAt > Self.tolerance }
        let partner = waiting.popLast()
        if isFirst {
            self.unmatchedSecond[key] = waiting.isEmpty ? nil : waiting
        } else {
            self.unmatchedFirst[key] = waiting.isEmpty ? nil : waiting
        }
        guard let partner else {
            var own = (isFirst ? self.unmatchedFirst[key] : self.unmatchedSecond[key]) ?? []
            own.removeAll { reload.issuedAt - $0.issuedAt > Self.tolerance }
            own.append(reload)
            if isFirst { self.unmatchedFirst[key] = own } else { self.unmatchedSecond[key] = own }
            return
        }
        let (mine, others) = isFirst ? (reload.id, partner.id) : (partner.id, reload.id)
        self.partners[mine] = others
        self.matchedSecond.insert(others)
    }
}
