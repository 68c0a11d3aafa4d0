package import WidgetModel

/// A set of push types.
package struct PushTypeSet: Hashable, Sendable {
    private var bits: UInt16 = 0

    /// The types that the gateway handles itself.
    package static let widgetKit = PushTypeSet([.widgets, .controls])

    package init(_ types: [PushType] = []) {
        for type in types { self.insert(type) }
    }

    package func contains(_ type: PushType) -> Bool { self.bits & Self.bit(type) != 0 }
    package mutating func insert(_ type: PushType) { self.bits |= Self.bit(type) }
    package mutating func formUnion(_ other: PushTypeSet) { self.bits |= other.bits }

    /// The only member, or nil if there are none or several.
    var single: PushType? {
        guard self.bits.nonzeroBitCount == 1 else { return nil }
        return PushType(rawValue: UInt8(self.bits.trailingZeroBitCount))
    }

    private static func bit(_ type: PushType) -> UInt16 { 1 << UInt16(type.rawValue) }
}
