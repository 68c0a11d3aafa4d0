import Storage
import WidgetModel

extension TokenTable {
    /// The bytes of a token that lie in its row. Tokens of widgets have as many; those of longer ones lie elsewhere.
    static let bytesInRow = 32

    /// 44 bytes.
    struct Row: Sendable {
        /// The token's bytes, filled up with zeroes; all zero if there are more than fit.
        var bytes = InlineArray<32, UInt8>(repeating: 0)
        /// The host that it is bound to. Only looked at where it is bound.
        var host = HostNumber.none
        /// When it was bound to its host, or removed.
        var at = ShortInstant(.epoch)
        /// `.max` if the bytes lie elsewhere.
        var byteCount: UInt8 = 0
        var flags: Flags = []
    }

    struct Flags: OptionSet {
        let rawValue: UInt8

        static let isBound = Flags(rawValue: 1 << 0)
        static let isDevelopment = Flags(rawValue: 1 << 1)
        /// Whether it has an entry in ``TokenTable/controls``.
        static let isControl = Flags(rawValue: 1 << 2)
        /// Whether it has one in ``TokenTable/successors``.
        static let hasNext = Flags(rawValue: 1 << 3)
    }
}

extension TokenTable.Row {
    var isBound: Bool { self.flags.contains(.isBound) }
    var environment: PushEnvironment { self.flags.contains(.isDevelopment) ? .development : .production }

    init(_ token: DeviceToken) {
        let bytes = token.bytes.span
        self.byteCount = bytes.count <= TokenTable.bytesInRow ? UInt8(bytes.count) : .max
        guard self.byteCount != .max else { return }
        for index in bytes.indices { self.bytes[index] = bytes[index] }
    }

    @inline(__always)
    func isSpelled(like other: TokenTable.Row) -> Bool {
        guard self.byteCount == other.byteCount else { return false }
        let (bytes, others) = (self.bytes.span, other.bytes.span)
        for index in stride(from: 0, to: TokenTable.bytesInRow, by: 8)
        where bytes.word(at: index) != others.word(at: index) {
            return false
        }
        return true
    }
}
