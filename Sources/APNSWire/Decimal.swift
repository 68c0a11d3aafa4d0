/// Unsigned decimal numbers in headers.
enum Decimal {
    /// The number that digits spell, or nil if there are none, other characters, or more than an Int64 holds.
    static func parse(_ text: Span<UInt8>) -> Int64? {
        guard !text.isEmpty, text.count <= 19 else { return nil }
        var value: Int64 = 0
        for index in text.indices {
            let digit = text[index] &- 0x30
            guard digit <= 9 else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(digit))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }
}
