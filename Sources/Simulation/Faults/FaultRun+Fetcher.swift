import Engine
import Journaling
import Ownership
import Scenarios
import TimelineProviding
import Timelines
import WidgetModel

/// A step in the surroundings of a fetcher.
enum FetchStep: Sendable {
    /// The engines answer.
    case findSubjects(PartitionID, [ReloadID])
    case search(FetchSearch, limit: Int)
    case findWanted(FetchExchange, [ReloadID])
    /// The provider was asked for a placeholder.
    case placeholder(TimelineProviderContext)
    /// A request reaches the provider, and its answer the fetcher.
    case ask(Int, [FetchSubject])
    case answer(Int, FetchAnswer)
    /// The provider calls back, whichever start of the gateway there is.
    case callBack([ReloadID: FetchPart])
    case wake
}

/// A gateway's fetcher of timelines, and the failures of its surroundings.
extension FaultRun {
    func fetcher(_ start: Int) -> SimulatedFetcher? { self.fetchers.first { $0.start == start } }

    /// A start of the gateway has a fetcher, and the content that is left on its disk.
    mutating func makeFetcher() {
        var contents: [InstanceAddress: StoredTimeline] = [:]
        for address in self.disk.keys.sorted() where !self.dice.chance(self.plan.lostContents) {
            contents[address] = self.disk[address]
        }
        self.fetchers.append(SimulatedFetcher(start: self.start, contents: contents, &self.dice))
    }

    /// Has the fetcher of a start look for the reloads and contents that are missing.
    mutating func beginFetching() {
        guard let fetcher = self.fetcher(self.start), self.mutation != .forgetsFetches else { return }
        for owner in self.owners { fetcher.machine.lookForReloads(in: owner.partition) }
        for owner in self.owners { fetcher.machine.restoreContent(in: owner.partition) }
    }

    /// The reloads to be fetched that are out.
    func outstandingFetches(of owner: SimulatedOwner) -> [ReloadEffect] {
        ReloadsQuestion(.app(FaultWorld.app)).answer(from: owner.engine).reloads.filter(FaultWorld.isFetched)
    }

    /// Performs a machine's actions until it has none. Returns whether it had any.
    mutating func follow(_ fetcher: SimulatedFetcher) -> Bool {
        var isBusy = false
        while !self.isDown, let action = fetcher.machine.next(now: self.clock.now) {
            isBusy = true
            self.perform(action, fetcher)
            if !self.isDown { _ = self.dies(share: 0.2) }
        }
        guard !self.isDown,
            let at = self.wakeTime(fetcher.machine.nextDue(self.clock.now), planned: fetcher.wakesAt)
        else { return isBusy }
        fetcher.wakesAt = at
        self.queue.insert(.fetch(.wake, start: fetcher.start), at: at)
        return isBusy
    }

    private mutating func perform(_ action: FetchAction, _ fetcher: SimulatedFetcher) {
        switch action {
        case .findSubjects(let partition, let reloads): self.answerLater(.findSubjects(partition, reloads), fetcher)
        case .search(let search, let limit): self.answerLater(.search(search, limit: limit), fetcher)
        case .findWanted(let exchange, let reloads): self.answerLater(.findWanted(exchange, reloads), fetcher)
        case .askForPlaceholder(let context): self.answerLater(.placeholder(context), fetcher)
        case .send(let number, let subjects): self.send(number, subjects, fetcher)
        case .store(let exchange, let timelines): self.store(timelines, of: exchange, fetcher)
        case .showPlaceholder(let subject):
            if !subject.isNew { self.checker.fault("\(subject.reload) shows a placeholder over a timeline") }
        case .answerCallBack(_, let taken): self.checker.noteOccurrence(.calledBack, taken)
        case .tellHealth(.trouble, _): self.checker.noteOccurrence(.providerTrouble)
        case .tellHealth(.well, _), .forget, .tellFault: return
        }
    }

    private mutating func answerLater(_ step: FetchStep, _ fetcher: SimulatedFetcher) {
        let at = self.now + Int64(self.dice.below(self.plan.delayMax))
        self.queue.insert(.fetch(step, start: fetcher.start), at: at)
    }

    mutating func takeStep(_ step: FetchStep, start: Int) {
        // Those two happen also if the start that asked has died.
        if case .ask(let number, let subjects) = step { return self.arrive(number, subjects, start: start) }
        if case .callBack(let parts) = step {
            _ = self.fetcher(self.start)?.machine.callBack(parts)
            return
        }
        guard let fetcher = self.fetcher(start) else { return }
        let now = self.clock.now
        switch step {
        case .findSubjects(let partition, let reloads):
            let subjects = self.subjects(reloads, in: partition, fetcher)
            fetcher.machine.takeSubjects(subjects, of: reloads, in: partition, now: now) {
                fetcher.placeholders.contains($0)
            }
        case .search(let search, let limit):
            let (finds, next) = self.find(search, limit, fetcher)
            fetcher.machine.takeFinds(finds, in: search, next: next, now: now)
        case .findWanted(let exchange, let reloads):
            fetcher.machine.takeWanted(self.wanted(reloads, exchange, fetcher), of: exchange, now: now)
        case .placeholder(let context):
            let isThere = !self.dice.chance(self.plan.providerTroubles)
            if isThere { fetcher.placeholders.insert(context) }
            fetcher.machine.takePlaceholder(of: context, isThere: isThere, now: now)
        case .answer(let number, let answer): self.takeAnswer(answer, to: number, fetcher)
        case .wake: fetcher.wakesAt = nil
        case .ask, .callBack: return
        }
    }
}

// MARK: - Questions to engines

extension FaultRun {
    private mutating func subjects(
        _ reloads: [ReloadID],
        in partition: PartitionID,
        _ fetcher: SimulatedFetcher
    ) -> [FetchSubject]? {
        guard let owner = self.owner(partition, start: fetcher.start) else { return [] }
        guard !self.isSilent() else { return self.mutation == .mistakesSilence ? [] : nil }
        let found = ReloadQuestion<FetchSubject>(reloads).answer(from: owner.engine).compactMap(\.self)
        return found.filter { $0.kind == FaultWorld.fetchedKind }
    }

    /// Whether a partition does not answer this time.
    private mutating func isSilent() -> Bool {
        let isSilent = self.dice.chance(self.plan.silentPartitions)
        if isSilent { self.checker.noteOccurrence(.silentPartition) }
        return isSilent
    }

    private mutating func find(
        _ search: FetchSearch,
        _ limit: Int,
        _ fetcher: SimulatedFetcher
    ) -> (FetchFinds, next: FetchSearch?) {
        switch search {
        case .reloads(let partition, let start, let through):
            guard let owner = self.owner(partition, start: fetcher.start) else { return (.reloads([]), nil) }
            guard !self.isSilent() else {
                return self.mutation == .mistakesSilence ? (.reloads([]), nil) : (.silence, nil)
            }
            let question = ReloadsQuestion(.app(FaultWorld.app), from: start, through: through, limit: limit)
            let page = question.answer(from: owner.engine)
            let ours = page.reloads.filter(FaultWorld.isFetched).map(\.id)
            return (.reloads(ours), page.next.map { .reloads(partition, from: $0, through: page.through) })
        case .content(let partition, let place):
            guard let owner = self.owner(partition, start: fetcher.start) else { return (.content([]), nil) }
            guard !self.isSilent() else {
                return self.mutation == .mistakesSilence ? (.content([]), nil) : (.silence, nil)
            }
            let list = ShownTimelines(of: FaultWorld.app, FaultWorld.fetchedKind)
            let page = PageQuestion(list, from: place, limit: limit).answer(from: owner.engine)
            let lacking = page.rows.filter { !fetcher.has($0) }
            return (.content(lacking), page.next.map { .content(partition, from: $0) })
        }
    }

    private mutating func wanted(
        _ reloads: [ReloadID],
        _ exchange: FetchExchange,
        _ fetcher: SimulatedFetcher
    ) -> FetchWanted {
        if self.mutation == .storesUnchecked, let first = fetcher.firstWanted[exchange] { return first }
        var wanted = FetchWanted()
        for (partition, ids) in Dictionary(grouping: reloads, by: \.partition).sorted(by: { $0.key < $1.key })
        where Int(partition.rawValue) < FaultWorld.partitions {
            guard let subjects = self.subjects(ids, in: partition, fetcher) else {
                wanted.unknown.formUnion(ids)
                continue
            }
            wanted.subjects += subjects
            guard let owner = self.owner(partition, start: fetcher.start) else { continue }
            let out = Set(subjects.map(\.reload))
            let shown = ReloadQuestion<ShownTimeline>(ids.filter { !out.contains($0) }).answer(from: owner.engine)
            wanted.shown += shown.compactMap(\.self).filter {
                $0.subject.kind == FaultWorld.fetchedKind && !fetcher.has($0)
            }
        }
        fetcher.firstWanted[exchange] = wanted
        return wanted
    }
}
