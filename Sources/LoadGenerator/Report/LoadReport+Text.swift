import Histogram
import ReportPages
import WidgetModel

extension LoadReport {
    /// The report for a terminal.
    package var text: String {
        var lines = ["\(self.scenario.name): \(LoadValue.text(self.scenario.length)) against \(self.target)", ""]
        lines += Self.table(
            [["load", "due", "sent", "2xx", "failed"]]
                + zip(self.scenario.loads, self.tally.loads).map { load, counts in
                    [load.name] + [counts.due, counts.sent, counts.answered, counts.failed].map(ReportText.count)
                }
        )
        lines += ["", "latency from the intended send time"]
        lines += Self.table(
            [["load", "stage", "count"] + Self.percentiles.map(\.name)]
                + self.rows.map { row in
                    [row.load, row.stage.rawValue, ReportText.count(row.latencies.count)]
                        + Self.percentiles.map { Self.latency(row.latencies.microseconds(atPercentile: $0.value)) }
                },
            names: 2
        )
        let failures = self.failures
        if !failures.isEmpty {
            lines += ["", "failed"]
            lines += Self.table(failures.map { [$0.load, $0.what, ReportText.count($0.count)] }, names: 2)
        }
        lines += [""] + self.remarks
        if !self.results.isEmpty {
            lines += ["", "objectives"]
            lines += self.results.map { "  \($0.isMet ? "met   " : "MISSED")  \($0.objective)  (\(Self.reached($0)))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The failures, the most frequent first.
    var failures: [(load: String, what: String, count: Int)] {
        zip(self.scenario.loads, self.tally.loads).flatMap { load, counts in
            counts.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { failure, count in
                (load.name, failure.status == 0 ? failure.reason : "\(failure.status) \(failure.reason)", count)
            }
        }
    }

    /// The facts that a reader needs to judge the numbers.
    var remarks: [String] {
        var remarks: [String] = []
        var rate = "\(ReportText.count(Int(self.answeredPerSecond))) answered a second"
        if let server = self.answeredPerServerSecond {
            rate += ", \(ReportText.count(Int(server))) for each CPU-second of the server"
        }
        if let own = self.answeredPerGeneratorSecond {
            rate += ", \(ReportText.count(Int(own))) for each of the generator"
        }
        remarks.append(rate)
        if self.tally.reloads > 0 {
            remarks.append(
                "\(ReportText.count(self.tally.reloads)) reloads came, \(ReportText.count(self.tally.redelivered)) again; "
                    + "\(ReportText.count(self.tally.acknowledged)) acknowledged, "
                    + "\(ReportText.count(self.tally.refusedAcknowledgements)) not taken"
            )
        }
        let percent = ReportText.decimal(self.tally.behind * 100)
        let core = ReportText.decimal(self.generatorShare * 100)
        if self.isGeneratorTheBottleneck {
            remarks.append(
                "THE GENERATOR WAS BEHIND: \(percent) % went out over 1 ms late with room for them (\(core) % of a core); "
                    + "latencies are too high by that"
            )
        } else {
            remarks.append("generator on time: \(percent) % over 1 ms late, \(core) % of a core")
        }
        if self.tally.heldBack > 0 {
            remarks.append(
                "\(ReportText.count(self.tally.heldBack)) operations waited for a free stream: the server was behind"
            )
        }
        remarks += self.outcomeRemarks + self.outageRemarks
        if self.tally.lostConnections > 0 {
            remarks.append("\(ReportText.count(self.tally.lostConnections)) connections were lost")
        }
        if self.isClosedLoop {
            remarks.append(
                "with the rate max a request waits for the answer before it, so latencies do not show a burst"
            )
        }
        if let failure = self.outcome.failure { remarks.append("ENDED EARLY: \(failure)") }
        return remarks
    }

    /// The decisions about the pushes that were followed, a sentence a load.
    private var outcomeRemarks: [String] {
        zip(self.scenario.loads, self.tally.loads).compactMap { load, counts in
            guard counts.followed > 0 else { return nil }
            let outcomes = PushOutcome.allCases.compactMap { outcome in
                counts.outcomes[outcome].map { "\(outcome.name) \(ReportText.count($0))" }
            }
            return "\(load.name): of \(ReportText.count(counts.followed)) pushes that were followed, "
                + "\(ReportText.count(counts.matched)) widgets matched; decided at once: "
                + (outcomes.isEmpty ? "nothing" : outcomes.joined(separator: ", "))
        }
    }

    /// When the server was away, and when it had caught up.
    private var outageRemarks: [String] {
        self.tally.outages.map { outage in
            let began = "the \(outage.listener) listener was away from \(LoadValue.text(outage.began))"
            guard let ended = outage.ended else { return "\(began) to the end" }
            let back = "\(began) for \(LoadValue.text(ended - outage.began))"
            guard let recovered = outage.recovered else { return "\(back); it has not caught up" }
            return "\(back), and had caught up \(LoadValue.text(recovered - ended)) later"
        }
    }

    static func reached(_ result: Result) -> String {
        guard let value = result.value else { return "nothing to measure" }
        if case .latency = result.objective.figure { return Self.latency(value) }
        return "\(ReportText.decimal(value * 100)) %"
    }

    /// `870 us`, `12.5 ms`, `3.2 s`; `never` for infinity, a dash for nil.
    static func latency(_ microseconds: Double?) -> String {
        guard let microseconds else { return "–" }
        if microseconds == .infinity { return "never" }
        if microseconds < 1000 { return "\(Int(microseconds)) us" }
        if microseconds < 1_000_000 { return "\(ReportText.decimal(microseconds / 1000)) ms" }
        return "\(ReportText.decimal(microseconds / 1_000_000)) s"
    }

    /// Columns under each other, the first ones to the left and numbers to the right.
    static func table(_ rows: [[String]], names: Int = 1) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column < names ? cell + space : space + cell
            }
            let line = "  " + cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
