import APNSWire
import Engine
import HTTPTransport
import Partitions
import Serving
import Settings
import WidgetModel

/// Pushes.
extension OperatorRoutes {
    /// `GET /v1/pushes`: the newest first.
    func pushes(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let ends = Array(repeating: ListRequest.countEnd, count: self.log.partitions)
        let list = try ListRequest(call, below: ends)
        let kind = call.query("kind").map { WidgetKind($0) }
        let filter = PushFilter(
            team: call.query("sender").map { TeamID($0) } ?? self.reach.key?.team,
            app: call.query("app").map { BundleID($0) },
            after: try call.instant("after"),
            before: try call.instant("before"),
            isComplete: try call.word("state", [("complete", true), ("waiting", false)]),
            outcome: try call.word("outcome", PushOutcome.allCases.map { ($0.name, $0) })
        )
        var found: [ListedPush] = []
        var places: [UInt64] = []
        for number in 0..<self.log.partitions {
            let (rows, next) = try await self.recent(number, before: list.cursor?[number], filter, kind, list.limit)
            found += rows
            places.append(next)
        }
        found.sort {
            ($0.view.acceptedAt, $0.view.position, $0.number, $1.partition)
                > ($1.view.acceptedAt, $1.view.position, $1.number, $0.partition)
        }
        // Rows that do not fit come again with the next page.
        for row in found.dropFirst(list.limit) { places[row.partition] = max(places[row.partition], row.number + 1) }
        let pushes = try await self.summed(Array(found.prefix(list.limit)), filter)
        return try await self.answer([
            (
                "pushes",
                .array(pushes.compactMap { Views.push($0.views, $0.record, partitions: self.log.partitions) })
            ),
            ("next", places.contains { $0 > 0 } ? .string(SearchBudget.cursor(places)) : nil),
        ])
    }

    /// A push of the list, with its record if the log still has it.
    private struct ListedPush {
        let partition: Int
        let number: UInt64
        let view: PushView
        let record: PushRecord?
    }

    /// A partition's newest pushes, searched for as long as a request may; and before which number to go on, 0 at the end.
    ///
    /// - Parameter kind: Only those for it; nil for all. The log is read for that.
    private func recent(
        _ partition: Int,
        before: UInt64?,
        _ filter: PushFilter,
        _ kind: WidgetKind?,
        _ limit: Int
    ) async throws(Problem) -> (rows: [ListedPush], next: UInt64) {
        var rows: [ListedPush] = []
        var place = before ?? .max
        var budget = SearchBudget()
        let id = PartitionID(UInt16(partition))
        while place > 0, rows.count < limit, budget.takeStep() {
            let found = await self.log.result(of: id, PageQuestion(filter, from: place, limit: limit - rows.count))
            guard let page = try self.log.noted(found, of: id) else { return (rows, 0) }
            let listed = page.rows.filter { self.reach.includes($0.push) }
            let records = await self.log.records(of: listed.map { PlacedPush(partition: id, view: $0.push) })
            for (row, record) in zip(listed, records) where kind == nil || record?.kind == kind {
                rows.append(ListedPush(partition: partition, number: row.number, view: row.push, record: record))
            }
            place = page.next ?? 0
        }
        return (rows, place)
    }

    /// Adds the other partitions' parts of pushes for apps, and filters those by the sums.
    private func summed(
        _ pushes: [ListedPush],
        _ filter: PushFilter
    ) async throws(Problem) -> [(views: [PushView], record: PushRecord?)] {
        // Several pushes may have one id: each is asked about once.
        let ids = Set(pushes.lazy.filter(\.view.isForApp).map(\.view.id))
        let others = ids.isEmpty ? [] : try await self.log.askEach(PushesQuestion(Array(ids))).flatMap(\.answer)
        return pushes.compactMap { push in
            guard push.view.isForApp else { return ([push.view], push.record) }
            let same = others.filter {
                $0.id == push.view.id && $0.team == push.view.team && $0.contentHash == push.view.contentHash
            }
            if let outcome = filter.outcome, !same.contains(where: { $0.counts[outcome] > 0 }) { return nil }
            if let isComplete = filter.isComplete, same.allSatisfy(\.isComplete) != isComplete { return nil }
            return (same.isEmpty ? [push.view] : same, push.record)
        }
    }

    /// `GET /v1/pushes/<apns-id>`: its outcomes.
    func push(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        var question = try self.question(call)
        question.tellsWhatItWas = true
        return HTTPResponse(json: try await question.ask().json)
    }

    /// `GET /v1/pushes/<apns-id>/events`: the same whenever it changes.
    func pushEvents(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let question = try self.question(call)
        return try await question.follow(self.traffic.followers) { [access = self.doors.access] in
            guard let reach = access.present(call.request, for: .read) else { return nil }
            return reach.key.map { question.put(by: $0) } ?? question
        }
    }

    private func question(_ call: OperatorCall) throws(Problem) -> PushQuestion {
        try PushQuestion(call["push"], of: self.reach.key, isReader: !self.reach.isEverything, self.bounds, self.log)
    }

    /// `GET /v1/pushes/<apns-id>/decisions`: the decisions about it for each instance, the oldest first.
    func decisions(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let question = try self.question(call)
        let id = question.id
        let list = try ListRequest(call, below: [UInt64(self.log.partitions), ListRequest.countEnd])
        let outcome = try call.word("outcome", PushOutcome.allCases.map { ($0.name, $0) })
        guard try await !question.views().isEmpty else { throw PushQuestion.unknown }
        let (cursor, limit) = (list.cursor, list.limit)
        let page = try await self.log.walk(from: cursor, limit: limit) { partition, start, left async throws(Problem) in
            var page = try await self.decisions(about: id, in: partition, from: start, outcome, limit: left)
            // Another team's push may have the same id.
            page.rows.removeAll { !self.reach.includes($0) }
            return page
        }
        return try await self.answer([
            ("decisions", .array(page.rows.map { Views.decision($0) })),
            ("next", page.next.map { .string($0) }),
        ])
    }
}
