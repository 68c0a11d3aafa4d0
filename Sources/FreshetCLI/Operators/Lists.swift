import ArgumentParser
import WidgetModel

/// `freshet apps`
struct Apps: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List the apps that are configured, with how many hosts and instances have what left.",
        discussion: """
              freshet apps --json

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
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
                .count("WAITING", "waiting"), .count("EXHAUSTED", "exhausted"), .paused,
            ],
            none: "No app is configured."
        )
    }
}

/// `freshet kinds`
struct Kinds: GatewayList {
    static let configuration = CommandConfiguration(
        abstract:
            "List the kinds of all apps, with their budgets' policies and what is peculiar about their timelines.",
        discussion: """
              freshet kinds

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
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
                .count("WAITING", "waiting"), .count("EXHAUSTED", "exhausted"),
                TextTable.Column(title: "TIMELINES FROM") { row, _ in
                    switch row.at("timelineProvider.breaker")?.text {
                    case nil: "its hosts"
                    case "closed": Cell("a provider", .good)
                    case let state?: Cell("a provider (\(state))", .bad)
                    }
                },
                .paused,
                TextTable.Column(title: "PECULIAR", isElastic: true) { row, _ in Cell(row["findings"]?.counts ?? "–") },
            ],
            none: "No kind is configured."
        )
    }
}

/// `freshet budget`
struct Budget: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List how much is left of the kinds' budgets, who has nothing left, and how long the rest lasts.",
        discussion: """
            What is counted is the last walk over all instances, some seconds old; none is shown until there was one.

              freshet budget --app com.example.scores

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
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
            none: "Nothing was counted yet, or no kind is like that.",
            query: [("app", self.app), ("kind", self.kind)]
        )
    }
}

/// `freshet senders`
struct Senders: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List senders, and what the pushes of each have cost since the log began.",
        discussion: """
              freshet senders

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
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
        abstract: "List partitions: how far each is with its log, and what it holds.",
        discussion: """
              freshet partitions

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
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
        abstract: "List who changed what: the last thousand requests of operators that did, the newest first.",
        discussion: """
            Takes a token with the scope admin.

              freshet audit --json

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
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
            none: "Nothing was changed."
        )
    }
}

/// `freshet orders`
struct Orders: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List what operators have paused: since and until when, and who did.",
        discussion: """
            One line for each app, kind and sender that is paused. freshet pause and resume change that.

              freshet orders --ca certs/ca.pem

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
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

    /// What an order is about: an app with its kind, or a sender.
    static func place(_ place: JSONValue?) -> String {
        guard let place else { return "–" }
        if let app = place["app"]?.text { return [app, place["kind"]?.text].compactMap { $0 }.joined(separator: " ") }
        return place["sender"]?.text.map { "sender \($0)" } ?? "–"
    }
}
