package import WidgetModel

/// Numbers that are added up and written member by member.
package protocol MemberCounts: ByteCoded {
    typealias Member = any WritableKeyPath<Self, Int> & Sendable
    /// All of them, in the order in which they are written.
    static var members: [Member] { get }
    /// Zeroes.
    init()
}

extension MemberCounts {
    package static func += (left: inout Self, right: Self) {
        for member in Self.members { left[keyPath: member] += right[keyPath: member] }
    }

    package static func -= (left: inout Self, right: Self) {
        for member in Self.members { left[keyPath: member] -= right[keyPath: member] }
    }

    package func encode(into writer: inout ByteWriter) {
        for member in Self.members { self[keyPath: member].encode(into: &writer) }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.init()
        for member in Self.members { self[keyPath: member] = try Int(from: &reader) }
    }
}
