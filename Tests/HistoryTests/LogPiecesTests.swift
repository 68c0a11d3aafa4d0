import Engine
import Journaling
import JournalSQLite
import Testing
import Timelines
import WidgetModel

/// The findings of `log verify` on outputs that were written in pieces.
@Suite struct LogPiecesTests {
    private static let partition = PartitionID(0)

    /// A log in which a push to all comes to several pieces, three times, at the beginning of a snapshot's log as well.
    private static func traffic() throws -> LoggedTraffic {
        let traffic = try LoggedTraffic(budget: .unlimited, effectsPerOutput: 3)
        try traffic.run(pushes: 20)
        try traffic.pushToAll(1)
        try traffic.snapshot()
        try traffic.pushToAll(2)
        try traffic.run(hosts: 0, knownHosts: 24, pushes: 40, seed: 8)
        try traffic.pushToAll(3)
        return traffic
    }

    private static func pieces(_ traffic: LoggedTraffic) throws -> [OutputEntry] {
        try traffic.journal.readOutputs(Self.partition, from: .first, outputsMax: 10_000).filter { $0.record.ahead > 0 }
    }

    @Test func `pieces are what a replay gives`() throws {
        let traffic = try Self.traffic()
        #expect(try Self.pieces(traffic).count > 6)
        let first = try #require(try Self.pieces(traffic).first)
        #expect(first.record.ahead == 3)
        #expect(try verify(traffic.directory) == [])
    }

    @Test(arguments: [3, 6])
    func `an output that was never completed is none, and no fault`(effects: Int) throws {
        let traffic = try Self.traffic()
        let before = try Self.pieces(traffic).count
        try traffic.pushToAll(4, effectsMax: effects)
        #expect(try Self.pieces(traffic).count == before + effects / 3)
        #expect(try verify(traffic.directory) == [])
    }

    @Test func `a replay that begins between a whole output and the pieces behind it compares them`() throws {
        let traffic = try LoggedTraffic(fileBytesMax: 12 * 1024, budget: .unlimited, effectsPerOutput: 3)
        try traffic.run(pushes: 200)
        try traffic.pushToAll(1)
        let first = try traffic.snapshot()
        try traffic.pushToAll(2)
        for turn in 0..<2 {
            try traffic.run(hosts: 0, knownHosts: 24, pushes: 40, seed: UInt64(8 + turn))
            try traffic.snapshot()
        }
        let removed = try traffic.journal.trim(through: first.map(\.position), loggedBefore: traffic.now + .seconds(1))
        #expect(removed > 0)
        #expect(try verify(traffic.directory) == [])
    }

    @Test(arguments: ["effects", "place", "number"])
    func `a piece that a replay does not give is a fault at its place`(_ damage: String) throws {
        let traffic = try LoggedTraffic(fileBytesMax: 1 << 28, budget: .unlimited, effectsPerOutput: 3)
        try traffic.run(pushes: 20)
        try traffic.pushToAll(1)
        traffic.close()
        let outputs = try LogDirectory(path: traffic.directory).readOutputs(
            Self.partition,
            from: .first,
            outputsMax: 1000
        )
        let pieces = outputs.filter { $0.record.ahead > 0 }
        let record = pieces[1].record
        let changed = OutputRecord(
            through: record.through,
            ahead: damage == "number" ? record.ahead + 1 : record.ahead,
            engineVersion: record.engineVersion,
            runningHash: record.runningHash,
            effects: damage == "effects" ? pieces[0].record.effects : record.effects
        )
        let place = damage == "place" ? pieces[0].position : pieces[1].position
        let entry = OutputEntry(position: place, record: damage == "place" ? record : changed)
        try LogSurgeon(directory: traffic.directory).replace(0, file: 0, with: entry)
        let faults = try verify(traffic.directory)
        #expect(faults.map(\.code) == [.effects])
        #expect(faults.map(\.position) == [place.rawValue])
    }
}
