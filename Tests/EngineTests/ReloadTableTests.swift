import Storage
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Fields that only reloads for pushes have lie apart from the rows.
@Suite struct ReloadTableTests {
    private static func reload(_ number: InstanceNumber, push: PushID? = nil, digest: ContentDigest? = nil)
        -> ReloadTable.Whole
    {
        let match = MatchNumber(raw: number.raw)
        return ReloadTable.Whole(
            row: ReloadTable.Row(
                instance: number,
                position: LogPosition(UInt64(number.raw)),
                issuedAt: Instant(seconds: 1),
                expiresAt: Instant(seconds: 2),
                causes: ReloadCauses(push == nil ? .added : .push),
                exemption: push == nil ? .added : nil,
                generation: number.raw + 1,
                window: BudgetWindow(start: Instant(milliseconds: 60_000), length: .minutes(Int64(number.raw) + 1)),
                collateral: push == nil ? nil : .over,
                isCounted: push != nil,
                isPush: push != nil,
                sharesToken: push != nil
            ),
            served: ReloadTable.Served(
                pushes: push == nil ? MatchList() : MatchList(head: match, tail: match.advanced(by: 1), count: 2),
                primary: push == nil ? .none : match,
                push: push,
                digest: digest
            )
        )
    }

    /// The reload in full, as a snapshot has it.
    private static func bytes(_ reload: ReloadTable.Whole) throws(ByteError) -> [UInt8] {
        var writer = StateWriter()
        _ = try reload.coded(by: &writer)
        return writer.writer.bytes
    }

    private static let push = PushID(high: 3, low: 4)

    @Test func `a reload is given back as it was put in`() throws {
        var reloads = ReloadTable()
        let rows = [
            Self.reload(1), Self.reload(2, push: Self.push),
            Self.reload(3, digest: ContentDigest(team: 1, bytes: [5, 6])),
            Self.reload(4, push: Self.push, digest: ContentDigest(team: 2, bytes: [])),
        ]
        let slots = rows.map { reloads.insert($0) }
        #expect(reloads.rows.count == 4)
        #expect(reloads.served.count == 3)
        for (slot, row) in zip(slots, rows) { #expect(try Self.bytes(reloads[slot]) == Self.bytes(row)) }
        reloads.link(slots[0], to: slots[1])
        #expect(reloads[row: slots[0]].next == slots[1])
        #expect(reloads[slots[0]].next == slots[1])
    }

    @Test func `a number that is used again has nothing of the reload before`() throws {
        var reloads = ReloadTable()
        let first = reloads.insert(Self.reload(1, push: Self.push, digest: ContentDigest(team: 1, bytes: [7])))
        reloads.release(first)
        #expect(reloads.rows.count == 0)
        #expect(reloads.served.count == 0)
        let second = reloads.insert(Self.reload(2))
        #expect(second == first)
        #expect(reloads.served.count == 0)
        #expect(try Self.bytes(reloads[second]) == Self.bytes(Self.reload(2)))
        reloads.release(second)
        _ = reloads.insert(Self.reload(3, push: Self.push))
        #expect(reloads.served.count == 1)
        #expect(reloads[second].digest == nil)
    }

    @Test func `reloads come back under their numbers`() throws {
        var reloads = ReloadTable(free: [0, 4, 2], expecting: 0)
        reloads.restore(1, Self.reload(1))
        reloads.restore(3, Self.reload(3, push: Self.push))
        reloads.finishRestoring(end: 5)
        #expect(reloads.rows.end == 5)
        #expect(reloads.rows.count == 2)
        #expect(try Self.bytes(reloads[3]) == Self.bytes(Self.reload(3, push: Self.push)))
        // The number that was given back last comes first.
        #expect(reloads.insert(Self.reload(9)) == 2)
        #expect(reloads.insert(Self.reload(9)) == 4)
    }
}
