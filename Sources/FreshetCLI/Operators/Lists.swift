import ArgumentParser
import WidgetModel

/// `freshet apps`
struct Apps: GatewayList {
    static let configuration = CommandConfiguration(
        abstract:
            "List the apps, with their hosts and widgets, widgets that are behind, waiting ones and used-up budgets.",
        discussion: """
              freshet apps --json

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    var list: GatewayListForm {
        GatewayListForm(
            path: "/v1/apps",
            member: "apps",
            columns: [
                .text("APP", "app"), .text("TEAM", "team"), .text("FOR", "environment"), .list("BY", "deliveries"),
                .list("KINDS", "kinds"), .count("HOSTS", "hosts"), .count("WIDGETS", "instances"),
            ] + TextTable.Column.behind + [.count("WAITING", "waiting"), .count("EXHAUSTED", "exhausted"), .paused],
            none: "No app is configured."
        )
    }
}

/// `freshet kinds`
struct Kinds: GatewayList {
    static let configuration = CommandConfiguration(
        abstract:
            "List the kinds of all apps, with widgets that are behind, budgets and the source of their timelines.",
        discussion: """
              freshet kinds

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    var list: GatewayListForm {
        GatewayListForm(
            path: "/v1/kinds",
            member: "kinds",
            columns: [
                .text("KIND", "kind"), .text("APP", "app"), .text("POLICY", "policy"), .count("WIDGETS", "instances"),
            ] + TextTable.Column.behind + [
                .count("WAITING", "waiting"), .count("EXHAUSTED", "exhausted"),
                TextTable.Column(title: "TIMELINES FROM") { row, _ in
                    switch row.at("timelineProvider.breaker")?.text {
                    case nil: "its hosts"
                    case "closed": Cell("a provider", .good)
                    case let state?: Cell("a provider (\(state))", .bad)
                    }
                },
                .paused,
                TextTable.Column(title: "FINDINGS", isElastic: true) { row, _ in Cell(row["findings"]?.counts ?? "–") },
            ],
            none: "No kind is configured."
        )
    }
}

/// `freshet budget`
struct Budget: GatewayList {
    static let configuration = CommandConfiguration(
        abstract:
            "List the kinds' budgets: the rest, and the time at which it will be used up.",
        discussion: """
            The gateway counts all instances every few seconds. The list shows the last count, and is empty before the \
            first.

              freshet budget --app com.example.scores

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @Option(help: "Only of this app.") var app: String?
    @Option(help: "Only of this kind.") var kind: String?
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    var list: GatewayListForm {
        GatewayListForm(
            path: "/v1/budget",
            member: "kinds",
            columns: [
                .text("KIND", "kind"), .text("APP", "app"), .count("WIDGETS", "instances"),
                .count("NO LIMIT", "unlimited"), .count("EXHAUSTED", "exhausted"), .count("WAITING", "waiting"),
                .count("PUSHES", "waitingPushes"), .count("CHARGED", "charged"), .count("ALLOWANCE", "allowance"),
                .time("EXHAUSTED BY", "exhaustedBy"),
            ],
            none: "The gateway has not counted yet, or no kind matches.",
            query: [("app", self.app), ("kind", self.kind)]
        )
    }
}

/// `freshet senders`
struct Senders: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List senders, and the costs of their pushes since the log began.",
        discussion: """
              freshet senders

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    var list: GatewayListForm {
        GatewayListForm(
            path: "/v1/senders",
            member: "senders",
            columns: [
                .text("SENDER", "team"), .count("PUSHES", "pushes"), .count("REPEATS", "repeats"),
                .count("MATCHED", "matched"), .count("UNCHANGED", "unchanged"), .count("CHARGED", "reloadsCharged"),
                .count("EXEMPT", "reloadsExempt"), .paused,
            ],
            none: "No sender has pushed yet."
        )
    }
}

/// `freshet partitions`
struct Partitions: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List partitions, with their positions in the log, hosts and widgets.",
        discussion: """
              freshet partitions

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    var list: GatewayListForm {
        GatewayListForm(
            path: "/v1/partitions",
            member: "partitions",
            columns: [
                .count("PARTITION", "partition"), .count("APPLIED", "applied"), .count("LAG", "lag"),
                TextTable.Column(title: "STATE") { row, _ in
                    guard row["failed"]?.isTrue != true else { return Cell("stopped", .bad) }
                    guard case .double(let seconds)? = row["lagSeconds"], seconds >= 1 else {
                        return Cell("runs", .good)
                    }
                    return Cell("\(NumberText.grouped(Int(seconds))) s behind", .warning)
                },
                .count("HOSTS", "hosts"), .count("WIDGETS", "instances"), .count("PUSHES", "pushesAccepted"),
                .count("DEFERRED", "deferred"), .count("OUT", "issued"), .time("NEXT TIMER", "nextTimer"),
            ],
            none: "There is no partition."
        )
    }
}

/// `freshet audit`
struct Audit: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List the last thousand changes by operators, the newest first, with times and operators.",
        discussion: """
            Needs a token with the scope admin.

              freshet audit --json

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    var list: GatewayListForm {
        GatewayListForm(
            path: "/v1/audit",
            member: "requests",
            columns: [
                .time("AT", "at"), .text("BY", "caller"), .text("FROM", "remoteAddress"), .text("METHOD", "method"),
                .text("PATH", "path", isElastic: true), .text("STATUS", "status"), .text("REQUEST", "request"),
                .text("BODY", "body", isElastic: true),
            ],
            none: "No operator has changed anything."
        )
    }
}

/// `freshet orders`
struct Orders: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List the apps, kinds and senders that operators have paused.",
        discussion: """
            Each line has the beginning and the end of a pause, and the operator. Use freshet pause and freshet resume to \
            change pauses.

              freshet orders --ca certs/ca.pem

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    var list: GatewayListForm {
        GatewayListForm(
            path: "/v1/orders",
            member: "orders",
            columns: [
                TextTable.Column(title: "PAUSED") { row, _ in Cell(Self.place(row["of"])) },
                .time("SINCE", "since"),
                TextTable.Column(title: "UNTIL") { row, now in
                    Cell(row.at("until")?.text.map { Moment.text($0, now: now) } ?? "it is resumed")
                },
                .text("BY", "by"), .text("FROM", "address"),
                TextTable.Column(title: "CONFIGURED") { row, _ in
                    row["isConfigured"]?.isTrue == false ? Cell("not any more", .warning) : "yes"
                },
            ],
            none: "Nothing is paused."
        )
    }

    /// An order's scope: an app with its kind, or a sender.
    static func place(_ place: JSONValue?) -> String {
        guard let place else { return "–" }
        if let app = place["app"]?.text { return [app, place["kind"]?.text].compactMap { $0 }.joined(separator: " ") }
        return place["sender"]?.text.map { "sender \($0)" } ?? "–"
    }
}
