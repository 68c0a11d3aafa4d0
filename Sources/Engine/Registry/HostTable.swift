import IntentMatching
import Storage
import Timelines
import WidgetModel

/// The hosts of a partition by number, registered ones and those whose instances' budgets are still remembered.
struct HostTable: ~Copyable, Sendable {
    /// The fields that decisions read of a host, with as few pointers as can be.
    struct Row: Sendable {
        var app: AppNumber
        /// The first instance in the order of ids, removed ones included.
        var firstInstance = InstanceNumber.none
        var liveInstances: UInt32 = 0
        /// The first of its push tokens, the oldest; see ``TokenTable/tokens(from:)``.
        var firstToken = TokenNumber.none
        /// Its own context, see ``HostTable/context(of:)``.
        var contextNumber = HostContextTable.blank
        /// False once removed, while removed instances' budgets are remembered.
        var isRegistered = true
        /// Whether it ever told that an instance was seen or hidden.
        var tellsVisibility = false
        var isInStandBy = false
        var isInLowPower = false
        /// Whether its registration is its own word, and not its back end's.
        var isRegisteredByItself = false
        var delivery: HostDelivery
        /// Until when the app is in the foreground, and the sessions hold; the latest of them.
        var exemptUntil = Instant.distantPast
        /// The windows of policies whose windows are tuned to the host.
        var windows: TunedWindows
        /// When a push for its widgets last went to its token.
        var pushedAt = Instant.distantPast
        var revision: UInt64 = 0
        var registeredAt: Instant
        var firstRegisteredAt: Instant
        /// When the registration ends by itself; `noLease` if it does not.
        private var leaseEnd = Self.noLease
        /// One, or none while all of it is as at first.
        private var coldRow: [ColdFields] = []
        /// Makes it two whole lines of memory, so that no row has a part in a third.
        private let padding: (UInt64, UInt64) = (0, 0)

        private static let noLease = Instant.distantPast

        init(
            app: AppNumber,
            windows: TunedWindows,
            delivery: HostDelivery,
            registeredAt: Instant,
            firstRegisteredAt: Instant
        ) {
            self.app = app
            self.windows = windows
            self.delivery = delivery
            self.registeredAt = registeredAt
            self.firstRegisteredAt = firstRegisteredAt
        }
    }

    /// Fields that most hosts never change: they lie apart from the row, from the first change on.
    struct ColdFields: Sendable {
        var foregroundUntil = Instant.distantPast
        /// When each session ends, by the raw value of its kind.
        var sessionsUntil = InlineArray<3, Instant>(repeating: .distantPast)
        /// The budget that the host's instances share, if a kind has one for all of them.
        var budget = ReloadBudget()
        /// The pace of the terms by which that budget was charged last, in milliseconds; 0 before.
        var budgetInterval: UInt32 = 0

        /// Whether all of it is as at first.
        fileprivate var isBlank: Bool {
            guard self.foregroundUntil == .distantPast, self.budgetInterval == 0, self.budget == ReloadBudget() else {
                return false
            }
            for session in self.sessionsUntil.indices where self.sessionsUntil[session] != .distantPast { return false }
            return true
        }
    }

    /// A host's key, its ``HostKey/text``: a look-up compares there, without touching a string.
    struct Name: Sendable {
        let text: TextNumber
        /// The bytes before the id: the app, and the zero byte behind it.
        let prefix: UInt16
        /// The bytes in all.
        let count: UInt16

        /// Of a number that is free.
        static let none = Name(text: .none, prefix: 0, count: 0)
    }

    var rows = Table<NumberTag.Host, Row>()
    private(set) var contexts: HostContextTable
    private var index = SlotIndex()
    /// Rows that were read back and are not in the index yet.
    private var late = LateSlots<NumberTag.Host>()
    private var names = RowChunks<Name>()
    private var texts = TextStore()
    private let seed: UInt64

    /// No hosts.
    ///
    /// - Parameter seed: Hides the places of rows from untrusted peers; no result depends on it.
    init(seed: UInt64) {
        self.seed = seed
        self.contexts = HostContextTable(seed: seed)
    }

    /// Bytes of memory held, without the rows' cold fields.
    var byteCount: Int {
        self.rows.byteCount + self.contexts.byteCount + self.index.byteCount + self.names.byteCount
            + self.texts.byteCount
    }

    /// Room for rows that are read back, see ``restore(_:_:named:saying:firstToken:)``.
    ///
    /// - Parameters:
    ///   - seed: As that of an empty table.
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - hosts: About how many rows will come.
    init(seed: UInt64, free: [HostNumber], expecting hosts: Int) {
        self.seed = seed
        self.contexts = HostContextTable(seed: seed)
        self.rows = Table(free: free, expecting: hosts)
        self.index.reserve(hosts)
        self.names.expect(hosts)
    }

    /// Takes back a row under its number. Rows come in the order of their numbers, and are found once all have come. O(1).
    mutating func restore(
        _ slot: HostNumber,
        _ row: consuming Row,
        named key: HostKey,
        saying context: HostContext,
        firstToken: TokenNumber
    ) {
        row.contextNumber = self.contexts.takeContext(context)
        row.firstToken = firstToken
        let hash = SeededHash.of(key.text.utf8.span, seed: self.seed)
        self.index.prefetch(hash)
        if let (hash, slot) = self.late.exchange(hash, slot) { self.index.insert(slot, hash) }
        self.rows.restore(slot, row, blank: .blank)
        self.keepName(of: slot, key)
    }

    /// Makes the table as long as it was, once its last row was taken back.
    mutating func finishRestoring(end: Int) {
        while let (hash, slot) = self.late.takeFirst() { self.index.insert(slot, hash) }
        self.rows.finishRestoring(end: end, blank: .blank)
        self.makeRoom(below: end)
    }

    private mutating func makeRoom(below end: Int) {
        guard end > self.names.count else { return }
        self.names.append(repeating: .none, count: end - self.names.count)
    }

    /// The id of a host; empty for a number that is free. O(bytes).
    func id(of slot: HostNumber) -> HostID {
        self.withID(of: slot) { bytes in
            guard let id = String(utf8: bytes) else { preconditionFailure("an id that is no text was kept") }
            return HostID(id)
        }
    }

    @inline(__always)
    func find(_ host: HostKey) -> HostNumber? {
        let text = host.text
        return self.index.find(SeededHash.of(text.utf8.span, seed: self.seed)) { slot in
            self.withName(of: slot) { $0.equals(text.utf8.span) }
        }
    }

    /// The host whose key these bytes are, see ``HostKey/text``.
    @inline(__always)
    func find(_ bytes: [UInt8], in range: Range<Int>) -> HostNumber? {
        self.index.find(SeededHash.of(bytes.span.extracting(range), seed: self.seed)) { slot in
            self.withName(of: slot) { $0.equals(bytes.span.extracting(range)) }
        }
    }

    /// Fetches where a look-up of these bytes begins.
    ///
    /// - Returns: Their hash, for ``prefetch(hash:)``.
    @inline(__always)
    func prefetch(_ bytes: [UInt8], in range: Range<Int>) -> UInt64 {
        let hash = SeededHash.of(bytes.span.extracting(range), seed: self.seed)
        self.index.prefetch(hash)
        return hash
    }

    /// Fetches the row, and where the id is, of the host that a look-up compares first, nearly always the right one.
    @inline(__always)
    func prefetch(hash: UInt64) -> HostNumber? {
        guard let slot: HostNumber = self.index.find(hash, where: { _ in true }) else { return nil }
        self.prefetch(slot)
        return slot
    }

    /// Fetches the row of a host, and where its id is.
    @inline(__always)
    func prefetch(_ slot: HostNumber) {
        self.rows.prefetch(slot)
        self.names.prefetch(slot.index)
    }

    /// Fetches the beginning of a host's id.
    @inline(__always)
    func prefetchID(of slot: HostNumber) { self.texts.prefetch(self.names[slot.index].text) }

    mutating func insert(_ row: consuming Row, named key: HostKey, saying context: HostContext) -> HostNumber {
        row.contextNumber = self.contexts.takeContext(context)
        let slot = self.rows.insert(row)
        self.index.insert(slot, SeededHash.of(key.text.utf8.span, seed: self.seed))
        self.keepName(of: slot, key)
        return slot
    }

    private mutating func keepName(of slot: HostNumber, _ key: HostKey) {
        let text = key.text
        precondition(text.utf8.count <= HostRegistration.keyBytesMax, "too long a key")
        self.makeRoom(below: slot.index + 1)
        self.names[slot.index] = Name(
            text: self.texts.insert(text.utf8.span),
            prefix: UInt16(key.app.rawValue.utf8.count + 1),
            count: UInt16(text.utf8.count)
        )
    }

    mutating func release(_ slot: HostNumber) {
        self.index.remove(slot, self.withName(of: slot) { SeededHash.of($0, seed: self.seed) })
        self.contexts.release(self.rows[slot].contextNumber)
        self.rows[slot].forget()
        self.rows.release(slot)
        self.texts.release(self.names[slot.index].text, count: self.keyByteCount(of: slot))
        self.names[slot.index] = .none
    }

    /// How many bytes a host's key takes.
    func keyByteCount(of slot: HostNumber) -> Int { Int(self.names[slot.index].count) }

    /// Lends the bytes of a host's key, see ``HostKey/text``.
    @inline(__always)
    private func withName<Result>(of slot: HostNumber, _ body: (Span<UInt8>) -> Result) -> Result {
        let name = self.names[slot.index]
        return self.texts.withBytes(name.text, count: Int(name.count), body)
    }

    /// Lends the bytes of a host's id, in UTF-8.
    @inline(__always)
    func withID<Result>(of slot: HostNumber, _ body: (Span<UInt8>) -> Result) -> Result {
        let name = self.names[slot.index]
        return self.texts.withBytes(name.text, count: Int(name.count)) {
            body($0.extracting(droppingFirst: Int(name.prefix)))
        }
    }

    /// A host's context, in its own words.
    func context(of slot: HostNumber) -> HostContext { self.contexts[self.rows[slot].contextNumber] }

    /// Notes a host's context from now on. O(bytes).
    mutating func setContext(of slot: HostNumber, _ context: HostContext) {
        let old = self.rows[slot].contextNumber
        self.rows[slot].contextNumber = self.contexts.takeContext(context)
        self.contexts.release(old)
    }
}

/// The intent index's questions about hosts' ids.
extension HostTable: HostNaming {
    func number(ofHost id: [UInt8], of app: BundleID) -> HostNumber? {
        let key = Array(app.rawValue.utf8) + [0] + id
        return self.find(key, in: key.indices)
    }

    func forEachHost(in numbers: Range<HostNumber>, _ body: (HostNumber, Span<UInt8>) -> Void) {
        // Numbers that no host has are those of no instance either, and their ids are empty.
        for number in numbers.clamped(to: Number(0)..<Number(self.names.count)) {
            self.withID(of: number) { body(number, $0) }
        }
    }
}

extension HostTable.Row {
    var leaseEnds: Instant? {
        get { self.leaseEnd == Self.noLease ? nil : self.leaseEnd }
        set { self.leaseEnd = newValue ?? Self.noLease }
    }

    /// The fields that are kept apart from the row. Blank ones take no memory.
    var coldFields: HostTable.ColdFields {
        get { self.coldRow.first ?? HostTable.ColdFields() }
        _modify {
            var blank = HostTable.ColdFields()
            if self.coldRow.isEmpty {
                yield &blank
                if !blank.isBlank { self.coldRow = [blank] }
            } else {
                yield &self.coldRow[0]
                if self.coldRow[0].isBlank { self.coldRow = [] }
            }
        }
    }

    /// Whether any fields are kept apart from the row.
    var hasColdFields: Bool { !self.coldRow.isEmpty }

    /// Gives up the fields that are kept apart from the row, when its number is given back.
    fileprivate mutating func forget() {
        self.coldRow = []
        self.contextNumber = HostContextTable.blank
    }
}
