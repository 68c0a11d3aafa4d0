/// A 64-bit hash that is part of the on-disk format: unseeded, the same in every process and on every machine.
///
/// FNV-1a over the bytes, finished with the SplitMix64 mixer so that low and high bits are equally good. It decides
/// which partition owns a host, where a host's budget window is anchored and how reloads are spread, so it may never
/// change. It is not a defence against chosen keys: do not index a table with it alone that an untrusted peer fills.
///
/// Public, since Swift 6.3 does not inline declarations with package access into other targets.
///
/// Sources: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm" (draft-eastlake-fnv); Steele, Lea, Flood,
/// "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014).
public struct StableHash: Sendable {
    @usableFromInline var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of nothing.
    @inlinable
    public init() {}

    /// Takes in one byte.
    @inlinable
    public mutating func combine(byte: UInt8) {
        self.state = (self.state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    /// Takes in bytes, without their count.
    @inlinable
    public mutating func combine(_ bytes: Span<UInt8>) {
        for index in bytes.indices { self.combine(byte: bytes[index]) }
    }

    /// Takes in a number.
    @inlinable
    public mutating func combine(_ value: UInt64) {
        self.state = Self.mix(self.state ^ value)
    }

    /// Takes in a string, and that it ends.
    @inlinable
    public mutating func combine(_ string: String) { self.combine(text: string.utf8.span) }

    /// The same of a string's UTF-8.
    @inlinable
    public mutating func combine(text bytes: Span<UInt8>) {
        self.combine(bytes)
        // A terminator that UTF-8 cannot contain keeps ("ab", "c") and ("a", "bc") apart.
        self.combine(byte: 0xFF)
    }

    /// The same as its ``HostKey/text`` would give.
    package mutating func combine(_ host: HostKey) { self.combine(host: host.id.rawValue.utf8.span, of: host.app) }

    /// The same of the key of a host whose id has this UTF-8.
    package mutating func combine(host id: Span<UInt8>, of app: BundleID) {
        self.combine(app.rawValue.utf8.span)
        self.combine(byte: 0)
        self.combine(text: id)
    }

    /// The hash of all that was taken in.
    @inlinable
    public var value: UInt64 { Self.mix(self.state) }

    /// The hash of one string.
    @inlinable
    public static func of(_ string: String) -> UInt64 {
        var hash = StableHash()
        hash.combine(string)
        return hash.value
    }

    /// The hash of one host's key.
    package static func of(_ host: HostKey) -> UInt64 {
        var hash = StableHash()
        hash.combine(host)
        return hash.value
    }

    /// The SplitMix64 finaliser: a bijection whose every output bit depends on every input bit.
    @inlinable
    public static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0..<bound` that depends on `hash` alone (multiply-shift, no modulo bias worth speaking of).
    ///
    /// - Parameters:
    ///   - hash: A well-mixed hash.
    ///   - bound: How many values there are; at least 1.
    @inlinable
    public static func reduce(_ hash: UInt64, below bound: UInt64) -> UInt64 {
        hash.multipliedFullWidth(by: bound).high
    }
}
