import Engine
import Journaling
import Partitions
import TestSupport
import Testing
import WidgetModel

@Suite struct CommandLogTests {
    /// A registration with so many instances, and its packed size.
    private static func record(_ host: String, instances: Int) -> (record: Record, host: HostKey) {
        let shown = (0..<instances).map { Sports.instance("a\($0)") }
        return (.register(Sports.registration(host, shown)), HostKey(host))
    }

    private static func packedBytes(_ record: Record) -> Int {
        var packed = PackedRecords()
        packed.append { record.encode(into: &$0) }
        return packed.bytes.count
    }

    private static func limits(_ bytes: Int) -> JournalLimits {
        JournalLimits(batchBytesMax: bytes, appendBytesInFlightMax: 2 * bytes)
    }

    /// How many records each entry of a partition has, without the settings'.
    private static func entries(_ scene: OwnerScene, _ partition: UInt16 = 0) throws -> [Int] {
        try scene.journal.read(PartitionID(partition), from: LogPosition(2), entriesMax: 1000).map(\.recordCount)
    }

    /// A log whose settings are in force, reopened with narrow limits.
    private static func narrow(_ bytes: Int, partitions: Int = 1) async throws -> OwnerScene {
        try await OwnerScene.started(
            partitions: partitions,
            limits: Self.limits(max(bytes, Self.packedBytes(.settings(Sports.settings)) * partitions)),
            submissionBytesMax: max(bytes, Self.packedBytes(.settings(Sports.settings)))
        )
    }

    @Test func `no records give no answers and write nothing`() async throws {
        let scene = try await OwnerScene.started()
        #expect(try await scene.log.append([]) == [])
        #expect(try Self.entries(scene) == [])
    }

    @Test func `answers are in the order of the records, over all partitions`() async throws {
        let scene = try await OwnerScene.started(partitions: 4)
        let records = (0..<40).map { Self.record("host-\($0)", instances: $0 % 5) }
        #expect(
            try await scene.log.append(records)
                == (0..<40).map { .registered(RegistrationCounts(added: $0 % 5)) }
        )
        #expect(try (0..<4).map { try Self.entries(scene, $0).count } == [1, 1, 1, 1])
        #expect(try (0..<4).flatMap { try Self.entries(scene, $0) }.reduce(0, +) == 40)
    }

    @Test func `one record for all partitions has an answer from each`() async throws {
        let scene = try await OwnerScene.started(partitions: 3)
        for number in 0..<9 { try await scene.register("host-\(number)") }
        let answers = try await scene.log.appendToAll(.appReload(AppReloadRequest(app: Sports.app)))
        var matched = 0
        for case .appReload(let count) in answers { matched += count }
        #expect(answers.count == 3)
        #expect(matched == 9)
    }

    /// The records are of one size; a submission takes as many as fit it, to the byte.
    @Test(arguments: [(0, [10, 10, 5]), (1, [10, 10, 5]), (-1, [9, 9, 7])] as [(Int, [Int])])
    func `records that are too many for one submission are split at the edge`(spare: Int, expected: [Int]) async throws
    {
        let records = (10..<35).map { Self.record("host-\($0)", instances: 2) }
        let size = Self.packedBytes(records[0].record)
        let bytes = 10 * size + spare
        try #require(bytes > Self.packedBytes(.settings(Sports.settings)))
        let scene = try await Self.narrow(bytes)
        #expect(
            try await scene.log.append(records)
                == Array(repeating: .registered(RegistrationCounts(added: 2)), count: 25)
        )
        #expect(try Self.entries(scene) == expected)
    }

    @Test func `an import that is larger than what may wait goes through`() async throws {
        let scene = try await Self.narrow(4096, partitions: 3)
        let records = (0..<300).map { Self.record("host-\($0)", instances: $0 % 3) }
        #expect(records.reduce(0) { $0 + Self.packedBytes($1.record) } > 3 * 8192)
        #expect(
            try await scene.log.append(records) == (0..<300).map { .registered(RegistrationCounts(added: $0 % 3)) }
        )
        #expect(try (0..<3).flatMap { try Self.entries(scene, $0) }.reduce(0, +) == 300)
    }

    @Test func `one record that is more than the log takes is too large, and nothing is written`() async throws {
        let scene = try await Self.narrow(2048)
        let large = Self.record("large", instances: 200)
        let problem = Problem(
            .tooLarge,
            "this would be a record of \(Self.packedBytes(large.record)) bytes; the limit is 2048"
        )
        await #expect(throws: problem) { try await scene.log.append([Self.record("small", instances: 1), large]) }
        await #expect(throws: problem) { try await scene.log.append(large.record, for: large.host) }
        await #expect(throws: problem) { try await scene.log.appendToAll(large.record) }
        #expect(try Self.entries(scene) == [])
    }

    @Test(arguments: [.unavailable, .full, .unknownOutcome] as [JournalError.Code])
    func `a failed append is told without the store's own words`(code: JournalError.Code) async throws {
        let scene = try await OwnerScene.started()
        scene.journal.failNextAppend(with: JournalError(code, "write of /var/lib/freshet/log.db failed"))
        await #expect(
            throws: Problem(.unavailable, "the log is not available (\(code.rawValue)); send it again")
        ) { try await scene.register("a") }
        #expect(try await scene.register("a") == .registered(RegistrationCounts(added: 1)))
    }

    @Test func `questions are asked of the partition that owns the host, and of all`() async throws {
        let scene = try await OwnerScene.started(partitions: 3)
        for number in 0..<9 { try await scene.register("host-\(number)") }
        let host = HostKey("host-4")
        #expect(try await scene.log.ask(HostQuestion(host))?.revision == 1)
        #expect(try await scene.log.askAll(TotalsQuestion()).map(\.hosts).reduce(0, +) == 9)
        #expect(await scene.log.progress().map(\.partition) == (0..<3).map { PartitionID($0) })
    }
}
