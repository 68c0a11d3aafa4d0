import Engine
import HTTPTransport
import History
import NIOPosix
import Partitions
import WidgetModel

/// Decisions that engines have no room for any more, from where they are kept.
extension OperatorRoutes {
    /// How many decisions of an instance a day's ledger goes back at most beyond those that its engine keeps.
    private static let ledgerDecisionsMax = 4096

    /// Adds to an instance the decisions that its engine does not keep.
    ///
    /// - Parameter decisions: How many of its decisions are asked for.
    func addEarlier(_ view: inout InstanceView, decisions: Int) async {
        guard let store = self.store.decisions?.store else { return }
        let partition = PartitionID(of: view.address.host, among: self.log.partitions)
        let known = view
        let found = try? await NIOThreadPool.singleton.runIfActive { () -> InstanceView in
            var view = known
            if view.decisions.count < decisions, let number = view.earlierDecision {
                let left = decisions - view.decisions.count
                view.decisions += store.earlier(partition, from: number, limit: left, since: nil).rows
            }
            if !view.ledger.isWhole {
                let earlier = store.earlier(
                    partition,
                    from: view.ledger.earlier,
                    limit: Self.ledgerDecisionsMax,
                    since: view.ledger.from
                )
                view.ledger = view.ledger.adding(earlier.rows, isWhole: earlier.isWhole)
            }
            return view
        }
        if let found { view = found }
    }

    /// Some decisions about a push: from where they are kept, then from the engine.
    ///
    /// - Parameter start: The number of the first; nil for the first that can be about it.
    func decisions(
        about push: PushID,
        in partition: PartitionID,
        from start: UInt64?,
        _ outcome: PushOutcome?,
        limit: Int
    ) async throws(Problem) -> ListPage<PushDecision> {
        if let store = self.store.decisions?.store {
            let known = try await self.log.ask(partition, KeptDecisionsQuestion(about: push))
            if let position = known.accepted, let first = store.first(partition, from: position, start ?? 0),
                first < known.oldest,
                let block = try? await NIOThreadPool.singleton.runIfActive({ store.block(partition, having: first) })
            {
                return block.decisions(about: push, first..<min(block.head.end, known.oldest), outcome, limit)
            }
        }
        let list = DecisionList(about: push, outcome: outcome)
        return try await self.log.ask(partition, PageQuestion(list, from: start, limit: limit))
    }

    // MARK: Replays

    /// How far decisions are made again, begun where it is asked for; nil where it is not asked for and none is under way or has
    /// ended early, and within a team's reach, since a partition has all teams' decisions.
    func replay(of host: HostKey, isAskedFor: Bool) -> JSONValue? {
        guard let filer = self.store.decisions, self.reach.isEverything else { return nil }
        let partition = PartitionID(of: host, among: self.log.partitions)
        if isAskedFor { filer.replay(partition) }
        guard let progress = filer.progress(partition), isAskedFor || progress.isRunning || progress.fault != nil
        else { return nil }
        return JSONValue.object(of: [
            ("isRunning", .bool(progress.isRunning)),
            ("entries", .unsigned(progress.entries)),
            ("of", .unsigned(progress.of)),
            ("fault", progress.fault.map { .string($0) }),
        ])
    }

    // MARK: Numbers

    /// For `GET /v1/stats`; nil where decisions are in memory only.
    func decisionCounts() -> JSONValue? {
        guard let counts = self.store.decisions?.store.counts else { return nil }
        return JSONValue.object(of: [
            ("decisions", .count(counts.decisions)),
            ("blocks", .count(counts.blocks)),
            ("bytes", .count(counts.bytes)),
            ("since", counts.since.map { .instant($0) }),
            ("leftOut", .unsigned(counts.leftOut)),
            ("removed", .unsigned(counts.removed)),
            ("failures", .count(counts.failures)),
        ])
    }

    func addDecisions(_ text: inout PrometheusText) {
        guard let counts = self.store.decisions?.store.counts else { return }
        text.add("freshet_decisions_kept_bytes", .gauge, "Bytes of disk that decisions take.", counts.bytes)
        text.add(
            "freshet_decisions_left_out_total",
            .counter,
            "Decisions that are not on the disk, since they were made faster than they could be written.",
            Int(clamping: counts.leftOut)
        )
        text.add(
            "freshet_decision_failures_total",
            .counter,
            "Blocks of decisions that could not be read or written.",
            counts.failures
        )
    }
}

extension DayLedger {
    /// The same with decisions before, the newest first.
    fileprivate func adding(_ earlier: [DecisionView], isWhole: Bool) -> DayLedger {
        let added = earlier.filter { $0.outcome == .issued }.map {
            Entry(decision: $0, isCharged: $0.isCharged, left: nil)
        }
        return DayLedger(
            from: self.from,
            until: self.until,
            isWhole: isWhole,
            entries: added.reversed() + self.entries,
            earlier: nil
        )
    }
}

extension DecisionBlock {
    /// Those of some of its decisions that are about a push, and the number to go on with.
    fileprivate func decisions(
        about push: PushID,
        _ numbers: Range<UInt64>,
        _ outcome: PushOutcome?,
        _ limit: Int
    ) -> ListPage<PushDecision> {
        var page = ListPage<PushDecision>(next: numbers.upperBound)
        for number in numbers {
            guard let row = self[number], row.decision.push == push else { continue }
            guard outcome == nil || row.decision.outcome == outcome else { continue }
            page.rows.append(PushDecision(instance: self.instance(of: row), decision: row.decision))
            if page.rows.count == limit {
                page.next = number + 1
                break
            }
        }
        return page
    }
}
