/// The number of an operation as an `apns-id`, so that an answer or event names its operation.
///
/// The first 16 digits are the run, the last 12 the number: a repeat within one run is one id, two runs share none.
package enum NumberedPushID {
    package static let length = 36
    private static let digits = Array("0123456789abcdef".utf8)

    /// `3f1c9e52-7a60-4b1d-8000-00000000002a`.
    package static func text(_ number: Int64, run: UInt64) -> [UInt8] {
        var text = Array(repeating: UInt8(ascii: "-"), count: self.length)
        self.write(number, run: run, into: &text)
        return text
    }

    /// The same into a text that is there already.
    package static func write(_ number: Int64, run: UInt64, into text: inout [UInt8]) {
        self.write(run, digits: 0..<16, into: &text)
        self.write(0x8000, digits: 16..<20, into: &text)
        self.write(UInt64(truncatingIfNeeded: number), digits: 20..<32, into: &text)
    }

    private static func write(_ value: UInt64, digits range: Range<Int>, into text: inout [UInt8]) {
        var value = value
        for digit in range.reversed() {
            text[self.place(digit)] = self.digits[Int(value & 15)]
            value >>= 4
        }
    }

    /// Where a digit of 32 lies in a text with four dashes.
    private static func place(_ digit: Int) -> Int {
        digit < 8 ? digit : digit < 12 ? digit + 1 : digit < 16 ? digit + 2 : digit < 20 ? digit + 3 : digit + 4
    }

    /// The number in an id of this run, nil for any other text.
    package static func number(in text: Span<UInt8>, run: UInt64) -> Int64? {
        guard text.count == self.length else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for digit in 0..<32 {
            guard let value = self.value(of: text[self.place(digit)]) else { return nil }
            if digit < 16 { high = high << 4 | value } else { low = low << 4 | value }
        }
        guard high == run, low >> 48 == 0x8000 else { return nil }
        return Int64(low & 0xFFFF_FFFF_FFFF)
    }

    /// In either case: some servers answer in capitals.
    private static func value(of digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(digit - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
