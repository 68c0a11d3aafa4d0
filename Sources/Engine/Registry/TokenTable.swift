import DequeModule
import Storage
import WidgetModel

/// Which host each push token stands for, and which tokens were removed lately.
struct TokenTable: ~Copyable, Sendable {
    struct Binding: Hashable, Sendable {
        let host: HostNumber
        /// The control instance whose own token it is, or none.
        let instance: InstanceNumber
    }

    /// A token that stands for nothing any more.
    struct Removal: Sendable {
        let token: DeviceToken
        /// The number of the app whose token it was.
        let app: AppNumber
        let at: Instant
        let reason: TokenRemoval
    }

    /// A token of a host and when it was bound, or named again.
    struct BoundToken: Sendable {
        let token: DeviceToken
        let boundAt: Instant
        /// The app's at that time: a token is of one environment, and a registration that names it again says that it is of the present one.
        let environment: PushEnvironment
    }

    private var rows = Table<NumberTag.Token, Row>()
    /// The tokens that are longer than ``bytesInRow``, by their rows' numbers.
    private var longTokens: [TokenNumber: DeviceToken] = [:]
    /// The instances of controls, by the rows of their tokens.
    private var controls: [TokenNumber: InstanceNumber] = [:]
    /// The next token of the host, a younger one, by rows: nearly all hosts have one token.
    private var successors: [TokenNumber: TokenNumber] = [:]
    private var index = SlotIndex()
    /// Rows that were read back and are not in the index yet.
    private var late = LateSlots<NumberTag.Token>()
    /// Whether two rows that were read back hold the same token, which no state has.
    private(set) var hasDuplicates = false
    private let seed: UInt64
    /// So many removals are looked at for one unit of an erasure.
    private static let removalsPerUnit = 8
    /// Removed tokens in the order of their removal; a token that was bound again since is skipped when its turn comes.
    private(set) var removals: Deque<Removal> = []
    private(set) var boundCount = 0

    /// An empty table.
    ///
    /// - Parameter seed: Hides the places of rows from untrusted peers; no result depends on it.
    init(seed: UInt64) {
        self.seed = seed
    }

    /// Bytes of memory held, without the bytes of long tokens, and without what the deque of removals keeps free.
    var byteCount: Int {
        self.rows.byteCount + self.index.byteCount + self.longTokens.heldBytes + self.controls.heldBytes
            + self.successors.heldBytes + self.removals.count * MemoryLayout<Removal>.stride
    }

    var removedCount: Int { self.rows.count - self.boundCount }

    private func hash(_ token: DeviceToken) -> UInt64 { SeededHash.of(token.bytes.span, seed: self.seed) }

    private func find(_ token: DeviceToken) -> TokenNumber? { self.find(token, self.hash(token)) }

    private func find(_ token: DeviceToken, _ hash: UInt64) -> TokenNumber? {
        guard token.bytes.count <= Self.bytesInRow else {
            return self.index.find(hash) { self.longTokens[$0] == token }
        }
        let row = Row(token)
        return self.index.find(hash) { self.rows[$0].isSpelled(like: row) }
    }

    /// The row of a token, a new one if there is none.
    private mutating func internToken(_ token: DeviceToken) -> TokenNumber {
        let hash = self.hash(token)
        if let slot = self.find(token, hash) { return slot }
        let slot = self.keep(token)
        self.index.insert(slot, hash)
        return slot
    }

    /// A row for a token that has none; it is not in the index yet.
    private mutating func keep(_ token: DeviceToken) -> TokenNumber {
        let slot = self.rows.insert(Row(token))
        if token.bytes.count > Self.bytesInRow { self.longTokens[slot] = token }
        return slot
    }

    /// A token by its row's number. O(bytes).
    func token(_ slot: TokenNumber) -> DeviceToken {
        var bytes: [UInt8] = []
        self.withBytes(of: slot) { bytes = Array(copying: $0) }
        return DeviceToken(bytes: bytes)
    }

    @inline(__always)
    private func withBytes(of slot: TokenNumber, _ body: (Span<UInt8>) -> Void) {
        let row = self.rows[slot]
        if row.byteCount == .max, let token = self.longTokens[slot] {
            body(token.bytes.span)
        } else {
            body(row.bytes.span.extracting(first: Int(row.byteCount)))
        }
    }

    /// Leaves nothing of a token: neither its row nor its place in the index.
    private mutating func release(_ token: DeviceToken) {
        guard let slot = self.find(token) else { return }
        if self.rows[slot].isBound { self.boundCount -= 1 }
        self.index.remove(slot, self.hash(token))
        self.longTokens[slot] = nil
        self.setControl(of: slot, .none)
        self.link(slot, to: .none)
        // A number that is free holds no token's bytes.
        self.rows[slot] = Row()
        self.rows.release(slot)
    }

    func binding(of token: DeviceToken) -> Binding? {
        guard let slot = self.find(token), self.rows[slot].isBound else { return nil }
        return Binding(host: self.rows[slot].host, instance: self.control(of: slot))
    }

    /// The control whose token it is, or none.
    private func control(of slot: TokenNumber) -> InstanceNumber {
        self.rows[slot].flags.contains(.isControl) ? self.controls[slot] ?? .none : .none
    }

    private mutating func setControl(of slot: TokenNumber, _ instance: InstanceNumber) {
        Self.set(.isControl, of: slot, in: &self.rows, &self.controls, instance)
    }

    /// Sets or removes a number that few rows have; the flag says whether there is one.
    private static func set<Tag>(
        _ flag: Flags,
        of slot: TokenNumber,
        in rows: inout Table<NumberTag.Token, Row>,
        _ numbers: inout [TokenNumber: Number<Tag>],
        _ number: Number<Tag>
    ) {
        guard !number.isNone || rows[slot].flags.contains(flag) else { return }
        numbers[slot] = number.isNone ? nil : number
        rows[slot].flags[flag] = !number.isNone
    }

    /// The next token of the host, none if it is the youngest.
    @inline(__always)
    private func next(_ slot: TokenNumber) -> TokenNumber {
        self.rows[slot].flags.contains(.hasNext) ? self.successors[slot] ?? .none : .none
    }

    private mutating func link(_ slot: TokenNumber, to next: TokenNumber) {
        Self.set(.hasNext, of: slot, in: &self.rows, &self.successors, next)
    }

    /// Binds a token; that of a host is to be made one of its list as well, see ``append(_:boundAt:_:to:)``.
    ///
    /// - Returns: The token's number.
    @discardableResult
    mutating func bind(_ token: DeviceToken, to binding: Binding) -> TokenNumber {
        let slot = self.internToken(token)
        self.bind(slot, to: binding)
        return slot
    }

    private mutating func bind(_ slot: TokenNumber, to binding: Binding) {
        if !self.rows[slot].isBound { self.boundCount += 1 }
        self.rows[slot].flags[.isBound] = true
        self.rows[slot].host = binding.host
        self.setControl(of: slot, binding.instance)
    }

    /// Answers a token as removed from now on: its row stays, and the removal is listed.
    mutating func markRemoved(_ token: DeviceToken, ofApp app: AppNumber, _ reason: TokenRemoval, at now: Instant) {
        self.unbind(token, at: now)
        self.removals.append(Removal(token: token, app: app, at: now, reason: reason))
    }

    private mutating func unbind(_ token: DeviceToken, at now: Instant) {
        let slot = self.internToken(token)
        if self.rows[slot].isBound { self.boundCount -= 1 }
        self.rows[slot].flags[.isBound] = false
        self.rows[slot].at = ShortInstant(now)
    }

    /// When a token was removed; nil if it stands for something, or was never known.
    private func removedAt(_ token: DeviceToken) -> ShortInstant? {
        guard let slot = self.find(token), !self.rows[slot].isBound else { return nil }
        return self.rows[slot].at
    }

    /// The removal of a token that stands for nothing any more; nil for any other. O(log removals), and those of the same moment.
    func removal(of token: DeviceToken) -> Removal? {
        guard let at = self.removedAt(token) else { return nil }
        var (low, high) = (0, self.removals.count)
        while low < high {
            let middle = (low + high) / 2
            if self.removals[middle].at < at.instant { low = middle + 1 } else { high = middle }
        }
        return self.removals[low...].prefix { ShortInstant($0.at) == at }.last { $0.token == token }
    }

    /// Erased tokens on their way out of ``removals``.
    struct Erasure: Sendable {
        fileprivate let tokens: Set<DeviceToken>
        /// The removal that is looked at next, and how many of those before it are kept.
        fileprivate var next = 0
        fileprivate var kept = 0
    }

    /// Begins to erase removed tokens: their rows go now, their removals by ``finish(_:_:)``.
    mutating func erase(_ tokens: [DeviceToken]) -> Erasure {
        let removed = tokens.filter { self.removedAt($0) != nil }
        for token in removed { self.release(token) }
        return Erasure(tokens: Set(removed))
    }

    /// Looks at some removals, and takes out those of erased tokens at the end. Until it is finished, ask for no removal, forget no token
    /// and begin no other erasure.
    ///
    /// - Parameter units: The most units; a unit is some removals. Returns the unused rest.
    /// - Returns: Whether it is finished.
    mutating func finish(_ erasure: inout Erasure, _ units: inout Int) -> Bool {
        if erasure.tokens.isEmpty { return true }
        while units > 0, erasure.next < self.removals.count {
            for place in erasure.next..<min(self.removals.count, erasure.next + Self.removalsPerUnit) {
                erasure.next += 1
                if erasure.tokens.contains(self.removals[place].token) { continue }
                if erasure.kept < place { self.removals.swapAt(erasure.kept, place) }
                erasure.kept += 1
            }
            units -= 1
        }
        guard erasure.next == self.removals.count else { return false }
        self.removals.removeLast(self.removals.count - erasure.kept)
        return true
    }

    /// Takes in a token of a host that was read back; it is found after ``finishRestoring()``. O(tokens of the host).
    mutating func restore(_ token: BoundToken, of host: HostNumber, to first: inout TokenNumber) {
        let hash = self.hash(token.token)
        self.index.prefetch(hash)
        let slot = self.keep(token.token)
        if let (hash, slot) = self.late.exchange(hash, slot) { self.insert(hash, slot) }
        self.bind(slot, to: Binding(host: host, instance: .none))
        self.append(slot, boundAt: token.boundAt, token.environment, to: &first)
    }

    /// Makes all tokens that were read back known.
    mutating func finishRestoring() {
        while let (hash, slot) = self.late.takeFirst() { self.insert(hash, slot) }
    }

    private mutating func insert(_ hash: UInt64, _ slot: TokenNumber) {
        let other = self.index.find(hash) { other in
            self.rows[other].isSpelled(like: self.rows[slot]) && self.longTokens[other] == self.longTokens[slot]
        }
        if other != nil { self.hasDuplicates = true }
        self.index.insert(slot, hash)
    }

    /// Makes room for so many tokens.
    mutating func reserve(_ count: Int) { self.index.reserve(count) }

    /// Takes in a removal that was read back. A token that is bound stays so: it was bound again since.
    mutating func restore(_ removal: Removal) {
        self.finishRestoring()
        if self.binding(of: removal.token) == nil { self.unbind(removal.token, at: removal.at) }
        self.removals.append(removal)
    }

    /// Whether this removal is the token's last: nothing has bound it since. Several removals at one moment are all the last.
    func isLast(_ removal: Removal) -> Bool { self.removedAt(removal.token) == ShortInstant(removal.at) }

    /// When the oldest removal may be forgotten, if there is one.
    func nextForgetting(after retention: Interval) -> Instant? {
        self.removals.first.map { $0.at + retention }
    }

    /// Forgets tokens that were removed that long ago.
    ///
    /// - Parameter removals: How many removals are looked at, at most; afterwards, how many of them are left.
    /// - Returns: The tokens, in the order of their removal.
    mutating func forget(at now: Instant, after retention: Interval, atMost removals: inout Int) -> [DeviceToken] {
        var forgotten: [DeviceToken] = []
        while removals > 0, let removal = self.removals.first, removal.at + retention <= now {
            removals -= 1
            self.removals.removeFirst()
            if self.isLast(removal) {
                self.release(removal.token)
                forgotten.append(removal.token)
            }
        }
        return forgotten
    }
}

/// The tokens of a host: a list, the oldest first, whose first the host knows.
extension TokenTable {
    /// The tokens of the host whose first one this is. O(tokens).
    func tokens(from first: TokenNumber) -> [BoundToken] {
        var tokens: [BoundToken] = []
        var slot = first
        while !slot.isNone {
            let row = self.rows[slot]
            tokens.append(BoundToken(token: self.token(slot), boundAt: row.at.instant, environment: row.environment))
            slot = self.next(slot)
        }
        return tokens
    }

    /// Gives the bytes of each token of a host to `body`, the oldest token first. O(tokens).
    @inline(__always)
    func forEach(from first: TokenNumber, _ body: (Span<UInt8>) -> Void) {
        var slot = first
        while !slot.isNone {
            self.withBytes(of: slot, body)
            slot = self.next(slot)
        }
    }

    /// How many tokens a host has. O(tokens).
    func count(from first: TokenNumber) -> Int {
        var (count, slot) = (0, first)
        while !slot.isNone { (count, slot) = (count + 1, self.next(slot)) }
        return count
    }

    /// The number of the youngest token of a host in an environment. O(tokens).
    func newest(from first: TokenNumber, in environment: PushEnvironment) -> TokenNumber? {
        var (newest, slot) = (TokenNumber?.none, first)
        while !slot.isNone {
            if self.rows[slot].environment == environment { newest = slot }
            slot = self.next(slot)
        }
        return newest
    }

    /// The number of a token in the list of the host whose first one this is. O(tokens).
    func find(_ token: DeviceToken, from first: TokenNumber) -> TokenNumber? {
        guard let wanted = self.find(token) else { return nil }
        var slot = first
        while !slot.isNone, slot != wanted { slot = self.next(slot) }
        return slot == wanted ? slot : nil
    }

    func boundAt(_ slot: TokenNumber) -> Instant { self.rows[slot].at.instant }
    func environment(_ slot: TokenNumber) -> PushEnvironment { self.rows[slot].environment }

    /// A host says again that a token is its own.
    mutating func renew(_ slot: TokenNumber, at now: Instant, _ environment: PushEnvironment) {
        self.rows[slot].at = ShortInstant(now)
        self.rows[slot].flags[.isDevelopment] = environment == .development
    }

    /// Makes a token that was bound to a host the youngest of its list, in which it is not. O(tokens).
    mutating func append(
        _ slot: TokenNumber,
        boundAt now: Instant,
        _ environment: PushEnvironment,
        to first: inout TokenNumber
    ) {
        self.renew(slot, at: now, environment)
        self.link(slot, to: .none)
        guard !first.isNone else { return first = slot }
        var last = first
        while !self.next(last).isNone { last = self.next(last) }
        self.link(last, to: slot)
    }

    /// Makes a host's list empty. O(tokens).
    mutating func unlinkAll(from first: inout TokenNumber) {
        while !first.isNone {
            let next = self.next(first)
            self.link(first, to: .none)
            first = next
        }
    }

    /// Takes a token out of a host's list, whatever it stands for now. O(tokens).
    mutating func unlink(_ token: DeviceToken, from first: inout TokenNumber) {
        guard let wanted = self.find(token, from: first) else { return }
        let next = self.next(wanted)
        self.link(wanted, to: .none)
        guard first != wanted else { return first = next }
        var slot = first
        while self.next(slot) != wanted { slot = self.next(slot) }
        self.link(slot, to: next)
    }
}
