/// How numbers are written for people.
package enum ReportText {
    /// `1,234,567`.
    package static func count(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(abs(number)).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    /// `12.3`, with one decimal.
    package static func decimal(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(Self.count(tenths / 10)).\(abs(tenths) % 10)"
    }

    /// `12.3 %`.
    package static func percent(_ part: Int, of whole: Int) -> String {
        whole == 0 ? "0.0 %" : Self.decimal(Double(part) * 100 / Double(whole)) + " %"
    }

    /// `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`; a dash for nil.
    package static func wait(_ seconds: Int?) -> String {
        guard let seconds else { return "–" }
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7200 { return "\(seconds / 60) min" }
        if seconds < 2 * 86_400 {
            let minutes = seconds / 60 % 60
            return minutes == 0 ? "\(seconds / 3600) h" : "\(seconds / 3600) h \(minutes) min"
        }
        let hours = seconds / 3600 % 24
        return hours == 0 ? "\(seconds / 86_400) d" : "\(seconds / 86_400) d \(hours) h"
    }
}
