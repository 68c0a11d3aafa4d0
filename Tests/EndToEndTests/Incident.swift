import Foundation
import Testing

/// A section of the drill book in docs/operating.md: what an operator sees of an incident, and does about it.
struct Incident: Sendable {
    let title: String
    /// The words that stand in code in each row, by the row's name.
    private let rows: [String: [String]]

    /// The rows of each section, in their order.
    static let names = ["To do", "Log", "Alert", "First", "Do", "Over"]

    /// Every section, in the book's order.
    static func book() throws -> [Incident] {
        let page = try String(contentsOfFile: "\(TestGateway.root)/docs/operating.md", encoding: .utf8)
        let book = try #require(
            page.components(separatedBy: "\n## Drill book\n").last?.components(separatedBy: "\n## ").first
        )
        return try book.components(separatedBy: "\n### ").dropFirst().map { section in
            let lines = section.split(separator: "\n")
            var rows: [String: [String]] = [:]
            for line in lines where line.hasPrefix("| ") && line.hasSuffix(" |") {
                guard let end = line.dropFirst(2).firstRange(of: " | ") else { continue }
                let name = String(line[line.index(line.startIndex, offsetBy: 2)..<end.lowerBound])
                try #require(rows[name] == nil && Self.names.contains(name), "\(lines[0]): \(name)")
                rows[name] = line[end.upperBound...].split(separator: "`", omittingEmptySubsequences: false)
                    .enumerated()
                    .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            }
            try #require(rows.count == Self.names.count, "\(lines[0]) has \(rows.keys.sorted())")
            return Incident(title: String(lines[0]), rows: rows)
        }
    }

    static func of(_ title: String) throws -> Incident {
        try #require(try Self.book().first { $0.title == title }, "the book has no section \(title)")
    }

    /// What the dashboard says.
    var advice: [String] { self.rows["To do"] ?? [] }
    var log: [String] { self.rows["Log"] ?? [] }
    var alerts: [String] { self.rows["Alert"] ?? [] }
    /// What to run first, without the program's name.
    var command: [String] {
        (self.rows["First"]?.first ?? "").split(separator: " ").dropFirst().map(String.init)
    }
    /// What that says.
    var answer: [String] { Array(self.rows["First"]?.dropFirst() ?? []) }
    /// What the log says when it is over.
    var end: [String] { self.rows["Over"] ?? [] }

    /// Whether a text has a phrase of the book, in which … stands for anything.
    static func has(_ text: some StringProtocol, _ phrase: String) -> Bool {
        var rest = text[...]
        for part in phrase.components(separatedBy: "…") where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}

/// One incident as it is gone through: it is provoked, seen, ended, and seen to be over, each as the book says.
struct Drill {
    let incident: Incident
    private var scrapes: [Alerts.Scrape]
    /// How many lines the log had before.
    private var linesBefore: Int

    /// Begins with a gateway that is well.
    init(_ title: String, _ gateway: TestGateway) async throws {
        self.incident = try Incident.of(title)
        self.linesBefore = gateway.logged.count
        self.scrapes = [await Alerts.scrape(gateway)]
        #expect(try await !self.isAnswer(of: gateway), "\(title): \(self.incident.command) says so before it is so")
    }

    /// What is provoked is in the log, in To do, in the first command's answer, and in what Prometheus hears.
    ///
    /// - Parameters:
    ///   - again: Keeps it up, where it would end by itself.
    ///   - holds: Whether it was still so when it was scraped.
    mutating func isSeen(
        by gateway: TestGateway,
        again: () async throws -> Void = {},
        holds: (Alerts.Scrape) -> Bool = { $0.metrics != nil }
    ) async throws {
        try await self.isLogged(self.incident.log, by: gateway, again)
        for phrase in self.incident.advice {
            _ = try await self.eventually("To do: \(phrase)") {
                try await again()
                return try await DashboardRules.said(of: gateway).contains { Incident.has($0, phrase) } ? true : nil
            }
        }
        try await self.answers(gateway, again)
        let scrape = try await self.eventually("it is so when it is scraped") {
            try await again()
            let scrape = await Alerts.scrape(gateway)
            return holds(scrape) ? scrape : nil
        }
        self.scrapes.append(scrape)
    }

    /// Whether the first command's answer says what is wrong.
    private func isAnswer(of gateway: TestGateway) async throws -> Bool {
        try #require(!self.incident.answer.isEmpty, "\(self.incident.title)")
        let result = try await gateway.runVerb(self.incident.command)
        return self.incident.answer.allSatisfy { Incident.has(result.output + result.errors, $0) }
    }

    private func answers(_ gateway: TestGateway, _ again: () async throws -> Void = {}) async throws {
        _ = try await self.eventually("\(self.incident.command): \(self.incident.answer)") {
            try await again()
            return try await self.isAnswer(of: gateway) ? true : nil
        }
    }

    /// A gateway that answers nothing: only its absence is seen.
    mutating func isGone(_ gateway: TestGateway) async throws {
        try await self.answers(gateway)
        self.scrapes.append(await Alerts.scrape(gateway))
    }

    /// What the book says of its end is in the log, nothing is to do any more, and the alerts fired while it was so, neither
    /// before nor after.
    ///
    /// - Parameters:
    ///   - staysToDo: Whether To do goes by all that was since the start.
    ///   - isAnother: Whether it is another process than before, with another log.
    mutating func isOver(_ gateway: TestGateway, staysToDo: Bool = false, isAnother: Bool = false) async throws {
        if isAnother { self.linesBefore = 0 }
        try await self.isLogged(self.incident.end, by: gateway)
        for phrase in staysToDo ? [] : self.incident.advice {
            _ = try await self.eventually("no more to do: \(phrase)") {
                try await DashboardRules.said(of: gateway).contains { Incident.has($0, phrase) } ? nil : true
            }
        }
        self.scrapes.append(await Alerts.scrape(gateway))
        try #require(!self.incident.alerts.isEmpty, "\(self.incident.title)")
        for alert in self.incident.alerts {
            let found = try await Alerts.firing(alert, self.scrapes)
            #expect(found.map { $0 > 0 } == [false, true, false], "\(self.incident.title): \(alert) fired \(found)")
        }
    }

    private func isLogged(
        _ phrases: [String],
        by gateway: TestGateway,
        _ again: () async throws -> Void = {}
    ) async throws {
        for phrase in phrases {
            _ = try await self.eventually("the log: \(phrase)") {
                try await again()
                // To ask it takes longer than to look, and it gets on meanwhile.
                _ = try await gateway.curl("GET", "\(gateway.opsURL)/livez")
                return gateway.logged.dropFirst(self.linesBefore).contains { Incident.has($0, phrase) } ? true : nil
            }
        }
    }

    private func eventually<Value>(_ what: String, _ body: () async throws -> Value?) async throws -> Value {
        let end = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < end {
            if let value = try await body() { return value }
        }
        throw TestGateway.Failure("\(self.incident.title): never happened: \(what)")
    }
}
