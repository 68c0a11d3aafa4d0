package import Journaling
package import WidgetModel

/// An event that charts mark, since it is in no number.
package struct GatewayMark: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// The gateway was started.
        case start = 1
        /// The configuration was read again.
        case configuration
        /// Something began to fail.
        case outage

        package var name: String { "\(self)" }
    }

    package let at: Instant
    package let kind: Kind
    /// A sentence without its full stop.
    package let text: String
    /// Of a start: when the gateway was there last; nil if that is not known.
    package let awaySince: Instant?

    package init(at: Instant, kind: Kind, text: String, awaySince: Instant? = nil) {
        self.at = at
        self.kind = kind
        self.text = text
        self.awaySince = awaySince
    }
}

/// The newest marks of each kind, as far as charts reach. Kinds do not displace each other: many reloads leave the outages.
package struct GatewayMarks: Sendable {
    /// How many of each kind are kept.
    package static let marksMax = 250
    /// For how long they are.
    package static let ageMax = Interval.days(30)
    /// The version of archived bytes, which no sample has.
    private static let version: UInt8 = 2

    /// With the number of each among those of its kind, in their order.
    private var kept: [GatewayMark.Kind: [(number: UInt64, mark: GatewayMark)]] = [:]
    private var next: [GatewayMark.Kind: UInt64] = [:]

    package init() {}

    /// Adds a mark behind all others of its kind.
    ///
    /// - Returns: The record for the archive. It takes the place of the oldest mark of its kind once there are too many.
    package mutating func add(_ mark: GatewayMark) -> ArchivedRecord {
        let number = self.next[mark.kind, default: 0]
        self.next[mark.kind] = number + 1
        self.kept[mark.kind, default: []].append((number, mark))
        if self.kept[mark.kind, default: []].count > Self.marksMax { self.kept[mark.kind]?.removeFirst() }
        var writer = ByteWriter(reserving: 64)
        writer.write(byte: Self.version)
        writer.write(byte: mark.kind.rawValue)
        writer.write(varint: number)
        writer.write(mark.at)
        writer.write(mark.text)
        writer.write(mark.awaySince) { $0.write($1) }
        let places = UInt64(Self.marksMax)
        return ArchivedRecord(
            number: UInt64(mark.kind.rawValue - 1) * places + number % places + 1,
            bytes: writer.bytes
        )
    }

    /// The marks after an instant, the oldest first.
    ///
    /// - Parameter now: The present: older ones than ``ageMax`` are gone.
    package func all(after instant: Instant? = nil, now: Instant) -> [GatewayMark] {
        self.kept.values.joined().map(\.mark)
            .filter { mark in now - mark.at <= Self.ageMax && instant.map { mark.at > $0 } ?? true }
            .sorted { ($0.at.milliseconds, $0.kind.rawValue) < ($1.at.milliseconds, $1.kind.rawValue) }
    }

    /// Takes the bytes that an earlier process has archived.
    ///
    /// - Parameter now: The present: newer marks are those of a clock that was set back.
    /// - Throws: If they are of no mark, or damaged.
    package mutating func restore(_ bytes: [UInt8], now: Instant) throws(ByteError) {
        var reader = ByteReader(bytes)
        guard try reader.readByte() == Self.version else { throw .invalid(offset: 0) }
        guard let kind = GatewayMark.Kind(rawValue: try reader.readByte()) else { throw .invalid(offset: 1) }
        let number = min(try reader.readVarint(), UInt64(Int64.max))
        let at = try reader.readInstant()
        let text = try reader.readString()
        let awaySince = try reader.readOptional { (reader) throws(ByteError) in try reader.readInstant() }
        self.next[kind] = max(self.next[kind, default: 0], number + 1)
        guard at <= now, now - at <= Self.ageMax else { return }
        let mark = GatewayMark(at: at, kind: kind, text: text, awaySince: awaySince)
        let index = self.kept[kind, default: []].firstIndex { $0.number > number } ?? self.kept[kind]?.count ?? 0
        self.kept[kind, default: []].insert((number, mark), at: index)
    }
}
