import APNSWire
import Engine
import Journaling
import Partitions
import TestSupport
import Testing
import WidgetModel
@testable import History

/// A question about one instance replays its host alone, and then the instance has another number than in the gateway: the outputs
/// say which, so that the answer names reloads as hosts were told them.
@Suite(.timeLimit(.minutes(60))) struct WhyNumberTests {
    private static let partition = PartitionID(0)
    private static let hosts = 20

    /// Hosts whose registration reloads their instances, and a push that reloads all of them at once.
    private static func scene(_ outputBytesPerCommit: Int = JournalLimits().outputBytesPerCommit) async throws
        -> OwnerScene
    {
        let scene = try await OwnerScene.started(limits: JournalLimits(outputBytesPerCommit: outputBytesPerCommit))
        for number in 0..<Self.hosts { try await scene.register("host-\(number)", instances: 2) }
        scene.time.pass(.hours(1))
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        _ = try await scene.log.appendToAll(.push(push))
        while try await scene.owners[0].progress().uncommittedEffects > 0 { await Task.yield() }
        try await scene.settle()
        return scene
    }

    private static func trace(_ address: InstanceAddress, in history: any LogHistory) throws -> InstanceTrace {
        try InstanceQuestion(address, since: .epoch).answer(from: history)
    }

    private static let addresses = [0, 1, Self.hosts / 2, Self.hosts - 1].flatMap { number in
        ["a0", "a1"].map { InstanceAddress(host: HostKey("host-\(number)"), instance: InstanceID($0)) }
    }

    /// The outputs of some are as large as one effect, so that one entry has many.
    @Test(arguments: [JournalLimits().outputBytesPerCommit, 1])
    func `a trace names reloads as the stream did`(outputBytesPerCommit: Int) async throws {
        let scene = try await Self.scene(outputBytesPerCommit)
        let outputs = try scene.journal.readOutputs(Self.partition, from: .first, outputsMax: 1000)
        #expect(outputs.count > (outputBytesPerCommit == 1 ? 2 * Self.hosts : 1))
        var renumbered = 0
        for address in Self.addresses {
            let told = scene.handedOn.filter { $0.address == address }.map(\.id)
            let trace = try Self.trace(address, in: scene.journal)
            let found = trace.steps.compactMap { $0.reload?.id }
            #expect(told.count >= 2 && found.map { trace.id(of: $0) } == told, "\(address)")
            #expect(told.allSatisfy { trace.numbers[$0.position] == $0.instance }, "\(address)")
            renumbered += found == told ? 0 : 1
        }
        // Or else nothing would have been looked up.
        #expect(renumbered > 0)
    }

    /// A log that begins with a later output.
    private struct TrimmedOutputs: LogHistory {
        let history: any LogHistory
        let first: OutputPosition

        var format: JournalFormat { self.history.format }

        func head(_ partition: PartitionID) throws(JournalError) -> LogPosition { try self.history.head(partition) }

        func read(
            _ partition: PartitionID,
            from position: LogPosition,
            entriesMax: Int
        ) throws(JournalError) -> [LogEntry] {
            try self.history.read(partition, from: position, entriesMax: entriesMax)
        }

        func readOutputs(
            _ partition: PartitionID,
            from position: OutputPosition,
            outputsMax: Int
        ) throws(JournalError) -> [OutputEntry] {
            try self.history.readOutputs(partition, from: max(position, self.first), outputsMax: outputsMax)
        }
    }

    @Test func `what is trimmed away is left as it is, and the rest is still named`() async throws {
        let scene = try await Self.scene()
        let outputs = try scene.journal.readOutputs(Self.partition, from: .first, outputsMax: 1000)
        let last = try #require(outputs.last)
        let pushed = last.record.through
        for first in [last.position, last.position.next] {
            let history = TrimmedOutputs(history: scene.journal, first: first)
            for address in Self.addresses {
                let told = scene.handedOn.filter { $0.address == address }.map(\.id)
                let trace = try Self.trace(address, in: history)
                for id in told {
                    let isThere = first == last.position && id.position == pushed
                    #expect(trace.numbers[id.position] == (isThere ? id.instance : nil), "\(address)")
                }
                #expect(trace.steps.compactMap { $0.reload?.id.position } == told.map(\.position))
            }
        }
    }

    @Test func `for who may know of one app alone, records name no other, and the log's length is not told`() throws {
        let address = Self.addresses[0]
        var trace = InstanceTrace(address: address, partition: Self.partition, since: .epoch, until: .epoch)
        let rival = HostKey("rival", of: Sports.otherApp)
        let registration = HostRegistration(host: rival, token: Sports.token("rival"), revision: 1, instances: [])
        let own = Sports.registration("host-0", [])
        let records: [Record?] = [
            .settings(Sports.settings), .register(registration), .unregister(HostRemoval(host: rival)),
            .register(own), nil,
        ]
        trace.steps = records.map { record in
            TraceStep(
                at: .epoch,
                position: LogPosition(1),
                record: record,
                answer: nil,
                decisions: [],
                reload: nil,
                served: [],
                ended: [],
                before: nil,
                after: nil
            )
        }
        trace.work = TraceWork(entries: 5, records: 6, bytes: 7, applied: 8, droppedSteps: 9)
        let told = trace.ofOwnApp()
        var settings = Sports.settings
        settings.apps.removeLast()
        #expect(told.steps.map(\.record) == [.settings(settings), nil, nil, .register(own), nil])
        #expect(told.work == TraceWork(droppedSteps: 9))
        let text = String(decoding: told.json.jsonText, as: UTF8.self)
        #expect(!text.contains("rival") && !text.contains(Sports.otherApp.rawValue))
    }

    @Test(arguments: [0, 1, UInt64(1) << 63, .max - 1, .max])
    func `a reload at a position that no log has is left as it is`(position: UInt64) async throws {
        let scene = try await Self.scene()
        var trace = InstanceTrace(address: Self.addresses[0], partition: Self.partition, since: .epoch, until: .epoch)
        let id = ReloadID(partition: Self.partition, position: LogPosition(position), instance: 7, check: 7)
        trace.steps = [
            TraceStep(
                at: .epoch,
                position: LogPosition(position),
                record: nil,
                answer: nil,
                decisions: [],
                reload: nil,
                served: [],
                ended: [id],
                before: nil,
                after: nil
            )
        ]
        try trace.findNumbers(in: scene.journal)
        #expect(trace.id(of: id) == id)
    }
}
