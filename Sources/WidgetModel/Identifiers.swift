/// The bytes of an APNs device token or a WidgetKit push token.
///
/// Opaque: Apple says not to assume a size. Text form is hex, lower case, compared without case. The description is
/// shortened, because every holder of a token can push to it.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The token that `hex` spells, or nil if it is empty, of odd length or not hex.
    package init?(hex: String) {
        guard let bytes = DeviceToken.decode(hex: hex.utf8.span) else { return nil }
        self.bytes = bytes
    }

    /// The bytes that hex digits spell, or nil if there are none, an odd number of them, or other characters.
    package static func decode(hex: Span<UInt8>) -> [UInt8]? {
        hex.isEmpty ? nil : Base16.bytes(of: hex)
    }

    /// The whole token in lower-case hex. For the wire, never for a log.
    package var hex: String { Base16.text(of: self.bytes) }

    /// The first eight hex digits and an ellipsis: enough to find it again, too little to push with.
    package var description: String { "\(self.hex.prefix(8))…" }
}

/// The bundle id of an app, as in `com.example.scores`.
package struct BundleID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { self.rawValue }
    package static func < (left: BundleID, right: BundleID) -> Bool { left.rawValue < right.rawValue }
}

/// The ten-character id of a developer team, the `iss` of its provider tokens.
package struct TeamID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { self.rawValue }
    package static func < (left: TeamID, right: TeamID) -> Bool { left.rawValue < right.rawValue }
}

/// The id of a provider key, the `kid` of the tokens it signs.
package struct KeyID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { self.rawValue }
    package static func < (left: KeyID, right: KeyID) -> Bool { left.rawValue < right.rawValue }
}

/// The name of a kind of widget, WidgetKit's `kind`.
package struct WidgetKind: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { self.rawValue }
    package static func < (left: WidgetKind, right: WidgetKind) -> Bool { left.rawValue < right.rawValue }
}

/// The stable id of one app install, unique within its app: `$host` in patterns. Two apps may use the same.
package struct HostID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { self.rawValue }
    package static func < (left: HostID, right: HostID) -> Bool { left.rawValue < right.rawValue }

    /// The host of a token whose registration names none: a digest, so that the token stays secret.
    package init(derivedFrom token: DeviceToken) {
        var hash = StableHash()
        hash.combine(token.bytes.span)
        let first = hash.value
        hash.combine(first)
        self.rawValue = "h-" + Base16.text(of: first) + Base16.text(of: hash.value)
    }
}

/// The id of a widget instance, unique within its host.
package struct InstanceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { self.rawValue }
    package static func < (left: InstanceID, right: InstanceID) -> Bool { left.rawValue < right.rawValue }
}

/// The key of a host: its app and its id there. No app can take, or learn of, another app's.
///
/// In records, tables and hashes it is the bytes of ``text``: the app, a zero byte, the id.
package struct HostKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let app: BundleID
    package let id: HostID

    package init(app: BundleID, id: HostID) {
        self.app = app
        self.id = id
    }

    /// The key that ``text`` is of, or nil if there is no zero byte in it.
    package init?(text: String) {
        guard let separator = text.utf8.firstIndex(of: 0) else { return nil }
        self.init(
            app: BundleID(String(text[..<separator])),
            id: HostID(String(text[text.utf8.index(after: separator)...]))
        )
    }

    /// The app, a zero byte, the id. Neither of them contains one.
    package var text: String { "\(self.app.rawValue)\0\(self.id.rawValue)" }

    package func encode(into writer: inout ByteWriter) { writer.write(self.text) }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        guard let host = HostKey(text: try reader.readString()) else { throw .invalid(offset: start) }
        self = host
    }

    /// `<app>/<host>`.
    package var description: String { "\(self.app)/\(self.id)" }
    package static func < (left: HostKey, right: HostKey) -> Bool { (left.app, left.id) < (right.app, right.id) }
}

/// Where an instance is: `<app>/<host>:<instance>` in text.
package struct InstanceAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let host: HostKey
    package let instance: InstanceID

    package init(host: HostKey, instance: InstanceID) {
        self.host = host
        self.instance = instance
    }

    /// Splits at the first slash (an app contains none) and the first colon after it (a host id contains none), or nil
    /// if a part is missing.
    ///
    /// - Parameters:
    ///   - text: `<app>/<host>:<instance>`, or `<host>:<instance>` if the app is known.
    ///   - app: The known app, nil if none is.
    package init?(_ text: String, of app: BundleID? = nil) {
        guard let (address, instance) = Self.parts(text), let host = HostKey(address: address, of: app) else {
            return nil
        }
        self.init(host: host, instance: instance)
    }

    /// The text before the first colon, and the instance behind it; nil if one of them is missing.
    ///
    /// By bytes: a colon and an accent behind it are one character.
    package static func parts(_ text: String) -> (host: Substring, instance: InstanceID)? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let (host, instance) = (text[..<colon], text[text.utf8.index(after: colon)...])
        return host.isEmpty || instance.isEmpty ? nil : (host, InstanceID(String(instance)))
    }

    package func encode(into writer: inout ByteWriter) {
        self.host.encode(into: &writer)
        writer.write(self.instance.rawValue)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.host = try HostKey(from: &reader)
        self.instance = InstanceID(try reader.readString())
    }

    package var app: BundleID { self.host.app }
    package var description: String { "\(self.host):\(self.instance)" }
    package static func < (left: InstanceAddress, right: InstanceAddress) -> Bool {
        (left.host, left.instance) < (right.host, right.instance)
    }
}

extension HostKey {
    /// The key that `<app>/<host>` spells, or `<host>` if the app is known; nil if a part is missing, or if the app is
    /// another one.
    package init?(address text: Substring, of app: BundleID? = nil) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.last, !host.isEmpty, let first = parts.first, !first.isEmpty else { return nil }
        let named = parts.count == 2 ? BundleID(String(first)) : nil
        guard let known = named ?? app, app == nil || app == known else { return nil }
        self.init(app: known, id: HostID(String(host)))
    }
}

/// A canonical UUID: the id of a push (`apns-id`), as 16 bytes.
package struct PushID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The UUID of version 4 (RFC 9562) that has these random bits, but for the six that say the version.
    package init(version4 high: UInt64, _ low: UInt64) {
        self.init(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        )
    }

    /// The id that 36 characters 8-4-4-4-12 spell, in either case, or nil.
    package init?(_ text: Span<UInt8>) {
        guard text.count == 36 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for index in 0..<36 {
            let byte = text[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == 0x2D else { return nil }
                continue
            }
            guard let digit = Base16.digit(byte) else { return nil }
            if digits < 16 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
            digits += 1
        }
        self.init(high: words.0, low: words.1)
    }

    package init?(_ text: String) {
        guard let id = PushID(text.utf8.span) else { return nil }
        self = id
    }

    /// Appends the 36 characters of the lower-case text form.
    package func append(to text: inout [UInt8]) {
        let words = (
            Self.digits(UInt32(truncatingIfNeeded: self.high >> 32)),
            Self.digits(UInt32(truncatingIfNeeded: self.high)),
            Self.digits(UInt32(truncatingIfNeeded: self.low >> 32)), Self.digits(UInt32(truncatingIfNeeded: self.low))
        )
        text.append(addingCapacity: 36) { characters in
            Self.append(words.0, 8, to: &characters)
            characters.append(0x2D)
            Self.append(words.1, 4, to: &characters)
            characters.append(0x2D)
            Self.append(words.1 >> 32, 4, to: &characters)
            characters.append(0x2D)
            Self.append(words.2, 4, to: &characters)
            characters.append(0x2D)
            Self.append(words.2 >> 32, 4, to: &characters)
            Self.append(words.3, 8, to: &characters)
        }
    }

    @inline(__always)
    private static func append(_ characters: UInt64, _ count: Int, to text: inout OutputSpan<UInt8>) {
        for index in 0..<count { text.append(UInt8(truncatingIfNeeded: characters >> UInt64(8 * index))) }
    }

    /// The eight lower-case hex digits of a number, the first one in the lowest byte: all eight at once, since an
    /// answer carries an id, and the digits are most of its cost.
    @inline(__always)
    private static func digits(_ number: UInt32) -> UInt64 {
        var spread = UInt64(number.byteSwapped)
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        let nibbles = (spread >> 4 & 0x000F_000F_000F_000F) | (spread & 0x000F_000F_000F_000F) << 8
        // Letters are 39 characters after where the digits would go on.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }

    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        self.append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

/// The number of a partition, `0..<partitions`.
package struct PartitionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt16
    package init(_ rawValue: UInt16) { self.rawValue = rawValue }
    package var description: String { String(self.rawValue) }
    package static func < (left: PartitionID, right: PartitionID) -> Bool { left.rawValue < right.rawValue }

    /// The partition that owns a host. Part of the on-disk format.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - partitions: How many partitions the log was created with; at least 1.
    package init(of host: HostKey, among partitions: Int) {
        self.init(hash: StableHash.of(host), among: partitions)
    }

    /// The partition for the data of an app as a whole: its channels. Part of the on-disk format.
    package init(homeOf app: BundleID, among partitions: Int) {
        self.init(hash: StableHash.of(app.rawValue), among: partitions)
    }

    private init(hash: UInt64, among partitions: Int) {
        self.rawValue = UInt16(StableHash.reduce(hash, below: UInt64(partitions)))
    }
}

/// A place in one partition's log. Positions of different partitions do not compare.
package struct LogPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package var description: String { String(self.rawValue) }
    package static func < (left: LogPosition, right: LogPosition) -> Bool { left.rawValue < right.rawValue }

    /// Before the first entry; the first entry has position 1.
    package static let start = LogPosition(0)
    /// The position of the entry after this one: positions are contiguous. A log never reaches the last possible one; a
    /// position from a peer may be it.
    package var next: LogPosition { LogPosition(max(self.rawValue, self.rawValue &+ 1)) }
}
