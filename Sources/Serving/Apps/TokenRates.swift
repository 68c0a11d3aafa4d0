package import APNSWire
import Synchronization
package import WidgetModel

/// The rates of all device tokens, for all event loops: a ``RateTable`` in parts, each behind a lock of its own that is
/// held for a look-up.
package final class TokenRates: Sendable {
    private final class Part: Sendable {
        let table: Mutex<RateTable>

        init(_ table: RateTable) {
            self.table = Mutex(table)
        }
    }

    private static let partsMax = 16

    /// The limit of every token.
    package let limit: RateLimit
    /// How many tokens are remembered over all.
    package let entries: Int
    private let parts: [Part]
    /// Without entries: makes the tags.
    private let hasher: RateTable

    /// - Parameters:
    ///   - limit: The limit of every token.
    ///   - entries: How many tokens are remembered over all.
    ///   - seed: A secret random number.
    package init(limit: RateLimit, entries: Int, seed: UInt64) {
        self.limit = limit
        self.entries = entries
        let count = entries >= Self.partsMax * RateTable.ways ? Self.partsMax : 1
        self.parts = (0..<count).map { _ in Part(RateTable(limit: limit, entries: entries / count, seed: seed)) }
        self.hasher = RateTable(limit: limit, entries: 1, seed: seed)
    }

    /// The number that stands for a token in its hex digits, in either case.
    package func tag(ofHex digits: Span<UInt8>) -> UInt64 { self.hasher.tag(ofHex: digits) }

    /// nil if a push to a token may come now, else how many nanoseconds too early it is.
    ///
    /// - Parameter gateways: How many share the limit.
    package func admit(_ tag: UInt64, at now: Instant, of gateways: Int = 1) -> Int64? {
        self.part(of: tag).table.withLock { $0.admit(tag, at: now, of: gateways) }
    }

    /// Takes back that a push came, since something else refused it.
    package func giveBack(_ tag: UInt64, of gateways: Int) {
        self.part(of: tag).table.withLock { $0.giveBack(tag, of: gateways) }
    }

    /// Tokens that were forgotten before their rate had recovered: where it grows, the table is too small.
    package var forgotten: Int { self.parts.reduce(0) { $0 + $1.table.withLock { $0.forgotten } } }

    private func part(of tag: UInt64) -> Part {
        // The highest bits, which do not pick the set within a part.
        self.parts[Int(truncatingIfNeeded: tag >> 60) & (self.parts.count - 1)]
    }
}
