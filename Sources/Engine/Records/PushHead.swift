import WidgetModel

/// A push record as places in the log's bytes, so that a push is applied without a String or an array of its own.
///
/// Reads everything but the pattern and the attributes, which follow at the reader's offset if ``Flags/pattern`` and
/// ``Flags/attributes`` are set.
struct PushHead {
    /// The optional fields that a push has: one byte of the record, or two with the last three of them.
    struct Flags: OptionSet {
        let rawValue: UInt16
        static let priority = Flags(rawValue: 1)
        static let expiration = Flags(rawValue: 2)
        static let collapseID = Flags(rawValue: 4)
        static let key = Flags(rawValue: 8)
        static let digest = Flags(rawValue: 16)
        static let kind = Flags(rawValue: 32)
        static let pattern = Flags(rawValue: 64)
        static let attributes = Flags(rawValue: 128)
        static let matchedMax = Flags(rawValue: 256)
        static let notBefore = Flags(rawValue: 512)
        static let all = Flags(rawValue: 1023)
    }

    /// Where in a record, its tag included, the fields are that every push has, if its flags are one byte.
    enum Offset {
        static let flags = 1
        static let target = 2
        static let id = 3
        /// Behind the id and the content hash: the team's length, its bytes, the target's length, its bytes.
        static let team = 27
    }

    enum Target: UInt8 {
        case host = 0
        case instance = 1
        case app = 2
    }

    let flags: Flags
    let target: Target
    let id: PushID
    let contentHash: UInt64
    let team: Range<Int>
    /// The ``HostKey/text`` of the host's key, or the app's bundle id.
    let targetName: Range<Int>
    private(set) var instance = 0..<0
    private(set) var priority: Priority?
    private(set) var expiration: Int64 = 0
    private(set) var collapseID = 0..<0
    private(set) var key = 0..<0
    private(set) var notBefore = Instant.epoch
    private(set) var digest = 0..<0
    private(set) var kind = 0..<0
    private(set) var matchedMax: Int?

    init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        let flags = try reader.readVarint()
        guard flags <= UInt64(Flags.all.rawValue) else { throw .invalid(offset: start) }
        self.flags = Flags(rawValue: UInt16(flags))
        let targetOffset = reader.offset
        guard let target = Target(rawValue: try reader.readByte()) else { throw .invalid(offset: targetOffset) }
        self.target = target
        let high = try reader.readFixed64()
        self.id = PushID(high: high, low: try reader.readFixed64())
        self.contentHash = try reader.readFixed64()
        self.team = try reader.readByteRange()
        self.targetName = try reader.readByteRange()
        if target == .instance { self.instance = try reader.readByteRange() }
        // A plain push has none of the rest.
        if self.flags.rawValue == 0 { return }
        if self.flags.contains(.priority) {
            let offset = reader.offset
            guard let priority = Priority(rawValue: try reader.readByte()) else { throw .invalid(offset: offset) }
            self.priority = priority
        }
        if self.flags.contains(.expiration) { self.expiration = try reader.readSigned() }
        if self.flags.contains(.collapseID) {
            let offset = reader.offset
            self.collapseID = try reader.readByteRange()
            guard self.collapseID.count <= CollapseID.bytesMax else { throw .invalid(offset: offset) }
        }
        if self.flags.contains(.key) { self.key = try reader.readByteRange() }
        if self.flags.contains(.notBefore) { self.notBefore = try reader.readInstant() }
        if self.flags.contains(.digest) { self.digest = try reader.readByteRange() }
        if self.flags.contains(.kind) { self.kind = try reader.readByteRange() }
        if self.flags.contains(.matchedMax) { self.matchedMax = Int(clamping: try reader.readVarint()) }
    }
}

extension ByteReader {
    /// The text at a place that ``readByteRange()`` gave.
    func string(in range: Range<Int>) throws(ByteError) -> String {
        guard let string = String(utf8: self.bytes.span.extracting(range)) else {
            throw .invalid(offset: range.lowerBound)
        }
        return string
    }
}
