import Engine
import Gateway
import Journaling
import Ownership
import Serving
import Synchronization
import TestSupport
import Testing
import WidgetModel

/// A host that comes back to any node with any place that any node gave it.
@Suite struct StreamResumeTests {
    /// A partition's log, of which each node reads as much as it has got round to.
    private final class Log: Sendable {
        struct State {
            var outputs: [OutputEntry] = []
            /// The first one that is not let go of.
            var first: UInt64 = 1
            /// The reloads that have not been acknowledged.
            var outstanding: [ReloadEffect] = []
            var position = LogPosition.start
        }

        let state = Mutex(State())

        /// Applies an entry that brings reloads of hosts, and commits it as one output.
        func decide(_ hosts: [String]) -> CommittedEffects {
            self.state.withLock { state in
                state.position = state.position.next
                let reloads = hosts.enumerated().map { index, host in
                    Sports.reload(host, "i\(index)", position: state.position.rawValue)
                }
                state.outstanding += reloads
                let output = CommittedEffects(
                    reloads.map { .reload($0) },
                    at: OutputPosition(UInt64(state.outputs.count) + 1)
                )
                var writer = ByteWriter()
                writer.write(each: output.effects) { $1.encode(into: &$0) }
                let record = OutputRecord(
                    through: state.position,
                    engineVersion: 1,
                    runningHash: 0,
                    effects: writer.bytes
                )
                state.outputs.append(OutputEntry(position: output.position, record: record))
                return output
            }
        }

        /// The owner's answer to the question for outstanding reloads.
        func backlog(of host: HostKey) -> (reloads: [ReloadEffect], through: LogPosition) {
            self.state.withLock { state in (state.outstanding.filter { $0.host == host }, state.position) }
        }
    }

    /// One node's reading of the log, when the test says so.
    private final class Reading: OutputFollowing {
        private struct Session {
            var next: OutputPosition?
            let take: @Sendable (OutputNews) -> Bool
        }

        private let log: Log
        private let session = Mutex<Session?>(nil)

        init(_ log: Log) { self.log = log }

        func followOutputs(
            _ partition: PartitionID,
            from position: OutputPosition?,
            _ take: @escaping @Sendable (OutputNews) -> Bool
        ) {
            self.session.withLock { $0 = Session(next: position, take: take) }
        }

        /// - Returns: Whether there may be more.
        func step() -> Bool {
            guard let session = self.session.withLock({ $0 }), session.take(.quiet) else { return false }
            let (next, entry) = self.log.state.withLock { state in
                let newest = UInt64(state.outputs.count)
                let next = max(session.next?.rawValue ?? (newest > 3 ? newest - 2 : 1), state.first)
                return (next, next <= newest ? state.outputs[Int(next) - 1] : nil)
            }
            let isBegun = session.next?.rawValue == next
            self.session.withLock { $0?.next = OutputPosition(isBegun && entry != nil ? next + 1 : next) }
            guard isBegun else { return session.take(.begins(at: OutputPosition(next))) }
            return entry.map { session.take(.output($0)) } ?? false
        }
    }

    private final class Node: Sendable {
        let streams: HostStreams
        let feeds: EffectFeeds
        let reading: Reading

        init(_ log: Log, history: Int) {
            var limits = HostStreams.Limits()
            limits.historyMax = history
            let format = JournalFormat(journalID: "one", partitions: 1, createdAt: Sports.start)
            let streams = HostStreams(limits: limits, of: format)
            self.streams = streams
            self.reading = Reading(log)
            self.feeds = EffectFeeds(
                partitions: 1,
                self.reading,
                EffectFeeds.Sinks(begin: { streams.begin($0, at: $1) }, publish: { streams.publish($1, of: $0) })
            )
            self.feeds.follow()
            while self.reading.step() {}
        }
    }

    private static let host = HostKey("a")

    private struct Run {
        let log = Log()
        let nodes: [Node]
        var luck: SplitMix64
        var owner: Int?
        /// Every place that the host was ever given, and what it had been told by then.
        var places: [String] = []
        var had: Set<ReloadID> = []
        var acknowledged: Set<ReloadID> = []

        init(_ seed: UInt64) {
            self.luck = SplitMix64(seed: seed)
            let history = [0, 3, 100][Int(self.luck.next() % 3)]
            self.nodes = [Node(self.log, history: history), Node(self.log, history: history)]
        }

        mutating func move(to next: Int?) {
            if let owner = self.owner { self.nodes[owner].feeds.takeNews(.ends, of: PartitionID(0)) }
            self.owner = next
            let newest = self.log.state.withLock { UInt64($0.outputs.count) }
            guard let next else { return }
            let behind = newest == 0 ? nil : OutputPosition(newest)
            self.nodes[next].feeds.takeNews(.begins(behind: behind), of: PartitionID(0))
        }

        mutating func decide() {
            var hosts: [String] = []
            for host in ["a", "b"] where self.luck.chance(2, in: 3) { hosts.append(host) }
            let output = self.log.decide(hosts)
            // An owner that dies now has told no stream.
            guard let owner = self.owner, !self.luck.chance(1, in: 20) else { return self.move(to: nil) }
            self.nodes[owner].feeds.takeNews(.committed(output), of: PartitionID(0))
        }

        mutating func acknowledge() {
            let open = self.log.state.withLock { state in state.outstanding.map(\.id).filter(self.had.contains) }
            guard let id = open.first else { return }
            self.acknowledged.insert(id)
            self.log.state.withLock { state in
                state.position = state.position.next
                state.outstanding.removeAll { $0.id == id }
            }
        }

        /// The host connects to a node, is told the outstanding reloads, and sees the events that come while the others
        /// go on.
        mutating func connect() async throws {
            let node = self.nodes[Int(self.luck.next() % 2)]
            let last = self.luck.chance(4, in: 5) ? self.places.randomElement(using: &self.luck) : nil
            let stream = try node.streams.subscribe(.host(StreamResumeTests.host), after: last)
            if self.luck.chance(1, in: 2) { self.decide() }
            let (reloads, through) = self.log.backlog(of: StreamResumeTests.host)
            let own = [(partition: PartitionID(0), position: through)]
            let known = OfferedReloads(own, notBefore: stream.asOf)
            let offered = try #require(known)
            if case .events(let events) = stream.missed {
                let missed = Set(
                    events.compactMap { event -> ReloadID? in
                        if case .reload(let reload) = event { reload.id } else { nil }
                    }
                )
                for reload in reloads where stream.isRepeated(reload, missed) {
                    #expect(self.had.contains(reload.id), "a reload is told as one that was told before, and was not")
                }
            }
            self.had.formUnion(reloads.map(\.id))
            var seen = Set(reloads.map(\.id))
            self.places.append(stream.start.description)
            for _ in 0..<self.luck.next() % 6 { self.decide() }
            while node.reading.step() {}
            node.streams.beat()
            node.streams.cancel(stream)
            for await event in stream.events {
                switch event {
                case .heartbeat(let cursor): self.places.append(cursor.description)
                case .event(let event, let cursor):
                    if let cursor { self.places.append(cursor.description) }
                    guard case .reload(let reload) = event, offered.lacks(event) else { continue }
                    #expect(!self.acknowledged.contains(reload.id), "an acknowledged reload was told")
                    #expect(seen.insert(reload.id).inserted, "a reload was told twice")
                }
            }
            self.had.formUnion(seen)
            let outstanding = self.log.backlog(of: StreamResumeTests.host).reloads.map(\.id)
            #expect(seen.isSuperset(of: outstanding), "a reload was not told")
        }
    }

    @Test(arguments: Seeds.from(1, count: 60))
    func `each outstanding reload is told, and none that was acknowledged`(seed: UInt64) async throws {
        var run = Run(seed)
        run.move(to: 0)
        for _ in 0..<60 {
            switch run.luck.next() % 10 {
            case 0...2: run.decide()
            case 3, 4: run.acknowledge()
            case 5: run.move(to: [0, 1, nil][Int(run.luck.next() % 3)])
            case 6: for node in run.nodes where run.luck.chance(1, in: 2) { _ = node.reading.step() }
            default: try await run.connect()
            }
        }
        try await run.connect()
    }
}
