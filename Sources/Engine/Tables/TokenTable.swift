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

    private var entries: [DeviceToken: Entry] = [:]
    /// Removed tokens in the order of their removal; a token that was bound again since is skipped when its turn comes.
    private var removals: [Removal] = []
    private var firstRemoval = 0
    private(set) var boundCount = 0

    var removedCount: Int { self.entries.count - self.boundCount }

    func binding(of token: DeviceToken) -> Binding? {
        if case .bound(let binding) = self.entries[token] { binding } else { nil }
    }

    mutating func bind(_ token: DeviceToken, to binding: Binding) {
        if self.binding(of: token) == nil { self.boundCount += 1 }
        self.entries[token] = .bound(binding)
    }

    mutating func remove(_ token: DeviceToken, ofApp app: UInt32, _ reason: TokenRemoval, at now: Instant) {
        if self.binding(of: token) != nil { self.boundCount -= 1 }
        self.entries[token] = .removed(at: now)
        self.removals.append(Removal(token: token, app: app, at: now, reason: reason))
    }

    /// Takes in a removal that was read back, before any binding is.
    mutating func restore(_ removal: Removal) {
        self.entries[removal.token] = .removed(at: removal.at)
        self.removals.append(removal)
    }

    /// Whether a token stands for nothing since this removal, which is then the last word on it.
    func isLast(_ removal: Removal) -> Bool {
        if case .removed(let last) = self.entries[removal.token] { last == removal.at } else { false }
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
            if case .removed(let last) = self.entries[removal.token], last == removal.at {
                self.entries[removal.token] = nil
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
