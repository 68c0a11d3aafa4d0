import ArgumentParser
import WidgetModel

/// `freshet cluster`
struct ClusterVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Show the gateways that share a log, and move partitions between them.",
        discussion: """
            Ask any of them. docs/jetstream.md explains nodes and partitions.

              freshet cluster status
              freshet cluster drain gateway-2

            Exit codes: 0 done, 1 the gateway does not answer, 2 it refused.
            """,
        subcommands: [
            Status.self, Drain.self, Undrain.self, Move.self, UpgradeRules.self, Adopt.self, Leave.self,
        ]
    )

    /// `freshet cluster status`
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show nodes, partitions and brokers, and their faults.",
            discussion: """
                  freshet cluster status --json

                Exit codes: 0 no faults, 1 faults or the gateway does not answer, 2 it refused.
                """
        )

        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        func run() async throws {
            let found = try await self.gateway.ask { try await $0.ask("GET", "/v1/cluster") }
            let reading = ClusterReading(json: found.json)
            if self.answer.json {
                Output.line(found.text)
            } else {
                for line in reading.lines(on: Screen.current) { Output.line(line) }
            }
            if !reading.troubles.isEmpty { throw ExitCode(1) }
        }
    }

    /// `freshet cluster drain`
    struct Drain: GatewayChange {
        static let configuration = CommandConfiguration(
            abstract: "Drain a node: it hands over its partitions, one after the other, and takes none.",
            discussion: """
                The node goes on answering. If a node is gone for good, drain it, and it no longer counts as missing. \
                The order holds until freshet cluster undrain, also after a restart.

                  freshet cluster drain gateway-2 --yes

                Exit codes: 0 ordered, 1 the gateway does not answer, 2 it refused.
                """
        )

        @Argument(help: "The node's name.") var node: String
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions
        @OptionGroup var confirmation: ConfirmationOptions

        var intent: String { "drain the node \(self.node)" }
        var request: (method: String, path: String, body: JSONValue?) {
            ClusterVerb.request("drain", [("node", .string(self.node))])
        }

        func line(_ answer: JSONValue) -> String {
            let node = answer["nodes"]?.elements.first { $0["name"]?.text == self.node }
            let count = node?["partitions"]?.whole ?? 0
            return "Drained \(self.node): it has \(NumberText.counted(count, "partition")) to hand over."
        }
    }

    /// `freshet cluster undrain`
    struct Undrain: GatewayChange {
        static let configuration = CommandConfiguration(
            abstract: "Give a drained node its share of the partitions again.",
            discussion: """
                  freshet cluster undrain gateway-2 --yes

                Exit codes: 0 ordered, 1 the gateway does not answer, 2 it refused.
                """
        )

        @Argument(help: "The node's name.") var node: String
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions
        @OptionGroup var confirmation: ConfirmationOptions

        var intent: String { "give the node \(self.node) its share of the partitions" }
        var request: (method: String, path: String, body: JSONValue?) {
            ClusterVerb.request("undrain", [("node", .string(self.node))])
        }

        func line(_ answer: JSONValue) -> String { "\(self.node) gets its share of the partitions." }
    }

    /// `freshet cluster move`
    struct Move: GatewayChange {
        static let configuration = CommandConfiguration(
            abstract: "Move a partition to a node while that node runs, or back to its own node.",
            discussion: """
                The nodes' names decide which node has a partition. This verb overrides them for one partition. If the \
                node ends, another node takes the partition. If it comes back, it takes the partition again.

                  freshet cluster move 3 --to gateway-2 --yes
                  freshet cluster move 3 --back --yes

                Exit codes: 0 ordered, 1 the gateway does not answer, 2 it refused.
                """
        )

        @Argument(help: "The partition's number.") var partition: UInt16
        @Option(help: "The name of the node that gets it.") var to: String?
        @Flag(help: "Let the nodes' names decide again.") var back = false
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func validate() throws {
            if (self.to == nil) != self.back { throw ValidationError("give either --to NODE or --back") }
        }

        private var place: String { self.to.map { "to \($0)" } ?? "back to its own node" }
        var intent: String { "move partition \(self.partition) \(self.place)" }
        var request: (method: String, path: String, body: JSONValue?) {
            ClusterVerb.request(
                "move",
                [("partition", .int(Int64(self.partition))), ("to", self.to.map { .string($0) })]
            )
        }

        func line(_ answer: JSONValue) -> String { "Partition \(self.partition) moves \(self.place)." }
    }

    private static func request(_ action: String, _ members: [(String, JSONValue?)])
        -> (method: String, path: String, body: JSONValue?)
    {
        ("POST", "/v1/cluster/orders", .object(of: [("action", .string(action))] + members))
    }
}

/// A gateway's view of its cluster.
struct ClusterReading {
    let json: JSONValue

    private var nodes: [JSONValue] { self.json["nodes"]?.elements ?? [] }
    private var partitions: [JSONValue] { self.json["partitions"]?.elements ?? [] }

    /// The faults, with the advice about each.
    var troubles: [Cell] {
        (self.json["troubles"]?.elements ?? []).map { trouble in
            let style: Cell.Style = trouble["level"]?.text == "bad" ? .bad : .warning
            return Cell("\(trouble["text"]?.words ?? "–") \(trouble["act"]?.words ?? "")", style)
        }
    }

    /// For people.
    func lines(on screen: Screen) -> [String] {
        guard !self.nodes.isEmpty else {
            return ["This gateway does not share its log. docs/jetstream.md shows how gateways share one."]
        }
        let now = Moment.now(of: self.json)
        var card = TextCard()
        card.add("asked", self.json["node"]?.words)
        card.add("brokers", self.brokers)
        let counts = self.json["counts"]
        card.add(
            "since its start",
            "\(counts?["moves"]?.words ?? "0") handed over, \(counts?["takeovers"]?.words ?? "0") taken over, "
                + "\(counts?["beatsMissed"]?.words ?? "0") beats missed"
        )
        for rules in ClusterRules(self.json).lines { card.add("rules", rules) }
        for trouble in self.troubles { card.add("trouble", trouble) }
        var nodes = TextTable(Self.nodeColumns)
        var partitions = TextTable(Self.partitionColumns)
        return card.lines(on: screen) + [""] + nodes.lines(self.nodes, now: now, on: screen) + [""]
            + partitions.lines(self.partitions, now: now, on: screen)
    }

    private var brokers: Cell {
        let all = self.json.at("brokers.brokers")?.elements ?? []
        guard !all.isEmpty else { return Cell("none has answered lately", .bad) }
        let words = all.map { broker in
            let (name, version) = (broker["name"]?.words ?? "–", broker["version"]?.words ?? "–")
            return "\(name) \(version) leads \(broker["leads"]?.words ?? "0")"
        }
        return Cell(words.joined(separator: ", "))
    }

    private static func seconds(_ node: JSONValue) -> String {
        "\(NumberText.grouped(node["silentSeconds"]?.whole ?? 0)) s"
    }

    private static let nodeColumns: [TextTable.Column] = [
        .text("NODE", "name", isElastic: true),
        TextTable.Column(title: "STATE") { row, _ in
            let state = row["state"]?.text ?? "–"
            if state == "missing" { return Cell(state, .bad) }
            return row["drained"]?.isTrue == true
                ? Cell("drained", .warning) : Cell(state, state == "member" ? .good : .plain)
        },
        .count("PARTITIONS", "partitions"),
        TextTable.Column(title: "HEARD", isNumber: true) { row, _ in Cell("\(Self.seconds(row)) ago") },
        .text("ADDRESS", "address", isElastic: true),
    ]

    private static let partitionColumns: [TextTable.Column] = [
        .count("PARTITION", "partition"), .text("OWNER", "owner", isElastic: true),
        TextTable.Column(title: "STATE") { row, _ in
            switch row["state"]?.text ?? "–" {
            case "running": Cell("running", .good)
            case let state where ["unowned", "failed"].contains(state): Cell(state, .bad)
            case let state: Cell(state, .warning)
            }
        },
        .count("EPOCH", "epoch"), .count("APPLIED", "applied"),
        // Of one that moves, the node that it moves to.
        TextTable.Column(title: "NEXT", isElastic: true) { row, _ in
            row.at("successor").map { Cell($0.words, .warning) } ?? Cell(row.at("next")?.words ?? "–")
        },
        // How far that one is behind, if it follows the owner.
        TextTable.Column(title: "BEHIND", isNumber: true) { row, _ in
            Cell(row.at("standbyLag")?.whole.map { NumberText.grouped($0) } ?? "–")
        },
        TextTable.Column(title: "SNAPSHOT", isNumber: true) { row, _ in
            Cell(row.at("snapshotAgeSeconds")?.whole.map { "\(NumberText.grouped($0)) s" } ?? "–")
        },
    ]
}
