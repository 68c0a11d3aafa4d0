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

    /// The dashboard's advice.
    var advice: [String] { self.rows["To do"] ?? [] }
    var log: [String] { self.rows["Log"] ?? [] }
    var alerts: [String] { self.rows["Alert"] ?? [] }
    /// The command to run first, without the program's name.
    var command: [String] {
        (self.rows["First"]?.first ?? "").split(separator: " ").dropFirst().map(String.init)
    }
    /// The answer of that command.
    var answer: [String] { Array(self.rows["First"]?.dropFirst() ?? []) }
    /// The log's lines when it is over.
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
    /// The book's promise for To do, log and first command, in seconds.
    private static let seenWithin = 60.0

    let incident: Incident
    private let prometheus: Prometheus
    /// How many lines the log had before.
    private var linesBefore: Int
    private let begin = ContinuousClock.now
    /// When each part of it was seen, in seconds since the beginning.
    private var times: [(part: String, seconds: Double)] = []

    /// Begins with a gateway that is well.
    init(_ title: String, _ gateway: TestGateway, _ prometheus: Prometheus) async throws {
        self.incident = try Incident.of(title)
        try #require(!self.incident.alerts.isEmpty, "\(title)")
        self.prometheus = prometheus
        self.linesBefore = gateway.logged.count
        #expect(try await !self.isAnswer(of: gateway), "\(title): \(self.incident.command) says so before it is so")
        let early = try await prometheus.firingIfHeld().intersection(self.incident.alerts)
        #expect(early == [], "\(title): these fire before it is so")
    }

    /// The provoked incident is in the log, in To do, in the first command's answer, and the alerts fire.
    ///
    /// - Parameter again: Keeps it up, where it would end by itself.
    mutating func isSeen(by gateway: TestGateway, again: () async throws -> Void = {}) async throws {
        try await self.isLogged(self.incident.log, by: gateway, again)
        self.note("log")
        for phrase in self.incident.advice {
            _ = try await self.eventually("To do: \(phrase)", of: gateway) {
                try await again()
                return try await DashboardRules.said(of: gateway).contains { Incident.has($0, phrase) } ? true : nil
            }
        }
        self.note("to do")
        try await self.answers(gateway, again)
        try await self.fires(again)
        try await Pictures.take(self.incident.title, of: gateway)
    }

    /// A gateway that answers nothing: only its absence is seen.
    mutating func isGone(_ gateway: TestGateway) async throws {
        try await self.answers(gateway)
        try await self.fires()
    }

    private mutating func answers(_ gateway: TestGateway, _ again: () async throws -> Void = {}) async throws {
        _ = try await self.eventually("\(self.incident.command): \(self.incident.answer)", of: gateway) {
            try await again()
            return try await self.isAnswer(of: gateway) ? true : nil
        }
        self.note("command")
    }

    /// Whether the first command's answer names the fault.
    private func isAnswer(of gateway: TestGateway) async throws -> Bool {
        try #require(!self.incident.answer.isEmpty, "\(self.incident.title)")
        let result = try await gateway.runVerb(self.incident.command)
        return self.incident.answer.allSatisfy { Incident.has(result.output + result.errors, $0) }
    }

    private mutating func fires(_ again: () async throws -> Void = {}) async throws {
        try await self.prometheus.waitUntilFiring(self.incident.alerts, again: again)
        self.note("alert")
    }

    /// Waits until the incident is over: the log has the lines of its end, To do no longer names it, and its alerts
    /// fire no more.
    ///
    /// - Parameters:
    ///   - staysToDo: Whether To do counts everything since the start, so that its advice stays.
    ///   - isAnother: Whether the gateway is another process than before, with another log.
    ///   - again: Does again whatever ends it, if once is not enough.
    mutating func isOver(
        _ gateway: TestGateway,
        staysToDo: Bool = false,
        isAnother: Bool = false,
        again: () async throws -> Void = {}
    ) async throws {
        if isAnother { self.linesBefore = 0 }
        self.note("mended")
        try await self.isLogged(self.incident.end, by: gateway, again)
        for phrase in staysToDo ? [] : self.incident.advice {
            _ = try await self.eventually("no more to do: \(phrase)", of: gateway) {
                try await again()
                return try await DashboardRules.said(of: gateway).contains { Incident.has($0, phrase) } ? nil : true
            }
        }
        let alerts = self.incident.alerts
        try await self.prometheus.wait("\(self.incident.title): the end of \(alerts)", again: again) {
            $0.isDisjoint(with: alerts)
        }
        self.note("over")
        self.checkTimes()
        let told = self.times.map { "\($0.part) \($0.seconds.formatted(.number.precision(.fractionLength(1)))) s" }
        print("drill: \(self.incident.title): \(told.joined(separator: ", "))")
    }

    /// Compares the times with the book's, if this machine is to be judged by them: they depend on what else it does.
    private func checkTimes() {
        guard ProcessInfo.processInfo.environment["FRESHET_TEST_DRILL_TIMES"] != nil else { return }
        for (part, seconds) in self.times where ["log", "to do", "command"].contains(part) {
            #expect(seconds <= Self.seenWithin, "\(self.incident.title): \(part)")
        }
    }

    private mutating func note(_ part: String) {
        self.times.append((part, (ContinuousClock.now - self.begin) / Duration.seconds(1)))
    }

    private func isLogged(
        _ phrases: [String],
        by gateway: TestGateway,
        _ again: () async throws -> Void = {}
    ) async throws {
        for phrase in phrases {
            _ = try await self.eventually("the log: \(phrase)", of: gateway) {
                try await again()
                // To ask it takes longer than to look, and it gets on meanwhile.
                _ = try await gateway.curl("GET", "\(gateway.opsURL)/livez")
                return gateway.logged.dropFirst(self.linesBefore).contains { Incident.has($0, phrase) } ? true : nil
            }
        }
    }

    private func eventually<Value>(
        _ what: String,
        of gateway: TestGateway,
        _ body: () async throws -> Value?
    ) async throws -> Value {
        var attempts = Attempts()
        while attempts.isAnother() {
            if let value = try await body() { return value }
        }
        let log = gateway.logged.dropFirst(self.linesBefore).joined(separator: "\n")
        throw TestGateway.Failure("\(self.incident.title): never happened: \(what)\n\(log)")
    }
}
