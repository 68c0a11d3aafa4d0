package import Engine
package import WidgetModel

/// The measures of one run of a log, from an instant on: as it was, or as it would have been.
package struct WhatIfMeasures: Sendable {
    /// The reloads of one kind of widget.
    package struct Reloads: Hashable, Sendable {
        package var issued = 0
        package var charged = 0
        package var exempt = 0
        package var collateral = 0
        package var collateralOver = 0
        /// Pushes that reloads served.
        package var pushesServed = 0
        /// From a push that found a widget waiting until a reload of it went out.
        package var staleness = WaitHistogram()

        mutating func add(_ other: Reloads) {
            self.issued += other.issued
            self.charged += other.charged
            self.exempt += other.exempt
            self.collateral += other.collateral
            self.collateralOver += other.collateralOver
            self.pushesServed += other.pushesServed
            self.staleness.add(other.staleness)
        }
    }

    /// One kind of one app.
    package struct KindName: Hashable, Comparable, Sendable {
        package let app: BundleID
        package let kind: WidgetKind

        package static func < (left: KindName, right: KindName) -> Bool {
            (left.app.rawValue, left.kind.rawValue) < (right.app.rawValue, right.kind.rawValue)
        }
    }

    let since: Instant
    let starvedAfter: Interval
    private var byKind: [KindName: Reloads] = [:]
    /// Reloads by the hour since the beginning.
    package private(set) var hours: [Int] = []
    /// When the oldest push came that no reload has served, by widget.
    private var waitingSince: [InstanceAddress: Int64] = [:]
    private var starved: Set<InstanceAddress> = []
    package private(set) var outcomes = OutcomeCounts()
    package private(set) var senders: [SenderView] = []
    private var outcomesBefore = OutcomeCounts()
    private var sendersBefore: [SenderView] = []
    private var hasBegun = false
    /// Decisions that were made faster than they could be read.
    package private(set) var lostDecisions = 0

    init(since: Instant, starvedAfter: Interval) {
        self.since = since
        self.starvedAfter = starvedAfter
    }

    package var kinds: [(name: KindName, reloads: Reloads)] {
        self.byKind.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    package var all: Reloads {
        self.byKind.values.reduce(into: Reloads()) { $0.add($1) }
    }

    /// Widgets that waited longer than the bound at least once.
    package var starvedCount: Int { self.starved.count }
}

extension WhatIfMeasures {
    /// Notes the books as they are when the time that is measured begins.
    mutating func begin(_ engine: borrowing Engine) {
        guard !self.hasBegun else { return }
        self.hasBegun = true
        self.outcomesBefore = engine.stats().outcomes
        self.sendersBefore = engine.senders()
    }

    /// Takes an engine's decisions since a number.
    mutating func takeDecisions(_ engine: borrowing Engine, since number: UInt64) {
        let now = engine.time
        var noted: [TracedDecision] = []
        self.lostDecisions += engine.forEachDecision(from: number) { noted.append($0) }
        for traced in noted { self.takeDecision(traced, now) }
    }

    private mutating func takeDecision(_ traced: TracedDecision, _ now: Instant) {
        let decision = traced.decision
        switch decision.outcome {
        case .deferred, .expired:
            guard decision.push != nil, self.waitingSince[traced.instance] == nil else { return }
            self.waitingSince[traced.instance] = decision.at.milliseconds
        case .removed: self.waitingSince[traced.instance] = nil
        case .issued: self.issue(traced, now)
        case .reloaded, .exempt, .coalesced, .superseded, .unchanged, .cancelled, .failed: return
        }
    }

    private mutating func issue(_ traced: TracedDecision, _ now: Instant) {
        let since = self.waitingSince.removeValue(forKey: traced.instance)
        guard now >= self.since else { return }
        let name = KindName(app: traced.instance.app, kind: traced.kind)
        var reloads = self.byKind[name] ?? Reloads()
        reloads.issued += 1
        switch traced.decision.reason {
        case .collateral: reloads.collateral += 1
        case .collateralOver: reloads.collateralOver += 1
        case .exempt: reloads.exempt += 1
        default: reloads.charged += 1
        }
        if traced.decision.push != nil {
            let waited = since.map { now.milliseconds - $0 } ?? 0
            reloads.staleness.noteWait(Int(waited / 1000))
            if waited > self.starvedAfter.milliseconds { self.starved.insert(traced.instance) }
        }
        self.byKind[name] = reloads
        let hour = Int((now - self.since).milliseconds / 3_600_000)
        while self.hours.count <= hour { self.hours.append(0) }
        self.hours[hour] += 1
    }

    /// Counts the pushes that a reload serves.
    mutating func noteServed(_ count: Int, app: BundleID, kind: WidgetKind, at now: Instant) {
        guard now >= self.since else { return }
        self.byKind[KindName(app: app, kind: kind), default: Reloads()].pushesServed += count
    }

    /// Closes the books.
    mutating func end(_ engine: borrowing Engine) {
        self.begin(engine)
        let after = engine.stats().outcomes
        for outcome in PushOutcome.allCases {
            // Waiting matches and reloads on their way are counted as they are at the end, whenever they came.
            self.outcomes[outcome] = after[outcome] - (outcome.isFinal ? self.outcomesBefore[outcome] : 0)
        }
        self.senders = engine.senders().map { sender in
            sender.less(self.sendersBefore.first { $0.team == sender.team })
        }
        let end = engine.time.milliseconds
        for (instance, since) in self.waitingSince where end - since > self.starvedAfter.milliseconds {
            self.starved.insert(instance)
        }
    }

    /// Adds another partition's measures.
    mutating func add(_ other: WhatIfMeasures) {
        for (name, reloads) in other.byKind { self.byKind[name, default: Reloads()].add(reloads) }
        while self.hours.count < other.hours.count { self.hours.append(0) }
        for index in other.hours.indices { self.hours[index] += other.hours[index] }
        self.starved.formUnion(other.starved)
        self.outcomes += other.outcomes
        for sender in other.senders {
            if let index = self.senders.firstIndex(where: { $0.team == sender.team }) {
                self.senders[index].counts += sender.counts
            } else {
                self.senders.append(sender)
            }
        }
        self.senders.sort { $0.team.rawValue < $1.team.rawValue }
        self.lostDecisions += other.lostDecisions
    }
}

extension SenderView {
    /// The counts since an earlier view of the same sender.
    fileprivate func less(_ before: SenderView?) -> SenderView {
        guard let before else { return self }
        var view = self
        view.counts -= before.counts
        return view
    }
}
