/// The number of a row in one of a partition's tables: dense, given again once its row is gone, 4 bytes.
///
/// The tag says which table's, so that a host's number is not taken for an instance's. Public, since Swift 6.3 does not
/// inline declarations with package access into other targets.
@frozen public struct Number<Tag>: BitwiseCopyable, Hashable, Comparable, Sendable {
    /// The number itself; `UInt32.max` if there is none.
    public let raw: UInt32

    /// The number of a row. Precondition: below `UInt32.max`, unless it comes from a row that may say ``none``.
    @inlinable @inline(__always)
    public init(raw: UInt32) { self.raw = raw }

    /// The number of a row at a place in a table.
    @inlinable @inline(__always)
    public init(_ index: Int) { self.raw = UInt32(index) }

    /// No row's number.
    @inlinable @inline(__always)
    public static var none: Number { Number(raw: .max) }

    /// Whether this is ``none``.
    @inlinable @inline(__always)
    public var isNone: Bool { self.raw == .max }

    /// The row's place in its table. Precondition: there is a row.
    @inlinable @inline(__always)
    public var index: Int { Int(self.raw) }

    /// Whether a row comes before another.
    @inlinable @inline(__always)
    public static func < (left: Number, right: Number) -> Bool { left.raw < right.raw }
}

extension Number: Strideable {
    /// How many rows lie between two numbers.
    @inlinable @inline(__always)
    public func distance(to other: Number) -> Int { Int(other.raw) - Int(self.raw) }

    /// The number `count` rows further. Precondition: there is such a number.
    @inlinable @inline(__always)
    public func advanced(by count: Int) -> Number { Number(self.index + count) }
}

extension Number: CustomStringConvertible {
    /// The number in digits, or "none".
    public var description: String { self.isNone ? "none" : String(self.raw) }
}

/// The tags of numbers: one for each table.
public enum NumberTag {
    /// A widget on a host.
    public enum Instance {}
    /// A device, or another process, that shows widgets.
    public enum Host {}
    /// A kind of an app.
    public enum Kind {}
    /// An app.
    public enum App {}
    /// A team, whose keys senders use.
    public enum Team {}
    /// A push that was accepted.
    public enum Push {}
    /// A reload that was issued.
    public enum Reload {}
}

/// The number of a widget instance.
public typealias InstanceNumber = Number<NumberTag.Instance>
/// The number of a host.
public typealias HostNumber = Number<NumberTag.Host>
/// The number of a kind, among those of all apps.
public typealias KindNumber = Number<NumberTag.Kind>
/// The number of an app.
public typealias AppNumber = Number<NumberTag.App>
/// The number of a team.
public typealias TeamNumber = Number<NumberTag.Team>
/// The number of a push.
public typealias PushNumber = Number<NumberTag.Push>
/// The number of a reload.
public typealias ReloadNumber = Number<NumberTag.Reload>
