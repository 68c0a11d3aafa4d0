import Testing

/// What an operator scans of each view without scrolling, in a window of 1440 by 900.
enum DashboardScan {
    /// What has to be seen of a card.
    enum Part {
        case whole
        /// At least so many of its first rows.
        case rows(Int)
    }

    /// By the name of a view, and the headings of its cards.
    static let parts: [String: [String: Part]] = [
        "now": [
            "Widgets are": .whole, "To do": .whole, "Flow": .whole, "Kinds": .whole, "Budget by sender": .whole,
            "Load": .whole,
            "Outcomes of matched widgets": .whole,
        ],
        "instances": ["Widgets": .rows(20)],
        "instances/": ["Why it is in this state": .whole, "Its day": .whole, "Decisions": .rows(8)],
        "hosts": ["Hosts": .rows(15)],
        "hosts/": ["Its widgets": .whole, "The host": .whole, "Actions": .whole],
        "pushes": ["Newest first": .rows(12)],
        "pushes/": ["Outcomes": .whole, "The push": .whole, "Widgets and reasons": .rows(10)],
        "senders": ["Senders": .whole, "Actions": .whole],
        "apps": ["Apps and kinds": .whole, "Allowance left": .whole],
        "apps?": ["Apps and kinds": .whole, "The kind": .whole, "Allowance left": .whole],
        "upstreams": [
            "Timeline providers": .whole, "Upstreams and webhooks": .whole, "Deliveries by HTTP": .whole,
            "Certificates": .whole,
        ],
        "forecast": ["The next hour": .whole, "Largest peaks": .whole, "The last ten minutes": .whole],
        "cluster": ["Nodes": .whole, "Partitions": .rows(6)],
        "system": [
            "Partitions": .whole, "Listeners": .whole, "Configuration": .whole, "Outcomes add up": .whole,
            "Disk": .whole, "Memory": .whole,
        ],
    ]

    private static let shop = "com.example.shop"
    private static let kinds = [
        "orders", "parcels", "offers", "basket", "points", "stores", "returns", "wishes", "news", "invoices",
    ]

    /// More apps, for a gateway's `extra`: one whose timeline provider is away, and one with many kinds.
    static let apps = """
        \(TestGateway.providedApps)
          - bundleID: \(shop)
            team: \(TestGateway.team)
            kinds: [\(kinds.map { "{kind: \($0)}" }.joined(separator: ", "))]
        """

    /// Hosts of these apps.
    static func register(_ gateway: TestGateway, bearer: String) async throws {
        for (app, kinds, first) in [(Self.shop, Self.kinds, 900), (TestGateway.providedApp, ["panel"], 950)] {
            let instances = kinds.map { #"{"id":"\#($0)","kind":"\#($0)","family":"systemMedium","configuration":{}}"# }
            let lines = (1...20).map { number in
                #"{"app":"\#(app)","host":"tablet-\#(number)","revision":1,"token":"\#(TestGateway.token(first + number))","#
                    + #""instances":[\#(instances.joined(separator: ","))]}"#
            }
            let answer = try await gateway.curl(
                "POST",
                "\(gateway.hostURL)/v1/apps/\(app)/hosts",
                bearer: bearer,
                headers: ["content-type: application/x-ndjson"],
                body: lines.joined(separator: "\n")
            )
            try #require(!answer.body.contains("problem"), "\(answer.body)")
        }
    }

    /// A view's name, with a mark if it is of one thing or filtered.
    private static func name(_ place: String) -> String {
        guard let end = place.firstIndex(where: { "/?".contains($0) }) else { return place }
        return String(place[...end])
    }

    /// Checks the views of a tour.
    static func check(_ reports: [[String: Any]]) throws {
        for report in reports where report["size"] as? String == "wide" {
            let place = try #require(report["view"] as? String)
            let cards = try #require(report["cards"] as? [String: [String: Double]])
            for (heading, part) in try #require(Self.parts[Self.name(place)], "\(place) is not in the table") {
                let card = try #require(cards[heading], "\(place) has \(cards.keys.sorted()), not \(heading)")
                switch part {
                case .whole: #expect(card["end"] ?? .infinity <= 900, "\(place): \(heading)")
                case .rows(let count): #expect(card["rows"] ?? 0 >= Double(count), "\(place): \(heading)")
                }
            }
        }
    }
}
