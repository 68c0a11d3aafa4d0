import WidgetModel

extension NumberTag {
    /// A push that waits for an instance, or is served by a reload of it.
    enum Cause {}
    /// A push token.
    enum Token {}
    /// A context that hosts say of themselves.
    enum HostContext {}
}

/// The number of a ``PendingCauses/Node``.
typealias CauseNumber = Number<NumberTag.Cause>
/// The number of a token.
typealias TokenNumber = Number<NumberTag.Token>

extension SharedSlotIndex {
    /// The row with a hash that matches, if there is one.
    @inline(__always)
    func find<Tag>(_ hash: UInt64, where matches: (Number<Tag>) -> Bool) -> Number<Tag>? {
        self.find(hash) { (slot: UInt32) in matches(Number(raw: slot)) }.map { Number(raw: $0) }
    }

    /// Adds a row under its hash.
    @inline(__always)
    mutating func insert<Tag>(_ hash: UInt64, _ number: Number<Tag>) { self.insert(hash, number.raw) }

    /// Takes a row out that was added under this hash.
    @inline(__always)
    mutating func remove<Tag>(_ hash: UInt64, _ number: Number<Tag>) { self.remove(hash, number.raw) }
}
