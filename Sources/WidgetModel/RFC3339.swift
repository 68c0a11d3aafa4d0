/// Dates in text as RFC 3339 has them: `2026-11-21T18:00:00.250+01:00`.
///
/// Strict: four-digit years, `T`, seconds, and an offset from UTC or `Z` are required. Fractions are cut off after the
/// millisecond. A leap second is refused: an ``Instant`` has no place for it.
package enum RFC3339 {
    /// Why a text is no date.
    package enum ParseError: Error, Hashable, Sendable, CaseIterable {
        /// Not of the form at all.
        case syntax
        /// The offset from UTC is missing: a local time is no point in time.
        case noOffset
        /// A month, day, hour, minute, second or offset that does not exist.
        case outOfRange
        case leapSecond
        /// In UTC not within the years that four digits hold, so that no answer could name it.
        case outOfYears

        /// Continues a sentence that starts with the text's name.
        package var sentence: String {
            switch self {
            case .syntax: "is not of the form 2026-11-21T18:00:00Z"
            case .noOffset: "has no offset from UTC (Z or +01:00)"
            case .outOfRange: "names a day, a time or an offset that does not exist"
            case .leapSecond: "names a leap second, which cannot be represented"
            case .outOfYears: "is in UTC before the year 0000 or after the year 9999"
            }
        }
    }

    /// The instant that a text names.
    package static func parse(_ text: String) throws(ParseError) -> Instant {
        try self.parse(Array(text.utf8))
    }

    /// The instant that UTF-8 bytes name.
    package static func parse(_ bytes: [UInt8]) throws(ParseError) -> Instant {
        // Longer than nine digits of fraction and an offset is not worth looking at.
        guard bytes.count >= 19, bytes.count <= 35 else { throw .syntax }
        var cursor = Cursor(bytes: bytes)
        let year = try cursor.number(digits: 4)
        try cursor.expect("-")
        let month = try cursor.number(digits: 2)
        try cursor.expect("-")
        let day = try cursor.number(digits: 2)
        try cursor.expect("T", or: "t")
        let hour = try cursor.number(digits: 2)
        try cursor.expect(":")
        let minute = try cursor.number(digits: 2)
        try cursor.expect(":")
        let second = try cursor.number(digits: 2)
        let milliseconds = try cursor.fraction()
        let offset = try cursor.offset()
        guard cursor.isAtEnd else { throw .syntax }
        guard (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year), hour <= 23, minute <= 59 else {
            throw .outOfRange
        }
        guard second != 60 else { throw .leapSecond }
        guard second <= 59 else { throw .outOfRange }
        let minutes = (Self.daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute - offset
        let seconds = minutes * 60 + second
        guard Self.secondsWithText.contains(seconds) else { throw .outOfYears }
        return Instant(milliseconds: seconds * 1000 + milliseconds)
    }

    /// From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    private static let secondsWithText: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// The text of an instant in UTC, or of the first or last one that has a text.
    package static func nearestText(to instant: Instant) -> String {
        let range = Self.secondsWithText
        let first = Instant(seconds: range.lowerBound)
        let last = Instant(milliseconds: range.upperBound * 1000 + 999)
        return Self.text(of: min(max(instant, first), last)) ?? ""
    }

    /// The text of an instant in UTC, with milliseconds if there are any; nil outside the years 0 to 9999.
    package static func text(of instant: Instant) -> String? {
        let seconds = instant.seconds
        guard Self.secondsWithText.contains(seconds) else { return nil }
        let milliseconds = (instant.milliseconds % 1000 + 1000) % 1000
        let day = (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400
        let time = seconds - day * 86_400
        // From the average length of a year, at most one off in either direction.
        var year = 1970 + day * 400 / 146_097
        while Self.daysSinceEpoch(year, 1, 1) > day { year -= 1 }
        while Self.daysSinceEpoch(year + 1, 1, 1) <= day { year += 1 }
        var month: Int64 = 1
        var rest = day - Self.daysSinceEpoch(year, 1, 1)
        while rest >= Self.days(in: month, of: year) {
            rest -= Self.days(in: month, of: year)
            month += 1
        }
        let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(rest + 1, 2))"
        let clock = [time / 3600, time / 60 % 60, time % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(clock)\(milliseconds == 0 ? "" : "." + Self.padded(milliseconds, 3))Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func isLeap(_ year: Int64) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: Self.isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 to a day of the proleptic Gregorian calendar.
    private static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let before = year - 1
        // Floor division: the years of RFC 3339 start with 0, for which `before` is -1.
        let leaps = Self.floorDivide(before, 4) - Self.floorDivide(before, 100) + Self.floorDivide(before, 400)
        var days = before * 365 + leaps - 719_162
        for earlier in 1..<month { days += Self.days(in: earlier, of: year) }
        return days + day - 1
    }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }
}

/// Reads a text from left to right.
private struct Cursor {
    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { self.index == self.bytes.count }

    private mutating func digit() -> Int64? {
        guard self.index < self.bytes.count, case 0x30...0x39 = self.bytes[self.index] else { return nil }
        self.index += 1
        return Int64(self.bytes[self.index - 1] - 0x30)
    }

    mutating func number(digits: Int) throws(RFC3339.ParseError) -> Int64 {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = self.digit() else { throw .syntax }
            number = number * 10 + digit
        }
        return number
    }

    mutating func expect(_ first: Unicode.Scalar, or second: Unicode.Scalar? = nil) throws(RFC3339.ParseError) {
        guard self.index < self.bytes.count else { throw .syntax }
        let scalar = Unicode.Scalar(self.bytes[self.index])
        guard scalar == first || scalar == second else { throw .syntax }
        self.index += 1
    }

    /// Milliseconds of the fraction, 0 if there is none.
    mutating func fraction() throws(RFC3339.ParseError) -> Int64 {
        guard self.index < self.bytes.count, self.bytes[self.index] == UInt8(ascii: ".") else { return 0 }
        self.index += 1
        var milliseconds: Int64 = 0
        var weight: Int64 = 100
        var count = 0
        while let digit = self.digit() {
            milliseconds += digit * weight
            weight /= 10
            count += 1
        }
        guard (1...9).contains(count) else { throw .syntax }
        return milliseconds
    }

    /// Minutes east of UTC.
    mutating func offset() throws(RFC3339.ParseError) -> Int64 {
        guard self.index < self.bytes.count else { throw .noOffset }
        let sign = self.bytes[self.index]
        self.index += 1
        switch sign {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): return 0
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            let hours = try self.number(digits: 2)
            try self.expect(":")
            let minutes = try self.number(digits: 2)
            guard hours <= 23, minutes <= 59 else { throw .outOfRange }
            return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
        default: throw .syntax
        }
    }
}
