import ArgumentParser
import OperatorAPI
import Partitions
import WidgetModel

/// An order's scope: the options for the scopes that a verb takes, and no others.
protocol OrderPlace: ParsableArguments {
    /// By their names in the order, nil for those that are not given.
    var named: [(name: String, value: String?)] { get }
}

extension OrderPlace {
    var json: JSONValue { .object(of: self.named.map { ($0.name, $0.value.map { .string($0) }) }) }

    /// For people: `com.example.scores scores`, `the sender A1B2C3D4E5`.
    var words: String {
        let given = self.named.compactMap { name, value in value.map { (name: name, value: $0) } }
        guard let last = given.last else { return "nothing" }
        guard given[0].name == "app", last.name != "instance" else { return "the \(last.name) \(last.value)" }
        return given.map(\.value).joined(separator: " ")
    }
}

/// An app, a kind or a sender, which can be paused.
struct PausedPlace: OrderPlace {
    @Option(help: "An app.") var app: String?
    @Option(help: "With --app: one of its kinds.") var kind: String?
    @Option(help: "A sender (team).") var sender: String?

    var named: [(name: String, value: String?)] { [("app", self.app), ("kind", self.kind), ("sender", self.sender)] }
}

/// Instances: all of an app, a kind or a host, or one.
struct InstancesPlace: OrderPlace {
    @Option(help: "An app.") var app: String?
    @Option(help: "With --app: one of its kinds.") var kind: String?
    @Option(help: "With --app: one of its hosts.") var host: String?
    @Option(help: "An instance, as <app>/<host>:<instance>.") var instance: String?

    var named: [(name: String, value: String?)] {
        [("app", self.app), ("kind", self.kind), ("host", self.host), ("instance", self.instance)]
    }
}

/// The scope of cancelled reloads: instances, a sender or a push.
struct CancelledPlace: OrderPlace {
    @OptionGroup var instances: InstancesPlace
    @Option(help: "A sender (team).") var sender: String?
    @Option(help: "A push, by its apns-id.") var push: String?

    var named: [(name: String, value: String?)] {
        self.instances.named + [("sender", self.sender), ("push", self.push)]
    }
}

/// An order to the gateway.
protocol OrderVerb: GatewayChange {
    /// As `action` has it.
    static var action: String { get }
    associatedtype Place: OrderPlace
    var place: Place { get }
    /// The order's further members.
    var members: [(String, JSONValue?)] { get }
}

extension OrderVerb {
    private var body: JSONValue {
        .object(of: [("action", .string(Self.action)), ("of", self.place.json)] + self.members)
    }

    func validate() throws { try self.check() }

    /// Wrong usage is told before anything is asked or sent, by the gateway's own rules.
    func check() throws(ValidationError) {
        do throws(Problem) {
            _ = try OrderBody.order(self.body)
        } catch {
            throw ValidationError(error.path.map { "\($0): \(error.detail)" } ?? error.detail)
        }
    }

    var request: (method: String, path: String, body: JSONValue?) { ("POST", "/v1/orders", self.body) }

    /// How many the order was for.
    func matched(_ answer: JSONValue, _ what: String) -> String {
        NumberText.counted(answer["matched"]?.whole ?? 0, what)
    }
}

/// `freshet pause`
struct Pause: OrderVerb {
    static let configuration = CommandConfiguration(
        abstract: "Pause an app, a kind or a sender: its pushes reload nothing until you resume it.",
        discussion: """
            Pushes that come in the meantime wait. freshet orders lists the pauses.

              freshet pause --app com.example.scores --kind scores --for 2h
              freshet pause --sender A1B2C3D4E5 --yes

            Exit codes: 0 paused, 1 the gateway does not answer, 2 it refused.
            """
    )
    static let action = "pause"

    @OptionGroup var place: PausedPlace
    @Option(help: "For how long: 90m, 2h or 1d. Default: until you resume it.") var `for`: String?
    @Option(help: "Until this time, as in 2026-11-27T06:00:00Z.") var until: String?
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var confirmation: ConfirmationOptions

    func validate() throws {
        if self.for != nil, self.until != nil { throw ValidationError("give --for or --until, not both") }
        if let length = self.for, TimeText.future(length) == nil {
            throw ValidationError("--for takes a length of time, as in 90m, 2h or 1d")
        }
        try self.check()
    }

    private var end: String? { self.until ?? self.for.flatMap { TimeText.future($0) } }
    var members: [(String, JSONValue?)] { [("until", self.end.map { .string($0) })] }
    private var endWords: String { "until \(self.end ?? "it is resumed")" }
    var intent: String { "pause \(self.place.words) \(self.endWords)" }

    func line(_ answer: JSONValue) -> String {
        "Paused \(self.place.words), \(self.matched(answer, "instance")), \(self.endWords)."
    }
}

/// `freshet resume`
struct Resume: OrderVerb {
    static let configuration = CommandConfiguration(
        abstract: "Resume an app, a kind or a sender that was paused.",
        discussion: """
            Pushes that waited are decided at once, as budgets allow. It ends the pause of exactly this scope: of an app, \
            the pauses of its kinds stay. It names pauses that stay.

              freshet resume --app com.example.scores --kind scores

            Exit codes: 0 resumed, or nothing was paused; 1 the gateway does not answer, 2 it refused.
            """
    )
    static let action = "resume"

    @OptionGroup var place: PausedPlace
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var confirmation: ConfirmationOptions

    var members: [(String, JSONValue?)] { [] }
    var intent: String { "resume \(self.place.words)" }
    func line(_ answer: JSONValue) -> String {
        let done =
            answer["resumed"] == .bool(false)
            ? "Nothing is resumed: \(self.place.words) itself was not paused."
            : "Resumed \(self.place.words), \(self.matched(answer, "instance"))."
        let others = (answer["stillPaused"]?.elements ?? []).map { Orders.place($0["of"]) }
        return others.isEmpty ? done : "\(done) Still paused: \(others.joined(separator: ", "))."
    }
}

/// `freshet cancel`
struct Cancel: OrderVerb {
    static let configuration = CommandConfiguration(
        abstract:
            "Cancel the waiting reloads of a push, of a sender's pushes, or of an app, a kind, a host or an instance.",
        discussion: """
            Reloads that are done or already sent are not undone.

              freshet cancel --push 8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B
              freshet cancel --app com.example.scores --kind scores --yes

            Exit codes: 0 cancelled, 1 the gateway does not answer, 2 it refused.
            """
    )
    static let action = "cancel"

    @OptionGroup var place: CancelledPlace
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var confirmation: ConfirmationOptions

    var members: [(String, JSONValue?)] { [] }
    var intent: String { "cancel the waiting reloads of \(self.place.words)" }

    func line(_ answer: JSONValue) -> String {
        "Cancelled \(self.matched(answer, "waiting reload")) of \(self.place.words)."
    }
}

/// `freshet grant`
struct Grant: OrderVerb {
    static let configuration = CommandConfiguration(
        abstract: "Grant instances more reloads in their current budget window.",
        discussion: """
            For an app, a kind, a host or an instance.

              freshet grant 5 --instance com.example.scores/phone:scores-1

            Exit codes: 0 granted, 1 the gateway does not answer, 2 it refused.
            """
    )
    static let action = "grant"

    @Argument(help: "The number of further reloads for each instance.") var count: Int
    @OptionGroup var place: InstancesPlace
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var confirmation: ConfirmationOptions

    var members: [(String, JSONValue?)] { [("count", .count(self.count))] }
    var intent: String {
        "grant \(NumberText.counted(self.count, "more reload")) to each instance of \(self.place.words)"
    }

    func line(_ answer: JSONValue) -> String {
        "Granted \(NumberText.counted(self.count, "more reload")) to \(self.matched(answer, "instance"))."
    }
}

/// `freshet reload-widgets`
struct ReloadWidgets: OrderVerb {
    static let configuration = CommandConfiguration(
        commandName: "reload-widgets",
        abstract: "Reload the instances of an app, a kind or a host, or one instance, as budgets allow.",
        discussion: """
            As if the app had called reloadAllTimelines() or reloadTimelines(ofKind:). The reloads are charged, unless \
            they are exempt. An instance that may not reload now reloads as soon as its budget allows. To reload the \
            gateway's configuration, use freshet reload.

              freshet reload-widgets --instance com.example.scores/phone:scores-1
              freshet reload-widgets --app com.example.scores --kind scores --yes

            Exit codes: 0 accepted, 1 the gateway does not answer, 2 it refused.
            """
    )
    static let action = "reload"

    @OptionGroup var place: InstancesPlace
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var confirmation: ConfirmationOptions

    var members: [(String, JSONValue?)] { [] }
    var intent: String { "reload \(self.place.words) as soon as budgets allow" }

    func line(_ answer: JSONValue) -> String {
        "Asked \(self.matched(answer, "instance")) of \(self.place.words) to reload, as soon as budgets allow."
    }
}
