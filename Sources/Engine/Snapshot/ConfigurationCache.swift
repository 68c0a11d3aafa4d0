import WidgetModel

/// Configurations that were read before, by their bytes. Many instances have equal configurations: the cache finds an
/// equal one, so that each is read once.
struct ConfigurationCache: Sendable {
    private struct Entry: Sendable {
        let bytes: [UInt8]
        let configuration: Configuration
        /// Of all that were ever kept.
        let number: Int
    }

    /// Where a configuration is kept, and as which of all that were ever kept there.
    struct Place: Hashable {
        let place: Int
        let number: Int
    }

    /// A power of two: so many that those of one app fit, so few that they stay in the processor's cache.
    static let size = 4096
    /// After so many look-ups it is seen whether there is any use in it.
    private static let trial = 16_384

    private var entries: [Entry?] = []
    private var lookups = 0
    private var hits = 0
    private var isOff = false
    /// Where the one is kept that was read last, if it is.
    private(set) var latest: Place?

    init() {}

    /// Reads the configuration that stands at the reader's place.
    mutating func read(_ reader: inout ByteReader) throws(ByteFault) -> Configuration {
        self.latest = nil
        guard !self.isOff else { return try Configuration(from: &reader) }
        let start = reader.offset
        var ahead = reader
        try Self.skip(&ahead)
        let all = reader.bytes
        let bytes = all.span.extracting(start..<ahead.offset)
        let place = Int(truncatingIfNeeded: ReplayHash.of(bytes, seed: 0)) & (Self.size - 1)
        if self.entries.isEmpty { self.entries = Array(repeating: nil, count: Self.size) }
        self.lookups += 1
        if let entry = self.entries[place], Self.equal(entry.bytes.span, bytes) {
            self.hits += 1
            self.latest = Place(place: place, number: entry.number)
            reader = ahead
            return entry.configuration
        }
        let configuration = try Configuration(from: &reader)
        self.latest = Place(place: place, number: self.lookups)
        self.entries[place] = Entry(bytes: Array(copying: bytes), configuration: configuration, number: self.lookups)
        if self.lookups == Self.trial, self.hits < Self.trial / 2 {
            self.isOff = true
            self.entries = []
        }
        return configuration
    }

    private static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Goes to the end of a configuration without reading it: its values are looked at the first time it is met.
    private static func skip(_ reader: inout ByteReader) throws(ByteFault) {
        for _ in 0..<(try reader.readCount()) {
            _ = try reader.readByteRange()
            try ParameterValue.skip(&reader)
        }
    }
}
