import ArgumentParser
import Foundation
import WidgetModel

/// How an answer is printed.
struct AnswerOptions: ParsableArguments {
    @Flag(help: "Print JSON.") var json = false

    /// Prints an answer that this program makes itself.
    func print(_ members: [(String, JSONValue?)], or text: String) {
        Output.line(self.json ? JSONValue.object(of: members).words : text)
    }
}

/// How much of a list is shown.
struct PagingOptions: ParsableArguments {
    @Option(help: "The most rows to show.") var limit = 100
    @Flag(help: "Show all rows.") var all = false

    func validate() throws {
        guard self.limit > 0 else { throw ValidationError("--limit takes 1 or more") }
    }

    fileprivate var max: Int { self.all ? .max : self.limit }
}

/// A list that the gateway has: its path, and the columns that are shown.
struct GatewayListForm {
    let path: String
    /// The answer's member that holds the rows.
    let member: String
    let columns: [TextTable.Column]
    /// The sentence if there are no rows.
    let none: String
    /// The query's parameters, nil for those that are not asked for.
    var query: [(String, String?)] = []
    /// How much of it; nil for a list that always comes whole.
    var paging: PagingOptions?

    /// The most rows that the gateway gives at once.
    private static let pageMax = 1000

    /// Asks for it, page after page, and prints it.
    func run(_ gateway: OperatorOptions, _ answer: AnswerOptions) async throws {
        try await gateway.ask { client in
            if answer.json { try await self.printJSON(client) } else { try await self.printTable(client) }
        }
    }

    /// The pages up to the limit; `body` is told which is the first, and gets the rest that there is behind the last.
    private func walk(_ client: OperatorClient, _ body: (OperatorClient.Answer, _ isFirst: Bool) -> Void) async throws
        -> String?
    {
        var (left, next, isFirst) = (self.paging?.max ?? .max, String?.none, true)
        repeat {
            let limit = self.paging.map { _ in "\(min(left, Self.pageMax))" }
            let query = self.query + [("limit", limit), ("cursor", next)]
            let page = try await client.ask("GET", self.path.withQuery(query))
            body(page, isFirst)
            left -= page.json[self.member]?.elements.count ?? 0
            next = page.json["next"]?.text
            isFirst = false
        } while next != nil && left > 0
        return next
    }

    private func printTable(_ client: OperatorClient) async throws {
        let screen = Screen.current
        var table = TextTable(self.columns)
        var rows = 0
        let next = try await self.walk(client) { page, _ in
            let found = page.json[self.member]?.elements ?? []
            guard !found.isEmpty else { return }
            let now = Moment.now(of: page.json)
            for line in table.lines(found, now: now, on: screen, isFirst: rows == 0) { Output.line(line) }
            rows += found.count
        }
        if rows == 0 { Output.line(self.none) }
        if next != nil { Output.standardError("There are more rows: use --limit or --all.") }
    }

    /// One page is printed as it came; several are put together, as if they had been one.
    private func printJSON(_ client: OperatorClient) async throws {
        var pages: [OperatorClient.Answer] = []
        let next = try await self.walk(client) { page, _ in pages.append(page) }
        guard pages.count != 1 else { return Output.line(pages[0].text) }
        var members = (pages.first?.json.members ?? []).filter { $0.name != "next" }
        let rows = pages.flatMap { $0.json[self.member]?.elements ?? [] }
        members = members.map { $0.name == self.member ? .init(name: $0.name, value: .array(rows)) : $0 }
        if let next { members.append(.init(name: "next", value: .string(next))) }
        Output.line(JSONValue.object(members).words)
    }
}

/// A verb that shows a list.
protocol GatewayList: AsyncParsableCommand {
    var gateway: OperatorOptions { get }
    var answer: AnswerOptions { get }
    var list: GatewayListForm { get }
}

extension GatewayList {
    func run() async throws { try await self.list.run(self.gateway, self.answer) }
}

/// A verb that shows one thing.
protocol GatewayQuestion: AsyncParsableCommand {
    var gateway: OperatorOptions { get }
    var answer: AnswerOptions { get }
    /// The path and query of the question.
    var path: String { get }
    /// The answer for people.
    func lines(_ answer: JSONValue, on screen: Screen) -> [String]
}

extension GatewayQuestion {
    func run() async throws {
        let found = try await self.gateway.ask { try await $0.ask("GET", self.path) }
        guard !self.answer.json else { return Output.line(found.text) }
        for line in self.lines(found.json, on: Screen.current) { Output.line(line) }
    }
}

/// Whether a change is asked about before it is made.
struct ConfirmationOptions: ParsableArguments {
    @Flag(help: "Do not ask for confirmation. Needed without a terminal.") var yes = false

    /// Asks on a terminal.
    ///
    /// - Parameter intent: The change to come; continues "This will".
    /// - Throws: Exit code 64 if there is none, 1 if the answer is no.
    func confirm(_ intent: String) throws {
        guard !self.yes else { return }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw Output.wrongUsage(
                "this would \(intent): give --yes, since there is no terminal to ask for confirmation"
            )
        }
        Output.standardError("This will \(intent). Go on? [y/N] ", terminator: "")
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            Output.standardError("Nothing was changed.")
            throw ExitCode(1)
        }
    }
}

/// A verb that changes something at a gateway: it asks first, and says what it has changed.
protocol GatewayChange: AsyncParsableCommand {
    var gateway: OperatorOptions { get }
    var answer: AnswerOptions { get }
    var confirmation: ConfirmationOptions { get }
    /// The change to come; continues "This will".
    var intent: String { get throws }
    /// The request to send.
    var request: (method: String, path: String, body: JSONValue?) { get throws }
    /// The change that was made, for people.
    func line(_ answer: JSONValue) -> String
}

extension GatewayChange {
    func run() async throws {
        let request = try self.request
        let access = try self.gateway.access()
        try self.confirmation.confirm("\(try self.intent) at \(access.url)")
        let done = try await self.gateway.ask { try await $0.ask(request.method, request.path, request.body) }
        Output.line(self.answer.json ? done.text : self.line(done.json))
    }
}
