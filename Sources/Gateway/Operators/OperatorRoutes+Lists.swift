import APNSWire
import Engine
import HTTPTransport
import WidgetModel

/// Lists of instances, hosts and pushes.
extension OperatorRoutes {
    /// An answer's first members: the log's time, and how far each partition was.
    func head() async throws(Problem) -> [(String, JSONValue?)] {
        let all = await self.log.progress()
        return [
            ("asOf", .instant(self.clock.now())),
            (
                "positions",
                .array(
                    all.map { progress in
                        JSONValue.object(of: [
                            ("partition", .count(Int(progress.partition.rawValue))),
                            ("applied", .unsigned(progress.applied.rawValue)),
                        ])
                    }
                )
            ),
        ]
    }

    func answer(_ members: [(String, JSONValue?)]) async throws(Problem) -> HTTPResponse {
        HTTPResponse(json: JSONValue.object(of: try await self.head() + members))
    }

    /// `GET /v1/instances`.
    func instances(_ request: HTTPRequest) async throws(Problem) -> HTTPResponse {
        let list = try ListRequest(request, below: self.log.rowBounds)
        let filter = InstanceFilter(
            app: request.query("app").map { BundleID($0) },
            kind: request.query("kind").map { WidgetKind($0) },
            state: try ListRequest.word(request, "state", InstanceFilter.State.allCases.map { ($0.rawValue, $0) })
        )
        if let host = request.query("host") {
            guard let app = filter.app else {
                throw Problem(.badRequest, "a host is its app's: name the app, too", path: "app")
            }
            let key = HostKey(app: app, id: HostID(host))
            let rows = try await self.log.ask(key) { $0.instances(of: key, filter) }
            return try await self.answer([("instances", .array(rows.map { Views.summary($0) }))])
        }
        let page = try await self.log.walk(from: list.cursor, limit: list.limit) { engine, start, limit in
            engine.instances(from: start, filter, limit: limit, scanMax: SearchBudget.stepRows)
        }
        return try await self.answer([
            ("instances", .array(page.rows.map { Views.summary($0) })),
            ("next", page.next.map { .string($0) }),
        ])
    }

    /// `GET /v1/hosts`.
    func hosts(_ request: HTTPRequest) async throws(Problem) -> HTTPResponse {
        let list = try ListRequest(request, below: self.log.rowBounds)
        let app = request.query("app").map { BundleID($0) }
        let isConnected = try ListRequest.word(request, "connected", [("true", true), ("false", false)])
        var page = try await self.log.walk(from: list.cursor, limit: list.limit) { engine, start, limit in
            engine.hosts(from: start, app: app, limit: limit, scanMax: SearchBudget.stepRows)
        }
        let open = Dictionary(
            zip(page.rows.map(\.host), self.streams.open(of: page.rows.map(\.host))),
            uniquingKeysWith: { first, _ in first }
        )
        if let isConnected { page.rows.removeAll { ((open[$0.host] ?? 0) > 0) != isConnected } }
        return try await self.answer([
            ("hosts", .array(page.rows.map { Views.summary($0, streams: open[$0.host] ?? 0) })),
            ("next", page.next.map { .string($0) }),
        ])
    }

    /// `GET /v1/hosts/<app>/<host>`.
    func host(_ key: HostKey) async throws(Problem) -> HTTPResponse {
        guard let view = try await self.log.ask(key, { $0.host(key) }) else {
            throw Problem(.unknownHost, "there is no host \(key)")
        }
        guard case .object(let members) = Views.registration(view) else { throw Problem(.internal, "no registration") }
        return try await self.answer(members.map { ($0.name, $0.value) })
    }
}

/// Pushes.
extension OperatorRoutes {
    /// `GET /v1/pushes`: the newest first.
    func pushes(_ request: HTTPRequest) async throws(Problem) -> HTTPResponse {
        let ends = Array(repeating: ListRequest.countEnd, count: self.log.partitions)
        let list = try ListRequest(request, below: ends)
        let filter = PushFilter(
            team: request.query("sender").map { TeamID($0) },
            isComplete: try ListRequest.word(request, "state", [("complete", true), ("waiting", false)]),
            outcome: try ListRequest.word(request, "outcome", PushOutcome.allCases.map { ($0.name, $0) })
        )
        var found: [(partition: Int, number: UInt64, push: PushView)] = []
        var places: [UInt64] = []
        for number in 0..<self.log.partitions {
            let (rows, next) = try await self.recent(number, before: list.cursor?[number], filter, list.limit)
            found += rows.map { (number, $0.number, $0.push) }
            places.append(next)
        }
        found.sort {
            ($0.push.acceptedAt, $0.push.position, $0.number, $1.partition)
                > ($1.push.acceptedAt, $1.push.position, $1.number, $0.partition)
        }
        // What does not fit comes again with the next page.
        for row in found.dropFirst(list.limit) { places[row.partition] = max(places[row.partition], row.number + 1) }
        let pushes = try await self.summed(found.prefix(list.limit).map(\.push), filter)
        return try await self.answer([
            ("pushes", .array(pushes.compactMap { Views.push($0, partitions: self.log.partitions) })),
            ("next", places.contains { $0 > 0 } ? .string(ListRequest.text(places)) : nil),
        ])
    }

    /// A partition's newest pushes, searched for as long as a request may; and before which number to go on, 0 at the end.
    private func recent(
        _ partition: Int,
        before: UInt64?,
        _ filter: PushFilter,
        _ limit: Int
    ) async throws(Problem) -> (rows: [(number: UInt64, push: PushView)], next: UInt64) {
        var rows: [(number: UInt64, push: PushView)] = []
        var place = before ?? .max
        var budget = SearchBudget()
        while place > 0, rows.count < limit, budget.takeStep() {
            let (start, left) = (place, limit - rows.count)
            let page = try await self.log.ask(PartitionID(UInt16(partition))) {
                $0.recentPushes(before: start, filter, limit: left, scanMax: SearchBudget.stepRows)
            }
            rows += page.rows
            place = page.next ?? 0
        }
        return (rows, place)
    }

    /// Adds what the other partitions have of pushes for apps, and filters those by the sums.
    private func summed(_ pushes: [PushView], _ filter: PushFilter) async throws(Problem) -> [[PushView]] {
        let ids = pushes.filter(\.isForApp).map(\.id)
        var others: [[PushView]] = []
        if !ids.isEmpty {
            others = try await self.log.askAll { engine in ids.flatMap { engine.push($0) } }
        }
        return pushes.compactMap { push in
            guard push.isForApp else { return [push] }
            let same = others.joined().filter {
                $0.id == push.id && $0.team == push.team && $0.contentHash == push.contentHash
            }
            if let outcome = filter.outcome, !same.contains(where: { $0.counts[outcome] > 0 }) { return nil }
            if let isComplete = filter.isComplete, same.allSatisfy(\.isComplete) != isComplete { return nil }
            return same.isEmpty ? [push] : same
        }
    }

    /// `GET /v1/pushes/<apns-id>/decisions`: what was decided about it for each instance, the oldest first.
    func decisions(_ text: String, _ request: HTTPRequest) async throws(Problem) -> HTTPResponse {
        guard let id = PushID(text) else { throw Problem(.badRequest, "an apns-id is a UUID") }
        let list = try ListRequest(request, below: [UInt64(self.log.partitions), ListRequest.countEnd])
        let outcome = try ListRequest.word(request, "outcome", PushOutcome.allCases.map { ($0.name, $0) })
        guard try await !self.log.askAll({ $0.push(id) }).joined().isEmpty else {
            throw Problem(.notFound, "no push with this apns-id is known: never accepted, or longer ago than is kept")
        }
        var rows: [PushDecision] = []
        var place = (partition: Int(clamping: list.cursor?[0] ?? 0), number: list.cursor?[1])
        var budget = SearchBudget()
        while place.partition < self.log.partitions, rows.count < list.limit, budget.takeStep() {
            let (start, left) = (place.number, list.limit - rows.count)
            let page = try await self.log.ask(PartitionID(UInt16(place.partition))) {
                $0.decisions(about: id, from: start, outcome: outcome, limit: left, scanMax: SearchBudget.stepRows)
            }
            rows += page.rows
            place = page.next.map { (place.partition, $0) } ?? (place.partition + 1, nil)
        }
        let isDone = place.partition >= self.log.partitions
        return try await self.answer([
            ("decisions", .array(rows.map { Views.decision($0) })),
            ("next", isDone ? nil : .string(ListRequest.text([UInt64(place.partition), place.number ?? 0]))),
        ])
    }
}
