import IntentMatching
import Storage
import WidgetModel

/// The contexts that hosts report, by number. Hosts with equal contexts share one, which stays as long as one of them
/// has it.
///
/// Neither decisions nor snapshots have the numbers: which number a context has depends on the contexts before it.
struct HostContextTable: ~Copyable, Sendable {
    /// The number of the context in which nothing is said, which takes no place.
    static let blank = Number<NumberTag.HostContext>.none

    struct Row: Sendable {
        var context = HostContext()
        /// How many hosts say so.
        var hosts: UInt32 = 0
    }

    private var rows = Table<NumberTag.HostContext, Row>()
    private var index = SlotIndex()
    private let seed: UInt64

    /// An empty table.
    ///
    /// - Parameter seed: Hides the places of rows from untrusted peers; no result depends on it.
    init(seed: UInt64) {
        self.seed = seed
    }

    /// Bytes of memory held, without contexts' texts.
    var byteCount: Int { self.rows.byteCount + self.index.byteCount }

    /// How many different contexts there are, the blank one left out.
    var count: Int { self.rows.count }

    subscript(number: Number<NumberTag.HostContext>) -> HostContext {
        number == Self.blank ? HostContext() : self.rows[number].context
    }

    /// The number of a context that one host more says. O(bytes).
    mutating func takeContext(_ context: HostContext) -> Number<NumberTag.HostContext> {
        guard !context.isBlank else { return Self.blank }
        let hash = context.hash(seed: self.seed)
        if let number = self.index.find(hash, where: { self.rows[$0].context.isSpelled(like: context) }) {
            self.rows[number].hosts += 1
            return number
        }
        let number = self.rows.insert(Row(context: context, hosts: 1))
        self.index.insert(number, hash)
        return number
    }

    /// One host less says so.
    mutating func release(_ number: Number<NumberTag.HostContext>) {
        guard number != Self.blank else { return }
        self.rows[number].hosts -= 1
        guard self.rows[number].hosts == 0 else { return }
        self.index.remove(number, self.rows[number].context.hash(seed: self.seed))
        // A free number keeps no host's context.
        self.rows[number] = Row()
        self.rows.release(number)
    }
}

extension HostContext {
    /// Whether nothing is said in it.
    var isBlank: Bool {
        self.width == nil && self.height == nil && self.environmentVariants.isEmpty && self.locale == nil
            && self.timeZone == nil
    }

    fileprivate func hash(seed: UInt64) -> UInt64 {
        var state = SeededHash.fold(seed ^ (self.width?.bitPattern ?? 1))
        state = SeededHash.fold(state ^ (self.height?.bitPattern ?? 1))
        for variant in self.environmentVariants {
            state = SeededHash.of(variant.name.utf8.span, seed: state)
            for value in variant.values { state = SeededHash.of(value.utf8.span, seed: state) }
        }
        if let locale = self.locale { state = SeededHash.of(locale.utf8.span, seed: state) }
        if let timeZone = self.timeZone { state = SeededHash.of(timeZone.utf8.span, seed: ~state) }
        return state
    }

    /// Whether the two are written alike, byte for byte: zero and minus zero are not, nor two spellings of one letter,
    /// which are equal otherwise.
    fileprivate func isSpelled(like other: HostContext) -> Bool {
        self.width?.bitPattern == other.width?.bitPattern && self.height?.bitPattern == other.height?.bitPattern
            && Self.areAlike(self.locale, other.locale) && Self.areAlike(self.timeZone, other.timeZone)
            && self.environmentVariants.elementsEqual(other.environmentVariants) { left, right in
                left.name.hasSameBytes(as: right.name)
                    && left.values.elementsEqual(right.values) { $0.hasSameBytes(as: $1) }
            }
    }

    private static func areAlike(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.hasSameBytes(as: right)
    }
}
