import Foundation

/// The seeds of a random test.
package enum Seeds {
    /// So many seeds from the first on, or `FRESHET_SEEDS` times as many: a few for every day, a hundred thousand for a
    /// long night.
    package static func from(_ first: UInt64, count: UInt64) -> Range<UInt64> {
        let text = ProcessInfo.processInfo.environment["FRESHET_SEEDS"]
        return first..<first + count * max(1, text.flatMap { UInt64($0) } ?? 1)
    }
}
