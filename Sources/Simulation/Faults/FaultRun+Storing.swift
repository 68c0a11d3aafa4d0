import Engine
import Journaling
import Ownership
import Scenarios
import TimelineProviding
import Timelines
import WidgetModel

/// The timelines of providers on their way into the log, and their checks.
extension FaultRun {
    mutating func store(
        _ timelines: [FetchedTimeline],
        of exchange: FetchExchange,
        _ fetcher: SimulatedFetcher
    ) {
        for item in timelines { self.check(item, of: exchange, fetcher) }
        var storing = SimulatedFetcher.Storing(
            exchange: exchange,
            timelines: timelines,
            before: timelines.map { fetcher.contents[$0.subject.address]?.reload },
            waiting: []
        )
        storing.hasFailed = self.dice.chance(self.plan.failedWrites)
        defer {
            fetcher.storing.append(storing)
            self.finishStoring(of: fetcher)
        }
        guard !storing.hasFailed else { return }
        for item in timelines { self.disk[item.subject.address] = item.timeline.stored(item.subject) }
        let reports = timelines.compactMap { self.report(of: $0) }
        for (partition, reports) in Dictionary(grouping: reports, by: { FaultWorld.partition(of: $0.host) })
            .sorted(by: { $0.key < $1.key })
        {
            storing.waiting.insert(partition)
            var packed = PackedRecords()
            for report in reports { packed.append(Record.timeline(report).bytes) }
            let (inbox, start) = (self.inbox, fetcher.start)
            self.drawWriteFaults()
            self.journal.append(Submission(partition: partition, records: packed)) { result in
                inbox.append(.fetched(start: start, exchange, partition, result))
            }
        }
    }

    /// A timeline's record, as a fetcher with a bug logs it.
    private func report(of item: FetchedTimeline) -> TimelineReport? {
        guard self.mutation == .logsContent else { return item.report }
        let address = item.subject.address
        let timeline = item.timeline.timeline
        return TimelineReport(
            host: address.host,
            instance: address.instance,
            reload: item.subject.reload,
            timeline: timeline
        )
    }

    /// A timeline is for an outstanding reload, or for content that is not here, and nothing else brings it or has brought a newer one.
    private mutating func check(_ item: FetchedTimeline, of exchange: FetchExchange, _ fetcher: SimulatedFetcher) {
        let (reload, address) = (item.subject.reload, item.subject.address)
        guard let owner = self.owner(reload.partition, start: fetcher.start) else { return }
        let isOut = ReloadEffect.find(reload, in: owner.engine) != nil
        let shown = ReloadQuestion<ShownTimeline>([reload]).answer(from: owner.engine)[0]
        if !isOut, shown.map({ fetcher.has($0) }) ?? true {
            self.checker.fault("\(reload) is over, and its timeline is stored")
        }
        if !isOut, let shown, let report = self.report(of: item), report.timeline.entries == shown.timeline.entries,
            report.timeline.digest == shown.timeline.digest
        {
            self.checker.fault("\(reload) has its timeline, and it is logged again")
        }
        if fetcher.storing.contains(where: { $0.timelines.contains { $0.subject.reload == reload } }) {
            self.checker.fault("the timeline of \(reload) is stored twice")
        }
        guard case .request(let number) = exchange else { return }
        if fetcher.lastRequest[address, default: 0] > number {
            self.checker.fault("\(address) gets the answer to an earlier request")
        }
        fetcher.lastRequest[address] = number
    }

    /// The journal has called back about a fetcher's records.
    mutating func takeFetched(
        _ exchange: FetchExchange,
        _ partition: PartitionID,
        _ result: Result<AppendReceipt, JournalError>,
        start: Int
    ) {
        guard let fetcher = self.fetcher(start) else { return }
        guard let index = fetcher.storing.firstIndex(where: { $0.exchange == exchange }) else {
            // A call-back once more, behind the end.
            if let stored = fetcher.stored[exchange] {
                fetcher.machine.takeStored(stored, of: exchange, now: self.clock.now)
            }
            return
        }
        fetcher.storing[index].waiting.remove(partition)
        switch result {
        case .success(let receipt): fetcher.storing[index].receipts[partition] = receipt
        case .failure: fetcher.storing[index].hasFailed = true
        }
        self.finishStoring(of: fetcher)
    }

    /// An owner has applied an entry.
    mutating func noteApplied(_ run: EntryRun, by owner: SimulatedOwner) {
        guard let fetcher = self.fetcher(owner.start) else { return }
        var results: [Int: RecordAnswer.Result] = [:]
        for answer in run.output.answers { results[answer.recordIndex] = answer.result }
        fetcher.results[owner.partition, default: [:]][run.entry.position] = results
        self.finishStoring(of: fetcher)
    }

    /// Tells the machine of the timelines whose records are applied.
    private mutating func finishStoring(of fetcher: SimulatedFetcher) {
        for storing in fetcher.storing where storing.waiting.isEmpty {
            let isApplied = storing.receipts.allSatisfy { fetcher.results[$0.key]?[$0.value.position] != nil }
            guard storing.hasFailed || isApplied else { continue }
            fetcher.storing.removeAll { $0.exchange == storing.exchange }
            if self.mutation == .losesStored, self.dice.chance(0.3) { continue }
            let stored = storing.hasFailed ? .failed("a fault of the simulation") : self.outcomes(of: storing, fetcher)
            fetcher.stored[storing.exchange] = stored
            fetcher.machine.takeStored(stored, of: storing.exchange, now: self.clock.now)
        }
    }

    private mutating func outcomes(of storing: SimulatedFetcher.Storing, _ fetcher: SimulatedFetcher) -> FetchStored {
        var outcomes: [ReloadID: FetchStored.Outcome] = [:]
        var places: [PartitionID: Int] = [:]
        for (item, before) in zip(storing.timelines, storing.before) {
            let address = item.subject.address
            var outcome = FetchStored.Outcome.unwanted
            if self.report(of: item) == nil {
                if fetcher.contents[address]?.reload == before { outcome = .taken }
                self.checker.noteOccurrence(.restoredContent)
            } else if let receipt = storing.receipts[item.subject.reload.partition] {
                let place = places[receipt.partition, default: receipt.firstRecordIndex]
                places[receipt.partition] = place + 1
                switch fetcher.results[receipt.partition]?[receipt.position]?[place] {
                case .timeline: outcome = .taken
                case .timelineRefused(let fault): outcome = .refused(fault.description)
                default: break
                }
            }
            outcomes[item.subject.reload] = outcome
            guard outcome == .taken else { continue }
            self.checker.noteOccurrence(.fetched)
            fetcher.contents[address] = item.timeline.stored(item.subject)
        }
        return .stored(outcomes)
    }
}

// MARK: - The end

extension FaultRun {
    /// While its provider is well, no reload waits for its timeline for so long.
    ///
    /// - Parameter areTold: Only reloads that the fetcher was told of. It finds the others when it searches the partition again.
    mutating func checkFetches(within patience: Interval, areTold: Bool) {
        guard self.checker.violations.isEmpty else { return }
        for owner in self.owners {
            for reload in self.outstandingFetches(of: owner)
            where self.clock.now - reload.issuedAt > patience && (!areTold || self.checker.isForStream(reload.id)) {
                self.checker.fault("\(reload.id) has waited for its timeline since \(reload.issuedAt)")
            }
        }
        self.checker.noteOccurrence(.fetchOverflow, self.fetcher(self.start)?.machine.planner.counters.overflowed ?? 0)
    }

    /// The content of each timeline that is shown is here.
    mutating func checkContents() {
        guard let fetcher = self.fetcher(self.start) else { return }
        let list = ShownTimelines(of: FaultWorld.app, FaultWorld.fetchedKind)
        for owner in self.owners {
            for shown in PageQuestion(list, limit: .max).answer(from: owner.engine).rows where !fetcher.has(shown) {
                self.checker.fault("\(shown.subject.address) shows a timeline whose content is not here")
            }
        }
    }
}
