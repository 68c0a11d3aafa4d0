import WidgetModel

/// The lines of `top`: a value made of readings, without a terminal.
struct TopScreen {
    /// By what senders are sorted.
    enum Order: String, CaseIterable, Sendable {
        case charged, pushes, matched, unchanged, name

        var next: Order {
            let all = Self.allCases
            return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
        }

        func sorted(_ senders: [TopReading.Sender]) -> [TopReading.Sender] {
            // Teams are unlike each other, so that equal numbers have one order, too.
            senders.sorted { left, right in
                let (a, b) =
                    switch self {
                    case .charged: (left.charged, right.charged)
                    case .pushes: (left.pushes, right.pushes)
                    case .matched: (left.matched, right.matched)
                    case .unchanged: (left.unchanged, right.unchanged)
                    case .name: (0, 0)
                    }
                return a == b ? left.team < right.team : a > b
            }
        }
    }

    /// What happens in a second.
    struct Rates: Sendable {
        var pushes = 0.0
        var matched = 0.0
        var reloads = 0.0

        init(from before: TopReading, to now: TopReading, seconds: Double) {
            guard seconds > 0 else { return }
            self.pushes = Double(max(0, now.accepted - before.accepted)) / seconds
            self.matched = Double(max(0, now.matched - before.matched)) / seconds
            self.reloads = Double(max(0, now.reloadsIssued - before.reloadsIssued)) / seconds
        }
    }

    let address: String
    var reading: TopReading?
    var rates: Rates?
    var order = Order.charged
    /// Why the gateway does not answer, nil while it does.
    var away: String?
    /// Seconds since ``reading`` was read.
    var age = 0
    /// Whether words may be bold and coloured.
    var isStyled = false
    /// Whether keys are listened to.
    var hasKeys = false

    /// The lines, none longer than the window's columns, no more than its rows.
    func lines(columns: Int, rows: Int) -> [String] {
        var lines = [self.head]
        if let away = self.away {
            lines.append(
                self.styled(self.reading == nil ? away : "\(away) What is shown is \(self.age) s old.", "31;1")
            )
        }
        if let reading = self.reading { lines += self.body(reading, columns: columns) }
        return lines.prefix(rows).map { Self.cut($0, to: columns) }
    }

    private var head: String {
        let state = self.away == nil ? "as of \(self.reading?.asOf ?? "–")" : "away"
        let keys = self.hasKeys ? "   [s] sorted by \(self.order.rawValue)  [q] end" : ""
        return "\(self.styled("Freshet", "1")) \(self.address)   \(state)\(keys)"
    }

    private func body(_ reading: TopReading, columns: Int) -> [String] {
        var lines = ["", self.freshness(reading)]
        if reading.partitionsFailed > 0 {
            lines.append(self.styled("\(reading.partitionsFailed) partitions have stopped; see the log", "31;1"))
        }
        if !reading.isBalanced { lines.append(self.styled("The books do not add up.", "31;1")) }
        let rates = self.rates.map { rates in
            "\(Self.rate(rates.pushes)) pushes/s   \(Self.rate(rates.matched)) matched/s   "
                + "\(Self.rate(rates.reloads)) reloads/s   "
        }
        lines.append("Flow      \(rates ?? "")\(Self.grouped(reading.accepted)) pushes in all")
        lines.append(
            "Pressure  \(Self.grouped(reading.inFlight)) in work   lag \(Self.grouped(reading.lag))   "
                + "503: \(Self.grouped(reading.unavailable))   429: \(Self.grouped(reading.rateLimited))   "
                + "\(Self.grouped(reading.eventStreams)) streams"
        )
        lines.append("")
        lines.append(self.styled("\(Self.padded("matched", 12))\(Self.right(Self.grouped(reading.matched), 15))", "1"))
        for outcome in TopReading.outcomes {
            let count = reading.count(outcome)
            // What nothing became of yet is left out, but for what people look for.
            guard count > 0 || ["reloaded", "deferred", "failed"].contains(outcome) else { continue }
            let share = reading.matched == 0 ? 0 : Double(count) / Double(reading.matched)
            let width = min(1, share) * Double(max(0, min(50, columns - 40)))
            let bar = String(repeating: "▇", count: Int(width.rounded(.up)))
            lines.append(
                "\(Self.padded(outcome, 12))\(Self.right(Self.grouped(count), 15)) "
                    + "\(Self.right(Self.percent(share), 6))  \(bar)"
            )
        }
        lines.append("")
        return lines + self.senders(reading)
    }

    private func senders(_ reading: TopReading) -> [String] {
        let titles = ["charged", "share", "pushes", "matched", "unchanged"]
        var lines = [
            self.styled(Self.padded("SENDER", 16) + titles.map { Self.right($0.uppercased(), 12) }.joined(), "1")
        ]
        let charged = reading.senders.reduce(0) { $0.addingSaturating($1.charged) }
        for sender in self.order.sorted(reading.senders) {
            let share = charged == 0 ? 0 : Double(sender.charged) / Double(charged)
            let unchanged = sender.matched == 0 ? 0 : Double(sender.unchanged) / Double(sender.matched)
            let cells = [
                Self.grouped(sender.charged), Self.percent(share), Self.grouped(sender.pushes),
                Self.grouped(sender.matched), Self.percent(unchanged),
            ]
            lines.append(Self.padded(sender.team, 16) + cells.map { Self.right($0, 12) }.joined())
        }
        if reading.senders.isEmpty { lines.append("no sender has pushed yet") }
        return lines
    }

    private func freshness(_ reading: TopReading) -> String {
        let seen = reading.seen
        let (word, style) =
            switch reading.freshness {
            case .unknown: ("not known: no widget is registered", "1")
            case .fresh: ("FRESH", "32;1")
            case .catchingUp: ("CATCHING UP", "1")
            case .gettingOld: ("GETTING OLD", "33;1")
            case .stale: ("STALE", "31;1")
            }
        let behind = reading.behind
        let judged =
            behind.widgets == 0
            ? ""
            : "   \(Self.grouped(behind.behind)) behind, \(Self.grouped(behind.late)) late of \(Self.grouped(behind.widgets))"
        let numbers =
            seen.count == 0
            ? "" : "   p50 \(Self.time(seen.p50))   p95 \(Self.time(seen.p95))   \(Self.grouped(seen.count)) seen"
        return "Widgets   \(self.styled(word, style))\(judged)\(numbers)"
    }

    private func styled(_ text: String, _ style: String) -> String {
        self.isStyled ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }
}

// MARK: - Text

extension TopScreen {
    static func grouped(_ number: Int) -> String {
        var digits = String(abs(number))
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }

    /// Above this numbers are shown as this: what an answer says need not be true.
    private static let shownMax = 1e15

    static func rate(_ rate: Double) -> String {
        let rate = min(rate, Self.shownMax)
        if rate >= 100 { return Self.grouped(Int(rate.rounded())) }
        let tenths = Int((rate * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    static func percent(_ share: Double) -> String {
        let share = min(share, Self.shownMax / 1000)
        let tenths = Int((share * 1000).rounded())
        return tenths >= 100 ? "\(Int((share * 100).rounded())) %" : "\(tenths / 10).\(tenths % 10) %"
    }

    static func time(_ milliseconds: Int) -> String {
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if milliseconds < 60_000 { return "\(Self.rate(Double(milliseconds) / 1000)) s" }
        let minutes = milliseconds / 60_000
        if minutes < 60 { return "\(minutes) min \(milliseconds / 1000 % 60) s" }
        return "\(minutes / 60) h \(minutes % 60) min"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }

    /// As much of a line as fits; what changes its style takes no room.
    private static func cut(_ line: String, to columns: Int) -> String {
        var result = ""
        var room = columns
        var isEscape = false
        for character in line {
            if character == "\u{1B}" { isEscape = true }
            if !isEscape {
                if room == 0 { continue }
                room -= 1
            }
            result.append(character)
            if isEscape, character == "m" { isEscape = false }
        }
        return result
    }
}
