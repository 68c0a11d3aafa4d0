/// A date and a time of day of the Gregorian calendar, without a zone.
///
/// Source of the conversions: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
package struct CivilTime: Hashable, Sendable {
    package var year: Int
    /// From 1.
    package var month: Int
    /// From 1.
    package var day: Int
    package var secondOfDay: Int

    package init(year: Int, month: Int, day: Int, secondOfDay: Int = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.secondOfDay = secondOfDay
    }

    /// The time of clocks in UTC so many seconds after the epoch.
    package init(seconds: Int) {
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        self.month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.year = yearOfEra + era * 400 + (self.month <= 2 ? 1 : 0)
        self.secondOfDay = seconds - days * 86_400
    }

    /// The seconds after the epoch at which clocks in UTC show it.
    package var seconds: Int {
        let year = self.month <= 2 ? self.year - 1 : self.year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (self.month > 2 ? self.month - 3 : self.month + 9) + 2) / 5 + self.day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era * 146_097 + dayOfEra - 719_468) * 86_400 + self.secondOfDay
    }

    /// The day of the week of a day after the epoch, 0 for Sunday.
    static func weekday(ofDay day: Int) -> Int {
        // 1970-01-01 was a Thursday.
        let weekday = (day + 4) % 7
        return weekday < 0 ? weekday + 7 : weekday
    }

    /// The first or, from the end, the last day of a weekday in a month, in days after the epoch.
    ///
    /// - Parameter number: 1 for the first, 2 for the second, -1 for the last.
    static func day(_ number: Int, weekday: Int, month: Int, year: Int) -> Int {
        let first = CivilTime(year: year, month: month, day: 1).seconds / 86_400
        if number > 0 { return first + (weekday - Self.weekday(ofDay: first) + 7) % 7 + (number - 1) * 7 }
        let next =
            month == 12 ? CivilTime(year: year + 1, month: 1, day: 1) : CivilTime(year: year, month: month + 1, day: 1)
        let last = next.seconds / 86_400 - 1
        return last - (Self.weekday(ofDay: last) - weekday + 7) % 7
    }

    /// `2026-09-13T20:15:00Z`.
    package var text: String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let second = self.secondOfDay
        return "\(self.year)-\(two(self.month))-\(two(self.day))T\(two(second / 3600)):\(two(second / 60 % 60)):"
            + "\(two(second % 60))Z"
    }

    /// The time that `2026-09-13`, `2026-09-13T20:15Z` or `2026-09-13T20:15:00Z` spells, in UTC; nil for anything else.
    package init?(_ text: String) {
        var text = text[...]
        func digits(_ count: Int, after separator: Character?) -> Int? {
            if let separator {
                guard text.first == separator else { return nil }
                text = text.dropFirst()
            }
            let found = text.prefix(count)
            guard found.count == count, found.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            text = text.dropFirst(count)
            return Int(found)
        }
        guard let year = digits(4, after: nil), let month = digits(2, after: "-"), let day = digits(2, after: "-")
        else {
            return nil
        }
        var second = 0
        if !text.isEmpty {
            guard let hour = digits(2, after: "T"), let minute = digits(2, after: ":"), hour < 24, minute < 60 else {
                return nil
            }
            second = hour * 3600 + minute * 60
            if text.first == ":" {
                guard let seconds = digits(2, after: ":"), seconds < 60 else { return nil }
                second += seconds
            }
            guard text == "Z" else { return nil }
        }
        self.init(year: year, month: month, day: day, secondOfDay: second)
        guard (1970...2100).contains(year), CivilTime(seconds: self.seconds) == self else { return nil }
    }
}
