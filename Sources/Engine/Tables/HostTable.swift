import WidgetModel

/// The hosts of a partition by number, registered ones and those whose instances' budgets are still remembered.
struct HostTable: Sendable {
    static let none = Slab<Row>.none

    struct Row: Sendable {
        let id: HostID
        var app: UInt32
        /// The first instance in the order of ids, removed ones included.
        var firstInstance = InstanceTable.none
        var liveInstances: UInt32 = 0
        /// False once removed, while removed instances' budgets are remembered.
        var isRegistered = true
        /// Until when the app is in the foreground, and the sessions hold, in milliseconds; the latest of them.
        var exemptUntil: Int64 = .min
        var foregroundUntil: Int64 = .min
        var sessionsUntil = InlineArray<3, Int64>(repeating: .min)
        var delivery: HostDelivery
        var revision: UInt64 = 0
        var registeredAt: Instant
        let firstRegisteredAt: Instant
        var leaseEnds: Instant?
        var context: HostContext
        /// The push tokens, the oldest first, and when each was bound.
        var tokens: [Token] = []

        struct Token: Sendable {
            let token: DeviceToken
            var boundAt: Instant
        }
    }

    private var rows = Slab<Row>()
    private var index = SlotIndex()
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
    }

    var count: Int { self.rows.count }

    @inline(__always)
    subscript(slot: UInt32) -> Row {
        _read { yield self.rows[slot] }
        _modify { yield &self.rows[slot] }
    }

    func find(_ host: HostID) -> UInt32? {
        self.index.find(ByteHash.of(host.rawValue, seed: self.seed)) { self.rows[$0].id == host }
    }

    /// The host whose id these bytes are.
    @inline(__always)
    func find(_ bytes: [UInt8], in range: Range<Int>) -> UInt32? {
        self.index.find(ByteHash.of(bytes, in: range, seed: self.seed)) { slot in
            self.rows[slot].id.rawValue.equals(bytes, in: range)
        }
    }

    mutating func insert(_ row: Row) -> UInt32 {
        let slot = self.rows.insert(row)
        self.index.insert(ByteHash.of(row.id.rawValue, seed: self.seed), slot)
        return slot
    }

    mutating func release(_ slot: UInt32) {
        self.index.remove(ByteHash.of(self.rows[slot].id.rawValue, seed: self.seed), slot)
        self.rows.release(slot)
    }

    /// Every row in use, in the order of ids. O(n log n).
    func sortedSlots() -> [UInt32] {
        var isFree = Array(repeating: false, count: self.rows.rows.count)
        for slot in self.rows.free { isFree[Int(slot)] = true }
        return isFree.indices.filter { !isFree[$0] }.map { UInt32($0) }.sorted { self.rows[$0].id < self.rows[$1].id }
    }
}
