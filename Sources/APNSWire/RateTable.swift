package import WidgetModel

/// The rates of very many keys in a fixed amount of memory: one limit, an arrival time for each device token.
///
/// A hash of the key picks a set of ``ways`` entries. If all are taken, the one nearest to idle makes room, and its
/// key's rate is forgotten: so the table errs toward admitting, never toward refusing. Nothing is lost as long as an
/// entry that makes room has become idle by itself (``forgotten`` counts the others). Two keys with one 64-bit hash
/// under the secret seed would share an entry. O(bytes / 8), no allocation.
package struct RateTable: Sendable {
    /// Entries that a key may be in.
    package static let ways = 4

    package let limit: RateLimit
    /// Entries whose key had not become idle when they made room.
    package private(set) var forgotten = 0
    private let hash: ByteHash
    private let setMask: Int
    /// Hashes of the keys, zero for a free entry.
    private var tags: [UInt64]
    private var arrivals: [RateLimit.ArrivalTime]

    /// - Parameters:
    ///   - limit: The limit of every key.
    ///   - entries: The number of remembered keys; rounded up to a power of two, at least ``ways``. 16 bytes each.
    ///   - seed: A secret random number, so that no peer can choose keys that push others out.
    package init(limit: RateLimit, entries: Int, seed: UInt64) {
        precondition(entries >= 1 && entries <= 1 << 30)
        var sets = 1
        while sets * Self.ways < entries { sets *= 2 }
        self.limit = limit
        self.hash = ByteHash(seed: seed)
        self.setMask = sets - 1
        self.tags = Array(repeating: 0, count: sets * Self.ways)
        self.arrivals = Array(repeating: RateLimit.idle, count: sets * Self.ways)
    }

    /// The hash that a token's hex digits have in either case, for ``admit(_:at:)``.
    package func tag(ofHex digits: Span<UInt8>) -> UInt64 { self.hash.hash(hex: digits) | 1 }

    /// Judges one that comes for a key; nil if it may come, else how many nanoseconds too early it is.
    ///
    /// - Parameter gateways: How many share the limit.
    package mutating func admit(_ tag: UInt64, at now: Instant, of gateways: Int = 1) -> Int64? {
        let entry = self.entry(of: tag, at: now)
        switch self.limit.share(of: gateways).judge(self.arrivals[entry], at: now) {
        case .admitted(let next):
            self.arrivals[entry] = next
            return nil
        case .refused(let wait): return wait
        }
    }

    /// Takes back that one came, if the key is still remembered.
    package mutating func giveBack(_ tag: UInt64, of gateways: Int = 1) {
        let start = self.start(of: tag)
        for entry in start..<(start + Self.ways) where self.tags[entry] == tag {
            self.arrivals[entry] = self.limit.share(of: gateways).givingBack(self.arrivals[entry])
        }
    }

    private func start(of tag: UInt64) -> Int {
        // The low bit is always set; the high ones pick the set.
        (Int(truncatingIfNeeded: tag >> 24) & self.setMask) * Self.ways
    }

    /// The key's entry, or one that it takes.
    private mutating func entry(of tag: UInt64, at now: Instant) -> Int {
        let start = self.start(of: tag)
        var oldest = start
        for entry in start..<(start + Self.ways) {
            if self.tags[entry] == tag { return entry }
            if self.arrivals[entry] < self.arrivals[oldest] { oldest = entry }
        }
        if self.arrivals[oldest] > RateLimit.arrivalTime(now) { self.forgotten += 1 }
        self.tags[oldest] = tag
        self.arrivals[oldest] = RateLimit.idle
        return oldest
    }
}
