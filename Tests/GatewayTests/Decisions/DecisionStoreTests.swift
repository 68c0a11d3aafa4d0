import Engine
import History
import Journaling
import Logging
import Partitions
import Settings
import TestSupport
import Testing
import WidgetModel

/// Decisions on the disk: which are kept, and how far back an instance's go.
@Suite struct DecisionStoreTests {
    private static let partition = PartitionID(0)
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func store(
        _ archive: MemoryArchive = MemoryArchive(),
        bytesMax: Int = 1_000_000,
        ageMax: Interval = .hours(48)
    ) -> DecisionStore {
        var settings = GatewayConfiguration.Decisions()
        (settings.bytesMax, settings.ageMax) = (bytesMax, ageMax)
        return DecisionStore(archive: archive, partitions: 1, settings: settings, logger: Self.logger)
    }

    /// Decisions of one instance, a second apart; every one names the one before.
    private static func block(first: UInt64, count: Int = 10) -> DecisionBlock {
        let address = InstanceAddress(host: HostKey("host-1"), instance: InstanceID("a"))
        let rows = (first..<first + UInt64(count)).map { number in
            FiledDecision(
                instance: 0,
                previous: number == 0 ? nil : number - 1,
                decision: DecisionView(
                    at: Sports.start + .seconds(Int64(number)),
                    position: LogPosition(number + 1),
                    cause: .push,
                    push: PushID(high: 1, low: number),
                    outcome: .issued,
                    reason: .conforms,
                    exemption: nil,
                    until: nil
                )
            )
        }
        return DecisionBlock(Self.partition, first: first, rows, about: [address])
    }

    private static func write(
        _ block: DecisionBlock,
        to store: DecisionStore,
        now: Instant = Sports.start + .minutes(1)
    ) throws {
        try store.write(block, at: store.place(in: Self.partition), now: now)
    }

    /// The numbers of the decisions that it has, read one by one.
    private static func numbers(_ store: DecisionStore, below end: UInt64 = 50) -> [UInt64] {
        (0..<end).filter { store.block(Self.partition, having: $0)?[$0]?.decision.position == LogPosition($0 + 1) }
    }

    @Test(arguments: [(-1, 10..<30), (0, 0..<30), (1, 0..<30)] as [(Int, Range<UInt64>)])
    func `the oldest go where there is no room for all`(beyond: Int, kept: Range<UInt64>) throws {
        let blocks = [0, 10, 20].map { Self.block(first: $0) }
        let store = Self.store(bytesMax: blocks.reduce(0) { $0 + $1.bytes.count } + beyond)
        for block in blocks { try Self.write(block, to: store) }
        #expect(Self.numbers(store) == Array(kept))
        #expect(store.counts.removed == 30 - UInt64(kept.count))
        #expect(store.place(in: Self.partition).next == 30)
    }

    @Test(arguments: [(-1, 10..<20), (0, 0..<20), (1, 0..<20)] as [(Int64, Range<UInt64>)])
    func `what is older than it may be goes`(younger: Int64, kept: Range<UInt64>) throws {
        let store = Self.store(ageMax: .minutes(1) + Interval(milliseconds: younger))
        let blocks = [0, 10].map { Self.block(first: $0) }
        for block in blocks { try Self.write(block, to: store, now: blocks[1].head.until) }
        // The last decision of the first block was made a minute before.
        try store.prune(now: blocks[0].head.until + .minutes(1))
        #expect(Self.numbers(store) == Array(kept))
    }

    @Test func `what has no room by itself is not written, and what comes behind it is`() throws {
        let store = Self.store(bytesMax: Self.block(first: 100).bytes.count)
        try Self.write(Self.block(first: 0, count: 50), to: store)
        #expect(store.counts.decisions == 0 && store.place(in: Self.partition).next == 50)
        try Self.write(Self.block(first: 50), to: store)
        #expect(store.counts.decisions == 10)
    }

    @Test func `the next process finds what was written, and removes what is no block`() throws {
        let archive = MemoryArchive()
        let first = Self.store(archive)
        for number in [0, 10, 30] as [UInt64] { try Self.write(Self.block(first: number), to: first) }
        try archive.write([ArchivedRecord(number: 77, bytes: [9, 9])], removing: [])
        let second = Self.store(archive)
        #expect(try second.load())
        #expect(Self.numbers(second) == Array(0..<20) + Array(30..<40))
        #expect(second.missing(Self.partition, in: 5..<50) == [20..<30, 40..<50])
        #expect(second.place(in: Self.partition).next == 40)
        #expect(try archive.read(77) == nil)
        try Self.write(Self.block(first: 40), to: second)
        #expect(Self.numbers(second).last == 49)
    }

    @Test func `where nothing is to be kept, what was is removed`() throws {
        let archive = MemoryArchive()
        try Self.write(Self.block(first: 0), to: Self.store(archive))
        #expect(try !Self.store(archive, bytesMax: 0).load())
        var left = 0
        try archive.readAll { _ in left += 1 }
        #expect(left == 0)
    }

    @Test func `an instance's decisions are followed from block to block, and end at a gap`() throws {
        let store = Self.store()
        for number in [0, 10, 30, 40] as [UInt64] { try Self.write(Self.block(first: number), to: store) }
        #expect(Self.earlier(store, nil) == Found([], true))
        #expect(Self.earlier(store, 15) == Found((1...16).reversed(), true))
        #expect(Self.earlier(store, 15, limit: 16) == Found((1...16).reversed(), true))
        #expect(Self.earlier(store, 15, limit: 15) == Found((2...16).reversed(), false))
        #expect(Self.earlier(store, 45) == Found((31...46).reversed(), false))
        #expect(Self.earlier(store, 25) == Found([], false))
        #expect(Self.earlier(store, 45, since: Sports.start + .seconds(41)) == Found((42...46).reversed(), true))
        #expect(Self.earlier(store, 45, since: Sports.start + .seconds(30)) == Found((31...46).reversed(), false))
    }

    private struct Found: Equatable {
        let positions: [UInt64]
        let isWhole: Bool

        init(_ positions: [UInt64], _ isWhole: Bool) {
            self.positions = positions
            self.isWhole = isWhole
        }
    }

    private static func earlier(
        _ store: DecisionStore,
        _ number: UInt64?,
        limit: Int = 100,
        since: Instant? = nil
    ) -> Found {
        let found = store.earlier(Self.partition, from: number, limit: limit, since: since)
        return Found(found.rows.map(\.position.rawValue), found.isWhole)
    }

    @Test func `what is written while everything is removed is removed, too`() throws {
        let store = Self.store()
        try Self.write(Self.block(first: 0), to: store)
        let place = store.place(in: Self.partition)
        try store.removeAll()
        try store.write(Self.block(first: 10), at: place, now: Sports.start)
        #expect(store.counts.decisions == 0 && Self.numbers(store) == [])
        #expect(store.place(in: Self.partition).next == nil)
    }

    @Test func `a damaged block is missing`() throws {
        let archive = MemoryArchive()
        let store = Self.store(archive)
        for number in [0, 10] as [UInt64] { try Self.write(Self.block(first: number), to: store) }
        var bytes = try #require(try archive.read(1))
        bytes[bytes.count - 1] ^= 1
        try archive.write([ArchivedRecord(number: 1, bytes: bytes)], removing: [])
        #expect(store.earlier(Self.partition, from: 15, limit: 100, since: nil).rows.count == 6)
        #expect(store.counts.failures > 0)
    }
}
