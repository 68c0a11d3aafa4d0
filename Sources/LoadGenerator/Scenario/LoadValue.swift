/// How values are written in the files of loads, beside those of all scenarios.
package enum LoadValue {
    private static let units: [(name: String, nanoseconds: Double)] = [
        ("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ]

    /// The longest that anything may be, in nanoseconds: thirty years, of which several can be added.
    static let longest: Int64 = 1_000_000_000_000_000_000

    /// The nanoseconds of `250us`, `1.5ms`, `20s`, `5m`.
    package static func nanoseconds(_ text: String) -> Int64? {
        let number = text.prefix { $0.isNumber || $0 == "." }
        guard let unit = Self.units.first(where: { $0.name == text.dropFirst(number.count) }),
            let value = Double(number), value.isFinite, value >= 0
        else { return nil }
        let nanoseconds = (value * unit.nanoseconds).rounded()
        return nanoseconds <= Double(Self.longest) ? Int64(nanoseconds) : nil
    }

    /// `20 s`, `1.5 ms`, `250 us`.
    package static func text(_ nanoseconds: Int64) -> String {
        if nanoseconds == 0 { return "0 s" }
        let unit = Self.units.last { Double(nanoseconds) >= $0.nanoseconds } ?? Self.units[0]
        let hundredths = Int64((Double(nanoseconds) / unit.nanoseconds * 100).rounded())
        let whole = "\(hundredths / 100)"
        if hundredths % 100 == 0 { return "\(whole) \(unit.name)" }
        let rest = hundredths % 100
        return "\(whole).\(rest / 10)\(rest % 10 == 0 ? "" : "\(rest % 10)") \(unit.name)"
    }
}

extension Int64 {
    /// So many times as much, at most ``LoadValue/longest``; for lengths and counts.
    func stretched(by factor: Double) -> Int64 {
        Int64(Swift.min((Double(self) * factor).rounded(), Double(LoadValue.longest)))
    }
}
