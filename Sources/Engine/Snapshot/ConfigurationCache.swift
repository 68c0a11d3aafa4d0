import Storage
import WidgetModel

/// Configurations that were read before, by their bytes. Many instances have equal configurations: the cache finds an
/// equal one, so that each is read once.
struct ConfigurationCache: Sendable {
    private struct Entry: Sendable {
        let bytes: [UInt8]
        let configuration: Configuration
    }

    /// A power of two: so many that those of one app fit, so few that they stay in the processor's cache.
    private static let size = 4096
    /// After so many look-ups it is seen whether there is any use in it.
    private static let trial = 16_384

    private var entries: [Entry?] = []
    private var lookups = 0
    private var hits = 0
    private var isOff = false

    init() {}

    /// Reads the configuration that stands at the reader's place.
    mutating func read(_ reader: inout ByteReader) throws(ByteError) -> Configuration {
        guard !self.isOff else { return try Configuration(from: &reader) }
        let start = reader.offset
        var ahead = reader
        try Self.skip(&ahead)
        let all = reader.bytes
        let bytes = all.span.extracting(start..<ahead.offset)
        let place = Int(truncatingIfNeeded: ReplayHash.of(bytes, seed: 0)) & (Self.size - 1)
        if self.entries.isEmpty { self.entries = Array(repeating: nil, count: Self.size) }
        self.lookups += 1
        if let entry = self.entries[place], entry.bytes.span.equals(bytes) {
            self.hits += 1
            reader = ahead
            return entry.configuration
        }
        let configuration = try Configuration(from: &reader)
        self.entries[place] = Entry(bytes: Array(copying: bytes), configuration: configuration)
        if self.lookups == Self.trial, self.hits < Self.trial / 2 {
            self.isOff = true
            self.entries = []
        }
        return configuration
    }

    /// Goes to the end of a configuration without reading it: its values are looked at the first time it is met.
    private static func skip(_ reader: inout ByteReader) throws(ByteError) {
        for _ in 0..<(try reader.readCount()) {
            _ = try reader.readByteRange()
            try ParameterValue.skip(&reader)
        }
    }
}
