import WidgetModel

/// Which host each push token stands for, and which tokens were removed lately.
struct TokenTable: Sendable {
    struct Binding: Hashable, Sendable {
        let host: UInt32
        /// The control instance whose own token it is, or `InstanceTable.none`.
        let instance: UInt32
    }

    /// A token that stands for nothing any more.
    struct Removal: Sendable {
        let token: DeviceToken
        /// The number of the app whose token it was.
        let app: UInt32
        let at: Instant
        let reason: TokenRemoval
    }

    private enum Entry: Sendable {
        case bound(Binding)
        case removed(at: Instant)
    }

    private struct Row: Sendable {
        let token: DeviceToken
        var entry: Entry
    }

    private var rows = Slab<Row>()
    private var index = SlotIndex()
    private let seed: UInt64
    /// Removed tokens in the order of their removal; a token that was bound again since is skipped when its turn comes.
    private var removals: [Removal] = []
    private var firstRemoval = 0
    private(set) var boundCount = 0

    /// An empty table.
    ///
    /// - Parameter seed: Hides from strangers where rows are found; nothing that comes out depends on it.
    init(seed: UInt64) {
        self.seed = seed
    }

    var removedCount: Int { self.rows.count - self.boundCount }

    private func hash(_ token: DeviceToken) -> UInt64 { ByteHash.of(token.bytes.span, seed: self.seed) }

    private func entry(of token: DeviceToken) -> Entry? {
        let slot = self.index.find(self.hash(token)) { self.rows[$0].token == token }
        return slot.map { self.rows[$0].entry }
    }

    private mutating func set(_ token: DeviceToken, _ entry: Entry) {
        let hash = self.hash(token)
        if let slot = self.index.find(hash, where: { self.rows[$0].token == token }) {
            if case .bound = self.rows[slot].entry { self.boundCount -= 1 }
            self.rows[slot].entry = entry
        } else {
            self.index.insert(hash, self.rows.insert(Row(token: token, entry: entry)))
        }
        if case .bound = entry { self.boundCount += 1 }
    }

    private mutating func remove(_ token: DeviceToken) {
        let hash = self.hash(token)
        guard let slot = self.index.find(hash, where: { self.rows[$0].token == token }) else { return }
        if case .bound = self.rows[slot].entry { self.boundCount -= 1 }
        self.index.remove(hash, slot)
        // A number that is free holds no token's bytes.
        self.rows[slot] = Row(token: DeviceToken(bytes: []), entry: .removed(at: .epoch))
        self.rows.release(slot)
    }

    func binding(of token: DeviceToken) -> Binding? {
        if case .bound(let binding) = self.entry(of: token) { binding } else { nil }
    }

    mutating func bind(_ token: DeviceToken, to binding: Binding) {
        self.set(token, .bound(binding))
    }

    mutating func remove(_ token: DeviceToken, ofApp app: UInt32, _ reason: TokenRemoval, at now: Instant) {
        self.set(token, .removed(at: now))
        self.removals.append(Removal(token: token, app: app, at: now, reason: reason))
    }

    /// Leaves nothing of a removed token. O(removals).
    mutating func erase(_ token: DeviceToken) {
        guard case .removed = self.entry(of: token) else { return }
        self.remove(token)
        self.removals.removeFirst(self.firstRemoval)
        self.firstRemoval = 0
        self.removals.removeAll { $0.token == token }
    }

    /// Makes room for so many tokens.
    mutating func reserve(_ count: Int) { self.index.reserve(count) }

    /// Takes in a removal that was read back. A token that is bound stays so: it was bound again since.
    mutating func restore(_ removal: Removal) {
        if self.binding(of: removal.token) == nil { self.set(removal.token, .removed(at: removal.at)) }
        self.removals.append(removal)
    }

    /// Whether a token stands for nothing since this removal, which is then the last word on it.
    func isLast(_ removal: Removal) -> Bool {
        if case .removed(let last) = self.entry(of: removal.token) { last == removal.at } else { false }
    }

    /// When the oldest removal may be forgotten, if there is one.
    func nextForgotten(after retention: Interval) -> Instant? {
        self.firstRemoval < self.removals.count ? self.removals[self.firstRemoval].at + retention : nil
    }

    /// Forgets the tokens that were removed that long ago, and gives them to `body` in the order of their removal.
    mutating func forget(at now: Instant, after retention: Interval, _ body: (DeviceToken) -> Void) {
        while self.firstRemoval < self.removals.count, self.removals[self.firstRemoval].at + retention <= now {
            let removal = self.removals[self.firstRemoval]
            self.firstRemoval += 1
            if case .removed(let last) = self.entry(of: removal.token), last == removal.at {
                self.remove(removal.token)
                body(removal.token)
            }
        }
        // Amortised O(1): half of the array is dropped at most once for each time it was filled.
        if self.firstRemoval > 1024, self.firstRemoval * 2 > self.removals.count {
            self.removals.removeFirst(self.firstRemoval)
            self.firstRemoval = 0
        }
    }

    /// The removals that are still remembered, in their order; with duplicates of tokens that came and went.
    var removalsInOrder: ArraySlice<Removal> { self.removals[self.firstRemoval...] }
}
