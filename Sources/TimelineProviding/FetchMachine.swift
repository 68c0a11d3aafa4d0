package import Engine
package import Ownership
package import WidgetModel

/// Fetches the timelines of one kind from its provider, as a value: it chooses each question and its time, and judges the answer.
///
/// Its driver reports events, and asks ``next(now:)`` for the next step, one ``FetchAction`` after the other. It has no clock, no
/// connections and no log: the gateway's fetcher runs it beside an HTTP client, and the fault simulator in virtual time.
///
/// Its rules:
/// - A reload is in here once, until its timeline has come or the engine wants it no more.
/// - The engine names the wanted reloads before a request is sent, and again before its answer is stored.
/// - An answer that a later one has overtaken is not stored: its reloads are asked about again. No two exchanges store the timeline of
///   one reload.
/// - A reload whose partition does not answer stays, or is searched for again.
/// - Reloads without room stay in the engine's tables, and are searched for when there is room: half of it is for new ones.
/// - Each partition is searched again every hour: reloads and content that no event names are found then, such as the reloads of a
///   host that has changed to a stream, or the content of a timeline whose successor never came.
package struct FetchMachine: Sendable {
    /// Whether it may ask the provider.
    private enum Standing {
        case asking
        /// Never: the reloads wait.
        case waiting
        /// Not any more: the log has the outstanding reloads.
        case closed
    }

    /// A request, or a call-back, which begins where a request is answered.
    ///
    /// ```
    ///   finding ──▶ sending ──▶ checking ──▶ storing ──▶ over
    /// ```
    private struct Exchange {
        enum Stage {
            /// The engine is asked for the wanted reloads.
            case finding
            case sending
            /// The engine is asked which of an answer it still wants. The provider has promised to call back about some reloads.
            case checking([ReloadID: FetchPart], promised: Set<ReloadID>)
            /// Some reloads need no timeline any more; those of others are stored.
            case storing(Set<ReloadID>, over: Set<ReloadID>, promised: Set<ReloadID>)
        }

        let reloads: [ReloadID]
        var stage: Stage
        /// Instances for which the answer to a later request came first.
        var overtaken: Set<InstanceAddress> = []

        func stores(_ reload: ReloadID) -> Bool {
            if case .storing(let reloads, _, _) = self.stage { reloads.contains(reload) } else { false }
        }
    }

    /// How many rows a search looks for at once.
    package static let searchMax = 512
    /// How long no placeholder is asked for after one has failed, so that a provider that has none, or is slow with
    /// them, delays no more timelines.
    package static let placeholderPause = Interval.minutes(1)
    /// How long no partition is searched after one has not answered.
    package static let silencePause = Interval.seconds(1)
    /// How far apart the searches of all partitions are.
    package static let roundInterval = Interval.hours(1)

    private var standing: Standing
    package private(set) var planner: FetchPlanner
    package private(set) var health = TargetHealth()
    package private(set) var timelinesRefused = 0
    /// The last fault, and when it was.
    package private(set) var lastFault: (at: Instant, text: String)?
    /// Reloads that the planner does not know yet: their subject or their placeholder is being asked for.
    private var pending: Set<ReloadID> = []
    /// Those whose placeholder is being asked for, one question for each context. Looked up only.
    private var awaitingPlaceholder: [TimelineProviderContext: [FetchSubject]] = [:]
    private var placeholdersPausedUntil = Instant.epoch
    private var exchanges: [FetchExchange: Exchange] = [:]
    private var callBacks = 0
    private var searches: [FetchSearch] = []
    private var isSearching = false
    /// Until then no partition is searched: one did not answer.
    private var searchesPausedUntil = Instant.epoch
    /// The partitions that were ever searched. One that has gone to another node has nothing to find.
    private var partitions: Set<PartitionID> = []
    /// When they are searched again; nil before the first step.
    private var nextRound: Instant?
    private var actions: ArraySlice<FetchAction> = []

    /// - Parameters:
    ///   - name: Of app and kind, which gives its breaker times of its own.
    ///   - asks: False for one that asks no provider, ever.
    package init(limits: FetchLimits, name: String, asks: Bool = true) {
        self.standing = asks ? .asking : .waiting
        self.planner = FetchPlanner(limits: limits, name: name)
    }

    /// Reloads that are in here.
    package var count: Int { self.planner.count + self.pending.count }

    /// Until when no request goes; nil if one may go now.
    package func heldUntil(_ now: Instant) -> Instant? {
        guard case .refused(let until) = self.planner.breaker.permission(at: now) else { return nil }
        return until
    }

    /// Asks for nothing more, and ends the exchanges that there are.
    package mutating func close() { self.standing = .closed }

    /// Lets the reloads that wait after failures be asked about at once.
    package mutating func tryNow() {
        self.planner.tryNow()
        self.placeholdersPausedUntil = .epoch
    }
}

// MARK: - Actions

extension FetchMachine {
    /// The next step; nil if there is none before ``nextDue(_:)``, or before another event.
    package mutating func next(now: Instant) -> FetchAction? {
        if let action = self.actions.popFirst() { return action }
        switch self.standing {
        case .closed: return nil
        case .waiting: return self.nextSearch(now)
        case .asking: break
        }
        if let change = self.health.look(at: now) { return .tellHealth(change, heldUntil: self.heldUntil(now)) }
        self.beginRound(now)
        guard let batch = self.planner.next(at: now) else { return self.nextSearch(now) }
        let reloads = batch.items.map(\.reload)
        self.exchanges[.request(batch.number)] = Exchange(reloads: reloads, stage: .finding)
        return .findWanted(.request(batch.number), reloads)
    }

    /// When there is something to do without anything else happening; nil if never.
    package mutating func nextDue(_ now: Instant) -> Instant? {
        let isPaused = !self.searches.isEmpty && !self.isSearching && self.searchesPausedUntil > now
        let search = isPaused ? self.searchesPausedUntil : nil
        switch self.standing {
        case .closed: return nil
        case .waiting: return search
        case .asking:
            let round = self.partitions.isEmpty ? nil : self.nextRound
            return [search, round, self.planner.wakesAt(now), self.health.looksAt].compactMap(\.self).min()
        }
    }

    private mutating func beginRound(_ now: Instant) {
        if let due = self.nextRound {
            guard now >= due else { return }
            for partition in self.partitions.sorted() {
                self.lookForReloads(in: partition)
                self.restoreContent(in: partition)
            }
        }
        self.nextRound = now + Self.roundInterval
    }

    /// Reloads come before content.
    private mutating func nextSearch(_ now: Instant) -> FetchAction? {
        let room = self.planner.limits.waitingMax / 2 - self.count
        guard !self.isSearching, now >= self.searchesPausedUntil, room >= 0, !self.searches.isEmpty else { return nil }
        let index = self.searches.firstIndex(where: \.isForReloads) ?? 0
        self.isSearching = true
        return .search(self.searches.remove(at: index), limit: min(max(room, 1), Self.searchMax))
    }
}

// MARK: - Reloads

extension FetchMachine {
    /// Takes reloads that were issued. Those without room are searched for later.
    package mutating func takeReloads(issued: [ReloadID]) {
        let unknown = issued.filter { !self.knows($0) }
        let taken = unknown.prefix(max(0, self.planner.limits.waitingMax - self.count))
        let left = unknown.dropFirst(taken.count)
        self.planner.noteOverflow(left.count)
        for partition in Set(left.map(\.partition)).sorted() { self.lookForReloads(in: partition) }
        self.findSubjects(of: taken)
    }

    /// Looks for the kind's outstanding reloads in a partition: at a start, and when it has come from another node.
    package mutating func lookForReloads(in partition: PartitionID) { self.look(for: .reloads(partition)) }

    /// Looks for accepted timelines whose content is not here: it is asked for again.
    ///
    /// It costs no reload, and no part of any budget. The provider may give another timeline by now, which takes the
    /// place of the accepted one.
    package mutating func restoreContent(in partition: PartitionID) { self.look(for: .content(partition)) }

    private mutating func look(for search: FetchSearch, from instant: Instant = .epoch) {
        self.partitions.insert(search.partition)
        if !self.searches.contains(search) { self.searches.append(search) }
        self.searchesPausedUntil = max(self.searchesPausedUntil, instant)
    }

    /// Takes the result of ``FetchAction/search(_:limit:)``.
    ///
    /// - Parameter next: The rest of the search; nil at the end.
    package mutating func takeFinds(_ finds: FetchFinds, in search: FetchSearch, next: FetchSearch?, now: Instant) {
        self.isSearching = false
        // It ends before another one of its kind begins.
        if let next { self.searches.insert(next, at: 0) }
        switch finds {
        case .reloads(let reloads): self.findSubjects(of: reloads.filter { !self.knows($0) })
        case .content(let shown):
            for timeline in shown where !self.knows(timeline.subject.reload) {
                self.planner.add(FetchItem(contentOf: timeline, now: now))
            }
        case .silence: self.look(for: search, from: now + Self.silencePause)
        }
    }

    private func knows(_ reload: ReloadID) -> Bool { self.planner.knows(reload) || self.pending.contains(reload) }

    private mutating func findSubjects(of reloads: some Sequence<ReloadID>) {
        let new = reloads.filter { self.pending.insert($0).inserted }
        for (partition, ids) in Dictionary(grouping: new, by: \.partition).sorted(by: { $0.key < $1.key }) {
            self.actions.append(.findSubjects(partition, ids))
        }
    }

    /// Takes the result of ``FetchAction/findSubjects(_:_:)``.
    ///
    /// - Parameters:
    ///   - subjects: Those of the outstanding reloads; nil if the partition did not answer.
    ///   - hasPlaceholder: Whether a placeholder is kept.
    package mutating func takeSubjects(
        _ subjects: [FetchSubject]?,
        of reloads: [ReloadID],
        in partition: PartitionID,
        now: Instant,
        hasPlaceholder: (TimelineProviderContext) -> Bool
    ) {
        let waiting = self.pending.intersection(reloads)
        self.pending.subtract(reloads)
        guard let subjects else { return self.look(for: .reloads(partition), from: now + Self.silencePause) }
        for subject in subjects where waiting.contains(subject.reload) {
            if subject.isNew, !hasPlaceholder(subject.placeholderContext) {
                self.askForPlaceholder(of: subject, now)
            } else {
                self.begin(subject)
            }
        }
    }

    /// Lets a timeline be asked for. Its instance shows a placeholder before, if it is new and one is kept.
    private mutating func begin(_ subject: FetchSubject) {
        self.pending.remove(subject.reload)
        if subject.isNew { self.actions.append(.showPlaceholder(subject)) }
        self.planner.add(FetchItem(subject))
    }

    /// Asks for the placeholder of an instance's context, then for its timeline: that waits until the placeholder has come
    /// or failed, with those of all others that come meanwhile and have the same context. No part of any budget, and no
    /// reload.
    private mutating func askForPlaceholder(of subject: FetchSubject, _ now: Instant) {
        let context = subject.placeholderContext
        if self.awaitingPlaceholder[context] == nil {
            guard case .asking = self.standing, now >= self.placeholdersPausedUntil,
                self.planner.breaker.permission(at: now) == .granted,
                self.awaitingPlaceholder.count < self.planner.limits.inFlightMax
            else { return self.begin(subject) }
            self.actions.append(.askForPlaceholder(context))
        }
        self.pending.insert(subject.reload)
        self.awaitingPlaceholder[context, default: []].append(subject)
    }

    /// Takes the result of ``FetchAction/askForPlaceholder(_:)``.
    package mutating func takePlaceholder(of context: TimelineProviderContext, isThere: Bool, now: Instant) {
        if !isThere { self.placeholdersPausedUntil = now + Self.placeholderPause }
        for subject in self.awaitingPlaceholder.removeValue(forKey: context) ?? [] { self.begin(subject) }
    }
}

// MARK: - Requests and call-backs

extension FetchMachine {
    /// Takes a call-back.
    ///
    /// - Returns: Its number: ``FetchAction/answerCallBack(_:taken:)`` names it.
    package mutating func callBack(_ parts: [ReloadID: FetchPart]) -> Int {
        self.callBacks += 1
        let reloads = parts.keys.sorted { left, right in
            (left.partition, left.position, left.instance.raw) < (right.partition, right.position, right.instance.raw)
        }
        let stage = Exchange.Stage.checking(parts, promised: [])
        self.exchanges[.callBack(self.callBacks)] = Exchange(reloads: reloads, stage: stage)
        self.actions.append(.findWanted(.callBack(self.callBacks), reloads))
        return self.callBacks
    }

    /// Takes the result of ``FetchAction/findWanted(_:_:)``.
    package mutating func takeWanted(_ wanted: FetchWanted, of exchange: FetchExchange, now: Instant) {
        switch (exchange, self.exchanges[exchange]?.stage) {
        case (.request(let number), .finding):
            let subjects = wanted.all.map(\.subject)
            // Another request may have failed meanwhile.
            guard case .asking = self.standing, !subjects.isEmpty, self.planner.mayGo(number, at: now) else {
                let left = wanted.unknown.union(subjects.map(\.reload))
                self.exchanges[exchange] = nil
                return self.planner.withdrawn(number, left: left, at: now)
            }
            self.exchanges[exchange]?.stage = .sending
            self.actions.append(.send(number, subjects))
        case (_, .checking(let parts, let promised)): self.store(parts, promised, wanted, of: exchange, now)
        default: return
        }
    }

    /// Takes the result of ``FetchAction/send(_:_:)``.
    package mutating func takeAnswer(_ answer: FetchAnswer, to number: Int, now: Instant) {
        let id = FetchExchange.request(number)
        guard let exchange = self.exchanges[id], case .sending = exchange.stage else { return }
        switch answer {
        case .failure(let answer, let retryAfter):
            self.exchanges[id] = nil
            self.noteFault(answer.detail ?? answer.reason, now)
            self.planner.failed(number, retryAfter: retryAfter, at: now)
            self.noteHealth(answer, now)
        case .parts(let parts, let status, let isPromise):
            let hasTimeline = parts.values.contains { if case .timeline = $0 { true } else { false } }
            self.noteHealth(
                isPromise || hasTimeline
                    ? TargetHealth.Answer(.success, status: status, at: now)
                    : TargetHealth.Answer(
                        .refusal,
                        status: status,
                        reason: "none of the requested timelines",
                        at: now
                    ),
                now
            )
            let promised = isPromise ? Set(exchange.reloads.filter { parts[$0] == nil }) : []
            self.exchanges[id]?.stage = .checking(parts, promised: promised)
            self.actions.append(.findWanted(id, exchange.reloads))
        }
    }

    private mutating func store(
        _ parts: [ReloadID: FetchPart],
        _ promised: Set<ReloadID>,
        _ wanted: FetchWanted,
        of id: FetchExchange,
        _ now: Instant
    ) {
        var over = Set(self.exchanges[id]?.reloads ?? []).subtracting(wanted.unknown)
        var timelines: [FetchedTimeline] = []
        for (subject, accepted) in wanted.all {
            over.remove(subject.reload)
            switch parts[subject.reload] {
            // A provider may call back about anything, also about content that is not asked for.
            case .timeline where accepted != nil && !self.planner.knows(subject.reload): continue
            case .timeline where self.exchanges[id]?.overtaken.contains(subject.address) ?? true: continue
            case .timeline where self.exchanges.values.contains { $0.stores(subject.reload) }: continue
            case .timeline(let timeline): timelines.append(FetchedTimeline(timeline, of: subject, accepted: accepted))
            case .fault(let text): self.noteFault(text, now)
            case .refused(let text): self.refuse(text, now)
            case nil: continue
            }
        }
        self.exchanges[id]?.stage = .storing(Set(timelines.map(\.subject.reload)), over: over, promised: promised)
        guard !timelines.isEmpty else { return self.takeStored(.stored([:]), of: id, now: now) }
        self.overtake(id, timelines)
        self.actions.append(.store(id, timelines))
    }

    /// Notes timelines in the earlier requests, whose answers are of older data.
    private mutating func overtake(_ id: FetchExchange, _ timelines: [FetchedTimeline]) {
        guard case .request(let number) = id else { return }
        for case .request(let other) in self.exchanges.keys where other < number {
            self.exchanges[.request(other)]?.overtaken.formUnion(timelines.map(\.subject.address))
        }
    }

    /// Takes the result of ``FetchAction/store(_:_:)``.
    package mutating func takeStored(_ stored: FetchStored, of id: FetchExchange, now: Instant) {
        guard let exchange = self.exchanges[id], case .storing(_, let over, let promised) = exchange.stage else {
            return
        }
        self.exchanges[id] = nil
        var taken: Set<ReloadID> = []
        switch stored {
        // Nothing is lost: the reloads are out, and are asked about again.
        case .failed(let text): self.noteFault("its answer could not be stored: \(text)", now)
        case .stored(let outcomes):
            for reload in exchange.reloads {
                switch outcomes[reload] {
                case .taken, .unwanted: taken.insert(reload)
                case .refused(let text): self.refuse(text, now)
                case nil: continue
                }
            }
        }
        switch id {
        case .request(let number):
            let answered = over.union(taken)
            if !answered.isEmpty { self.actions.append(.forget(exchange.reloads.filter(answered.contains))) }
            self.planner.succeeded(number, answered: answered, called: promised.subtracting(answered), at: now)
        case .callBack(let number):
            for reload in taken { _ = self.planner.calledBack(reload) }
            self.actions.append(.answerCallBack(number, taken: taken.count))
        }
    }

    private mutating func refuse(_ text: String, _ now: Instant) {
        self.timelinesRefused += 1
        self.noteFault(text, now)
    }

    private mutating func noteFault(_ text: String, _ now: Instant) {
        self.lastFault = (now, String(text.prefix(300)))
        self.actions.append(.tellFault(text))
    }

    private mutating func noteHealth(_ answer: TargetHealth.Answer, _ now: Instant) {
        guard let change = self.health.takeAnswer(answer, heldUntil: self.heldUntil(now)) else { return }
        self.actions.append(.tellHealth(change, heldUntil: self.heldUntil(now)))
    }
}
