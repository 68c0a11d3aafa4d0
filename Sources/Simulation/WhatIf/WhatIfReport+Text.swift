import Engine
import Timelines
import WidgetModel

extension WhatIfReport {
    /// The report in plain words.
    package var text: String {
        var text = "policy \(self.rewrite.policy.name)"
        if let kind = self.rewrite.kind { text += " for \(kind.rawValue)" }
        if let app = self.rewrite.app { text += " of \(app.rawValue)" }
        text += ", \(Self.time(self.since)) to \(Self.time(self.until))\n\(self.estimateSentence)\n\n"
        text += Self.table(["", "as it was", "as it would have been", "change"], self.rows.map(\.texts))
        for kind in self.kinds {
            text += "\n\(kind.name.app.rawValue) \(kind.name.kind.rawValue)\n"
            text += Self.table([], Self.rows(kind.actual, kind.other).map(\.texts))
        }
        for sender in self.senders {
            text += "\nsender \(sender.team)\n"
            text += Self.table([], Self.rows(sender.actual, sender.other).map(\.texts))
        }
        return text
    }

    static func rows(_ actual: SenderView?, _ other: SenderView?) -> [Row] {
        func row(_ name: String, _ value: (SenderView) -> Int) -> Row {
            Row(name: name, actual: actual.map(value) ?? 0, other: other.map(value) ?? 0)
        }
        return [
            row("pushes") { $0.pushes }, row("matched") { $0.matched }, row("unchanged") { $0.unchanged },
            row("ended at once") { $0.refused }, row("reloads charged") { $0.charged },
            row("reloads not charged") { $0.exempt }, row("collateral") { $0.collateral },
            row("collateral beyond the budget") { $0.collateralOver },
        ]
    }

    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        let all = (header.isEmpty ? [] : [header]) + rows
        let widths = (0..<4).map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            let name = row[0] + String(repeating: " ", count: widths[0] - row[0].count)
            let numbers = (1..<4).map { String(repeating: " ", count: widths[$0] - row[$0].count) + row[$0] }
            return "  " + ([name] + numbers).joined(separator: "  ")
        }.joined(separator: "\n") + "\n"
    }
}
