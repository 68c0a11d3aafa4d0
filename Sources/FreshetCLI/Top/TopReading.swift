import WidgetModel

/// What `top` shows: read from `GET /v1/stats` and `GET /v1/senders`.
struct TopReading: Sendable {
    /// Whether widgets show what they should.
    enum Freshness: String, Sendable {
        case unknown, fresh, catchingUp, gettingOld, stale
    }

    /// What one sender costs.
    struct Sender: Sendable {
        let team: String
        let charged: Int
        let pushes: Int
        let matched: Int
        let unchanged: Int
    }

    /// Outcomes in the order of a push's life, as the dashboard has them.
    static let outcomes = [
        "reloaded", "exempt", "coalesced", "issued", "deferred", "unchanged", "superseded", "expired", "failed",
        "removed", "cancelled",
    ]

    private let stats: JSONValue
    let senders: [Sender]

    init(stats: JSONValue, senders: JSONValue) {
        self.stats = stats
        guard case .array(let list)? = senders["senders"] else {
            self.senders = []
            return
        }
        self.senders = list.map { one in
            Sender(
                team: one["team"]?.text ?? "",
                charged: one["reloadsCharged"]?.whole ?? 0,
                pushes: one["pushes"]?.whole ?? 0,
                matched: one["matched"]?.whole ?? 0,
                unchanged: one["unchanged"]?.whole ?? 0
            )
        }
    }

    /// The log's time of the totals, RFC 3339.
    var asOf: String { self.stats["asOf"]?.text ?? "" }
    var accepted: Int { self.number("pushes", "accepted") }
    var matched: Int { self.number("pushes", "matched") }
    var reloadsIssued: Int { self.number("reloads", "issued") }
    var isBalanced: Bool { self.stats["pushes"]?["balanced"] == .bool(true) }
    var inFlight: Int { self.number("http", "inFlight") }
    var unavailable: Int { self.number("http", "unavailable") }
    var eventStreams: Int { self.number("http", "eventStreams") }

    func count(_ outcome: String) -> Int { self.stats["pushes"]?["outcomes"]?[outcome]?.whole ?? 0 }

    var rateLimited: Int {
        ["app", "key", "token"].reduce(0) { $0.addingSaturating(self.stats["http"]?["rateLimited"]?[$1]?.whole ?? 0) }
    }

    var lag: Int { self.partitions.reduce(0) { $0.addingSaturating($1["lag"]?.whole ?? 0) } }
    var partitionsFailed: Int { self.partitions.count { $0["failed"] == .bool(true) } }

    /// How many pushes were seen on a screen, and within how many milliseconds half and 95 % of them.
    var seen: (count: Int, p50: Int, p95: Int) {
        let all = self.stats["reloads"]?["freshness"]
        // The last minutes where anything was seen in them, else everything since the start.
        let recent = all?["recent"]
        let numbers = (recent?["shown"]?.whole ?? 0) > 0 ? recent : all
        return (
            numbers?["shown"]?.whole ?? 0, numbers?["p50Milliseconds"]?.whole ?? 0,
            numbers?["p95Milliseconds"]?.whole ?? 0
        )
    }

    /// How many widgets there are, how many of them are behind, and how many for longer than the goal.
    var behind: (widgets: Int, behind: Int, late: Int) {
        let row = self.stats["freshness"]
        return (row?["instances"]?.whole ?? 0, row?["behind"]?.whole ?? 0, row?["late"]?.whole ?? 0)
    }

    /// The dashboard's rule: the goal is met, and by all that are behind, too, or not yet; it is missed by up to twice as many late
    /// widgets as it allows, or by more.
    var freshness: Freshness {
        let behind = self.behind
        guard behind.widgets > 0 else { return .unknown }
        if self.stats["freshness"]?["isMet"] == .bool(true) {
            let allowed = 1 - (self.freshnessNumber("goalShare") ?? 0)
            return behind.late == 0 && Double(behind.behind) > Double(behind.widgets) * allowed ? .catchingUp : .fresh
        }
        return (self.freshnessNumber("burnRate") ?? .infinity) <= 2 ? .gettingOld : .stale
    }

    private func freshnessNumber(_ name: String) -> Double? {
        switch self.stats["freshness"]?[name] {
        case .double(let number): number
        case .int(let number): Double(number)
        default: nil
        }
    }

    private var partitions: [JSONValue] {
        guard case .array(let partitions)? = self.stats["partitions"] else { return [] }
        return partitions
    }

    private func number(_ section: String, _ member: String) -> Int { self.stats[section]?[member]?.whole ?? 0 }
}

extension TopReading {
    /// One object for a program; the outcomes add up to `matched`.
    var json: JSONValue {
        let seen = self.seen
        let outcomes = Self.outcomes.map { JSONValue.Member(name: $0, value: .int(Int64(self.count($0)))) }
        return .object([
            .init(name: "asOf", value: .string(self.asOf)),
            .init(name: "freshness", value: .string(self.freshness.rawValue)),
            .init(name: "widgets", value: .int(Int64(self.behind.widgets))),
            .init(name: "behind", value: .int(Int64(self.behind.behind))),
            .init(name: "late", value: .int(Int64(self.behind.late))),
            .init(
                name: "seen",
                value: .object([
                    .init(name: "shown", value: .int(Int64(seen.count))),
                    .init(name: "p50Milliseconds", value: seen.count == 0 ? .null : .int(Int64(seen.p50))),
                    .init(name: "p95Milliseconds", value: seen.count == 0 ? .null : .int(Int64(seen.p95))),
                ])
            ),
            .init(name: "accepted", value: .int(Int64(self.accepted))),
            .init(name: "matched", value: .int(Int64(self.matched))),
            .init(name: "outcomes", value: .object(outcomes)),
            .init(name: "balanced", value: .bool(self.isBalanced)),
            .init(name: "reloadsIssued", value: .int(Int64(self.reloadsIssued))),
            .init(name: "inFlight", value: .int(Int64(self.inFlight))),
            .init(name: "lag", value: .int(Int64(self.lag))),
            .init(name: "unavailable", value: .int(Int64(self.unavailable))),
            .init(name: "rateLimited", value: .int(Int64(self.rateLimited))),
            .init(
                name: "senders",
                value: .array(
                    self.senders.map { sender in
                        .object([
                            .init(name: "team", value: .string(sender.team)),
                            .init(name: "reloadsCharged", value: .int(Int64(sender.charged))),
                            .init(name: "pushes", value: .int(Int64(sender.pushes))),
                            .init(name: "matched", value: .int(Int64(sender.matched))),
                            .init(name: "unchanged", value: .int(Int64(sender.unchanged))),
                        ])
                    }
                )
            ),
        ])
    }
}
