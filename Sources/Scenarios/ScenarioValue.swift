package import WidgetModel

/// How values are written in a scenario.
package enum ScenarioValue {
    private static let units: [(name: Character, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

    /// The length of time that `90s`, `1d12h` or `-10m` spells.
    package static func duration(_ text: String) -> Interval? {
        var rest = text[...]
        let isNegative = rest.first == "-"
        if isNegative { rest = rest.dropFirst() }
        guard !rest.isEmpty else { return nil }
        var seconds: Int64 = 0
        var largest = Self.units.count
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard digits.count <= 9, let count = Int64(digits), let unit = rest.dropFirst(digits.count).first,
                let index = Self.units.firstIndex(where: { $0.name == unit }),
                // Each unit once, the longer ones first.
                largest == Self.units.count || index > largest
            else { return nil }
            seconds += count * Self.units[index].seconds
            largest = index
            rest = rest.dropFirst(digits.count + 1)
        }
        return .seconds(isNegative ? -seconds : seconds)
    }

    package static func text(_ interval: Interval) -> String {
        var seconds = interval.milliseconds / 1000
        if seconds == 0 { return "0s" }
        var text = seconds < 0 ? "-" : ""
        seconds = abs(seconds)
        for unit in Self.units where seconds >= unit.seconds {
            text += "\(seconds / unit.seconds)\(unit.name)"
            seconds %= unit.seconds
        }
        return text
    }

    /// Seconds after midnight of `09:30` or `24:00`.
    package static func timeOfDay(_ text: some StringProtocol) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= 1440
        else { return nil }
        return hour * 3600 + minute * 60
    }

    /// Two times of a day, as in `09:30-16:00`; the second may be the earlier one, which is then on the next day.
    package static func hours(_ text: String) -> (from: Int, until: Int)? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let from = Self.timeOfDay(parts[0]), let until = Self.timeOfDay(parts[1]),
            from != until,
            from < 86_400
        else { return nil }
        return (from, until)
    }

    package static func share(_ text: String) -> Double? {
        let isPercent = text.last == "%"
        guard let number = Double(isPercent ? String(text.dropLast()) : text) else { return nil }
        let share = isPercent ? number / 100 : number
        return (0...1).contains(share) ? share : nil
    }

    package static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
}
