import Dispatch
import HTTPTransport
import Journaling
import NIOCore
import NIOPosix
import OperatorAPI
import Partitions
import Testing
import WidgetModel

/// How far partitions are behind their logs.
@Suite(.timeLimit(.minutes(60))) struct PartitionLagTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private static func at(_ milliseconds: Int64) -> NIODeadline { Self.start + .milliseconds(milliseconds) }

    /// Entries and milliseconds.
    private static func lag(_ work: PartitionWork, at milliseconds: Int64) -> [Int64] {
        let lag = work.lag(at: Self.at(milliseconds))
        return [Int64(lag.entries), lag.time.milliseconds]
    }

    @Test func `a partition is as far behind as its oldest entry has waited`() {
        let work = PartitionWork(PartitionID(0))
        #expect(Self.lag(work, at: 0) == [0, 0])
        for (position, milliseconds) in [(1, 0), (2, 99), (3, 100), (5, 250)] as [(UInt64, Int64)] {
            work.noteArrival(LogPosition(position), at: Self.at(milliseconds))
        }
        #expect(Self.lag(work, at: 300) == [5, 300])
        // The second came with the first, and waits as long while it waits.
        work.advance(to: LogPosition(1), PartitionWork.Turn())
        #expect(Self.lag(work, at: 300) == [4, 300])
        work.advance(to: LogPosition(2), PartitionWork.Turn())
        #expect(Self.lag(work, at: 300) == [3, 200])
        work.advance(to: LogPosition(4), PartitionWork.Turn())
        #expect(Self.lag(work, at: 300) == [1, 50])
        work.advance(to: LogPosition(5), PartitionWork.Turn())
        #expect(Self.lag(work, at: 90_000) == [0, 0])
        // An entry whose arrival is told late is applied already.
        work.noteArrival(LogPosition(5), at: Self.at(90_000))
        work.advance(to: LogPosition(9), PartitionWork.Turn())
        work.noteArrival(LogPosition(8), at: Self.at(90_000))
        #expect(Self.lag(work, at: 99_000) == [0, 0])
        #expect(work.lag(at: Self.at(99_000)).announced == LogPosition(9))
    }

    @Test func `it is known while the partition's loop does something else`() async throws {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let scene = try await OwnerScene.started(loops: loops)
        try await scene.settle()
        let later = Readiness(scene.work.partitions) { .now() + .seconds(31) }
        #expect(!later.missing.contains(.lag))
        let gate = DispatchSemaphore(value: 0)
        loops.next().execute { gate.wait() }
        async let answer = scene.register("phone")
        while scene.work.partitions[0].lag(at: .now()).entries == 0 { await Task.yield() }
        #expect(scene.work.partitions[0].lag(at: .now()).entries == 1)
        #expect(later.missing.contains(.lag))
        gate.signal()
        _ = try await answer
        try await scene.settle()
        #expect(scene.work.partitions[0].lag(at: .now()).entries == 0)
        #expect(!later.missing.contains(.lag))
        try await loops.shutdownGracefully()
    }

    @Test func `stats, lists of partitions, metrics and readiness say it`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.settle()
        let applied = try await scene.scene.owners[1].progress().applied
        let newest = LogPosition(applied.rawValue + 3)
        scene.scene.work.partitions[1].noteArrival(newest, at: .now() - .seconds(100))
        for path in ["/v1/stats", "/v1/partitions", "/readyz"] {
            let json = try await scene.send("GET", path).json
            guard case .array(let partitions) = json["partitions"], partitions.count == 2 else {
                Issue.record("\(path) has no partitions")
                continue
            }
            #expect(partitions.map { $0["lag"] } == [.int(0), .int(3)], "\(path)")
            guard case .double(let seconds) = partitions[1]["lagSeconds"] else {
                Issue.record("\(path): \(partitions)")
                continue
            }
            #expect(seconds >= 100)
        }
        #expect(try await scene.watch.totals().lag == 3)
        let metrics = await scene.routes.respond(to: OperatorScene.request("GET", "/metrics"))
        guard case .bytes(let bytes) = metrics.body else {
            Issue.record("no metrics")
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains(#"freshet_log_lag_entries{partition="0"} 0"#))
        #expect(lines.contains(#"freshet_log_lag_entries{partition="1"} 3"#))
        #expect(lines.contains(#"freshet_ready_condition{condition="partitionsCurrent"} 0"#))
        let prefix = #"freshet_log_lag_seconds{partition="1"} "#
        let seconds = lines.first { $0.hasPrefix(prefix) }.flatMap { Double($0.dropFirst(prefix.count)) }
        #expect(seconds ?? 0 >= 100)
    }
}
