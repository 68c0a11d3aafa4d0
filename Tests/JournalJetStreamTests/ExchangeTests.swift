#if JetStream
import BrokerSupport
import Clustering
import JournalJetStream
import Journaling
import Synchronization
import Testing
import WidgetModel

/// Questions from node to node over a real broker.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"))
struct ExchangeTests {
    /// A node with a connection of its own, that says what it is asked for.
    private final class Node: Sendable {
        let node: ClusterNode
        let exchange: JetStreamExchange
        private let journal: JetStreamJournal
        private let held = Mutex<[CheckedContinuation<Void, Never>]>([])

        init(
            _ number: Int,
            _ harness: Harness,
            limits: JetStreamExchange.Limits = JetStreamExchange.Limits()
        ) throws {
            self.node = ClusterNode(
                name: NodeName("node-\(number)")!,
                incarnation: Incarnation(startedAt: Harness.now(), number: .random(in: .min ... .max)),
                address: "here",
                rules: 1
            )
            self.journal = try Harness.open(harness.configuration)
            self.exchange = self.journal.makeExchange(limits: limits)
            try self.exchange.answer(as: self.node) { [weak self] question in
                guard let self else { return .silence }
                switch question.bytes.first {
                case 0: return .away
                case 1: return .answer(Array(repeating: 7, count: Self.count(question.bytes)))
                case 2: await withCheckedContinuation { held in self.held.withLock { $0.append(held) } }
                default: break
                }
                return .answer(Array(question.bytes.reversed()))
            }
        }

        /// A question that asks for an answer of `count` bytes.
        static func asking(for count: Int) -> [UInt8] {
            [1] + (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
        }
        private static func count(_ bytes: [UInt8]) -> Int {
            bytes.dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) }
        }

        func ask(_ other: Node, _ bytes: [UInt8], within time: Interval = .minutes(5)) async -> NodeAnswer {
            await self.exchange.ask(other.node, NodeQuestion(about: PartitionID(3), bytes, within: time))
        }

        /// Asks until the other one hears: its subscription may be on its way.
        func reach(_ other: Node) async {
            while await self.ask(other, [9], within: .milliseconds(200)) == .silence { await Task.yield() }
        }

        var holds: Int { self.held.withLock { $0.count } }
        func letGo() {
            let held = self.held.withLock { held in
                defer { held = [] }
                return held
            }
            for continuation in held { continuation.resume() }
        }

        func close() {
            self.exchange.close()
            self.journal.close()
        }
    }

    @Test func `a node answers another one, in as many messages as it takes`() async throws {
        let harness = try Harness(try Brokers())
        let (first, second) = (try Node(1, harness), try Node(2, harness))
        await first.reach(second)
        await second.reach(first)
        #expect(await first.ask(second, [4, 5, 6]) == .answer([6, 5, 4]))
        #expect(await second.ask(first, [4, 5]) == .answer([5, 4]))
        #expect(await first.ask(second, [0]) == .away)
        for count in [0, 1, 524_288, 524_289, 3_000_000] {
            let answer = await first.ask(second, Node.asking(for: count))
            #expect(answer == .answer(Array(repeating: 7, count: count)), "\(count)")
        }
        let long = [UInt8](repeating: 9, count: 999_999)
        #expect(await first.ask(second, long) == .answer(long))
        #expect(await first.ask(second, long + [9, 9]) == .tooLong)
        let all = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                let bytes = [9, UInt8(number)]
                group.addTask { await first.ask(second, bytes) == .answer([UInt8(number), 9]) }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(all)
        first.close()
        second.close()
    }

    /// Waits until a node holds so many questions.
    private static func awaitHeld(_ count: Int, by node: Node) async {
        while node.holds < count { await Task.yield() }
    }

    @Test func `a node answers as many questions at once as it may`() async throws {
        let harness = try Harness(try Brokers())
        var limits = JetStreamExchange.Limits()
        limits.answeredMax = 2
        let (first, second) = (try Node(1, harness), try Node(2, harness, limits: limits))
        await first.reach(second)
        async let one = first.ask(second, [2, 1])
        async let two = first.ask(second, [2, 2])
        await Self.awaitHeld(2, by: second)
        #expect(await first.ask(second, [9]) == .busy)
        second.letGo()
        #expect(await one == .answer([1, 2]))
        #expect(await two == .answer([2, 2]))
        #expect(await first.ask(second, [9]) == .answer([9]))
        first.close()
        second.close()
    }

    @Test func `a node has as many questions under way as it may`() async throws {
        let harness = try Harness(try Brokers())
        var limits = JetStreamExchange.Limits()
        limits.askedMax = 2
        let (first, second) = (try Node(1, harness, limits: limits), try Node(2, harness))
        await first.reach(second)
        async let one = first.ask(second, [2, 1])
        async let two = first.ask(second, [2, 2])
        await Self.awaitHeld(2, by: second)
        #expect(await first.ask(second, [2, 3]) == .busy)
        #expect(second.holds == 2)
        second.letGo()
        #expect(await one == .answer([1, 2]))
        #expect(await two == .answer([2, 2]))
        #expect(await first.ask(second, [9]) == .answer([9]))
        first.close()
        second.close()
    }

    @Test func `an answer may be so long, for the node that gives it and for the one that asked`() async throws {
        let harness = try Harness(try Brokers())
        var (short, long) = (JetStreamExchange.Limits(), JetStreamExchange.Limits())
        short.answerBytesMax = 1000
        // Two messages.
        long.answerBytesMax = 600_000
        let nodes = [try Node(1, harness, limits: long), try Node(2, harness), try Node(3, harness, limits: short)]
        for node in nodes.dropFirst() { await nodes[0].reach(node) }
        #expect(await nodes[0].ask(nodes[1], Node.asking(for: 600_000)) == .answer(Array(repeating: 7, count: 600_000)))
        #expect(await nodes[0].ask(nodes[1], Node.asking(for: 600_001)) == .silence)
        #expect(await nodes[0].ask(nodes[2], Node.asking(for: 1000)) == .answer(Array(repeating: 7, count: 1000)))
        #expect(await nodes[0].ask(nodes[2], Node.asking(for: 1001)) == .tooLong)
        for node in nodes { node.close() }
    }

    @Test func `a node that is gone is known to be at once, and one that closes waits for no answer`() async throws {
        let harness = try Harness(try Brokers())
        let (first, second, third) = (try Node(1, harness), try Node(2, harness), try Node(3, harness))
        await first.reach(second)
        await third.reach(second)
        async let one = first.ask(second, [2])
        await Self.awaitHeld(1, by: second)
        first.close()
        #expect(await one == .silence)
        #expect(await first.ask(second, [9]) == .busy)
        // One that ends with a question does not answer it.
        async let two = third.ask(second, [2], within: .milliseconds(500))
        await Self.awaitHeld(2, by: second)
        second.close()
        #expect(await two == .silence)
        // In less than the minutes that the question has.
        #expect(await third.ask(second, [9]) == .silence)
        second.letGo()
        third.close()
    }
}
#endif
