/// Instants that were recorded somewhere, to be played again.
///
/// A text file: on each line the seconds since the first event of the recording, with at most nine decimals, never falling.
/// Empty lines and the text behind a `#` are left out; so is the text behind a comma, so that a CSV file whose first
/// column is a time will do.
package struct ArrivalTrace: Hashable, Sendable {
    /// Nanoseconds, never falling.
    package let instants: [Int64]

    /// More lines are refused.
    package static let linesMax = 50_000_000

    package struct ReadError: Error, Hashable, Sendable, CustomStringConvertible {
        /// From 1.
        package let line: Int
        package let sentence: String

        package var description: String { "line \(self.line) \(self.sentence)" }
    }

    /// - Parameters:
    ///   - text: The file.
    ///   - speed: How many times as fast it is played.
    package init(reading text: String, speed: Double = 1) throws(ReadError) {
        var instants: [Int64] = []
        var number = 0
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            var rest = line.prefix { $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: ",") }
            while let last = rest.last, last == 0x20 || last == 0x0D || last == 0x09 { rest = rest.dropLast() }
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
            guard !rest.isEmpty else { continue }
            guard let exact = Self.nanoseconds(rest) else {
                throw ReadError(line: number, sentence: "must begin with seconds such as 12.345")
            }
            let instant = speed == 1 ? exact : exact.stretched(by: 1 / speed)
            guard instant >= instants.last ?? 0 else {
                throw ReadError(line: number, sentence: "is earlier than the line before; sort the file by time")
            }
            guard instants.count < Self.linesMax else {
                throw ReadError(line: number, sentence: "is one too many; a trace has at most \(Self.linesMax)")
            }
            instants.append(instant)
        }
        guard !instants.isEmpty else {
            throw ReadError(line: max(1, number), sentence: "ends the trace, which has no instant")
        }
        self.instants = instants
    }

    /// Digits, and perhaps a point and up to nine digits.
    private static func nanoseconds(_ text: some Sequence<UInt8>) -> Int64? {
        var value: Int64 = 0
        var whole = 0
        var decimals: Int?
        for byte in text {
            if byte == UInt8(ascii: "."), decimals == nil {
                decimals = 0
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            if let count = decimals {
                guard count < 9 else { return nil }
                decimals = count + 1
            } else {
                whole += 1
            }
            guard whole <= 9 else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        guard whole > 0, decimals != 0 else { return nil }
        for _ in (decimals ?? 0)..<9 { value *= 10 }
        return value
    }
}
