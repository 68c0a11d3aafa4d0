import Clustering
import Engine
import Ingest
import Journaling
import Serving
import TestSupport
import Testing
import WidgetModel

@testable import Partitions

/// A node's work with partitions of other nodes.
@Suite struct OtherNodesTests {
    private static let (own, other) = (NodeScene.own, NodeScene.other)

    /// Some host of a partition.
    private static func host(of partition: PartitionID, _ name: String = "host") -> String {
        (0...).lazy.map { "\(name)-\($0)" }.first { PartitionID(of: HostKey($0), among: 2) == partition }!
    }

    private static func registration(_ host: String, revision: UInt64 = 1) -> HostRegistration {
        Sports.registration(host, revision: revision, [Sports.instance("a")])
    }

    private static func register(_ host: String, at node: MemoryNode) async throws -> RecordAnswer.Result {
        try await node.log.append(.register(Self.registration(host)), for: HostKey(host))
    }

    private static func problem<Value>(_ body: () async throws(Problem) -> Value) async -> Problem? {
        do throws(Problem) {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `what belongs to another node is appended and asked at any`() async throws {
        let scene = try await NodeScene()
        let (here, there) = (Self.host(of: Self.own), Self.host(of: Self.other))
        for host in [here, there] {
            #expect(try await Self.register(host, at: scene.first) == .registered(RegistrationCounts(added: 1)))
            let views = [
                try await scene.first.log.ask(HostQuestion(HostKey(host))),
                try await scene.second.log.ask(HostQuestion(HostKey(host))),
            ]
            #expect(views[0]?.host == HostKey(host) && views[0] == views[1])
        }
        let stale = try await scene.first.log.append(
            .register(Self.registration(there, revision: 0)),
            for: HostKey(there)
        )
        #expect(stale == .staleRevision(current: 1))
        for node in [scene.first, scene.second] {
            #expect(try await node.log.askAll(TotalsQuestion()).map(\.hosts) == [1, 1])
            #expect(await node.log.progressOfAll().map(\.partition) == [Self.own, Self.other])
            #expect(await node.log.progress().count == 1)
        }
    }

    @Test func `what is for all is in the log once, and answered by all`() async throws {
        let scene = try await NodeScene()
        for host in [Self.host(of: Self.own), Self.host(of: Self.other)] {
            _ = try await Self.register(host, at: scene.first)
        }
        let order = OperatorOrder(.grant(3), .app(Sports.app))
        #expect(try await scene.first.log.carryOut(order) == 2)
        #expect(try await scene.second.log.carryOut(order) == 2)
        for partition in [Self.own, Self.other] {
            #expect(try scene.entries(partition) == 4, "the settings, a registration, and two orders")
        }
    }

    @Test func `pushes are counted in all partitions, and in no fewer`() async throws {
        let scene = try await NodeScene(question: .milliseconds(1), answer: .milliseconds(1))
        var push = Sports.push(1, to: "all")
        push.target = .app(Sports.app)
        scene.nodes.silence(scene.second.node)
        let problem = await Self.problem { () async throws(Problem) in
            try await scene.first.log.matched(push, atMost: 5)
        }
        #expect(problem?.code == .partitionAway && problem?.retryAfter == 1)
        let whole = try await NodeScene()
        for host in [Self.host(of: Self.own), Self.host(of: Self.other)] {
            _ = try await Self.register(host, at: whole.first)
        }
        #expect(try await whole.first.log.matched(push, atMost: 5).counts == [1, 1])
        #expect(try await whole.second.log.dryRun(push, decidedMax: 5).matched == 2)
    }

    @Test func `what is merged goes on without a partition that does not answer, and names it`() async throws {
        let scene = try await NodeScene(question: .milliseconds(1))
        scene.nodes.silence(scene.second.node)
        let coverage = Coverage(of: 2)
        let log = scene.first.log.noting(coverage)
        #expect(try await log.askEach(TotalsQuestion()).map(\.partition) == [Self.own])
        #expect(await log.progressOfAll().map(\.partition) == [Self.own])
        #expect(try await log.walk(HostList(of: nil), from: nil, limit: 9).rows.isEmpty)
        #expect(coverage.json == (try json(#"{"answered":1,"of":2,"missing":[1]}"#)))
        for log in [log, scene.first.log] {
            let problem = await Self.problem { () async throws(Problem) in try await log.askAll(TotalsQuestion()) }
            #expect(problem?.code == .partitionAway && problem?.detail.contains("node-2") == true)
        }
        scene.nodes.hear(scene.second.node)
        let whole = Coverage(of: 2)
        let all = try await NodeScene().first.log.noting(whole).askEach(TotalsQuestion())
        #expect(all.count == 2 && whole.json == nil)
    }

    @Test func `a partition that moves while it is asked answers where it is then`() async throws {
        let scene = try await NodeScene()
        let host = Self.host(of: Self.other)
        _ = try await Self.register(host, at: scene.first)
        scene.nodes.silence(scene.second.node)
        let asking = Task { try await scene.first.log.ask(HostQuestion(HostKey(host))) }
        let counting = Task { try await scene.first.log.askAll(TotalsQuestion()) }
        try await scene.move()
        #expect(try await asking.value?.host == HostKey(host))
        #expect(try await counting.value.map(\.hosts) == [0, 1])
        // And the node that has nothing any more asks for all of it.
        scene.nodes.hear(scene.second.node)
        #expect(try await scene.second.log.askAll(TotalsQuestion()).map(\.hosts) == [0, 1])
    }

    @Test func `what was logged before its owner died is answered by the next, and done once`() async throws {
        let scene = try await NodeScene()
        let host = Self.host(of: Self.other)
        scene.nodes.silence(scene.second.node)
        let registering = Task { try await Self.register(host, at: scene.first) }
        let ordering = Task { try await scene.first.log.carryOut(OperatorOrder(.grant(1), .app(Sports.app))) }
        // Both are in the log, and the owner has applied them or not.
        while try scene.entries(Self.other) < 3 { await Task.yield() }
        try await scene.move()
        #expect(try await registering.value == .registered(RegistrationCounts(added: 1)))
        #expect(try await ordering.value <= 1)
        #expect(try scene.entries(Self.other) == 3)
    }

    @Test func `a record in the log without an answer says that its outcome is not known`() async throws {
        let scene = try await NodeScene(answer: .milliseconds(1))
        let host = Self.host(of: Self.other)
        scene.nodes.silence(scene.second.node)
        let before = try scene.entries(Self.other)
        let problem = await Self.problem { () async throws(Problem) in
            try await scene.first.log.append(.register(Self.registration(host)), for: HostKey(host))
        }
        #expect(problem?.code == .partitionAway && problem?.isOutcomeUnknown == true && problem?.retryAfter == 1)
        #expect(problem?.json["outcome"] == .string("unknown"))
        #expect(try scene.entries(Self.other) == before + 1)
        // It was carried out, and the same again changes nothing.
        scene.nodes.hear(scene.second.node)
        let again = try await scene.second.log.append(.register(Self.registration(host)), for: HostKey(host))
        #expect(again == .registered(RegistrationCounts(unchanged: 1)))
    }

    @Test func `an answer that is not kept is not made up`() async throws {
        let scene = try await NodeScene()
        let place = RecordPlace(position: LogPosition(1), index: 7)
        #expect(try await scene.second.owners[1].answers(at: [place], within: .minutes(1)) == [nil])
        var recent = RecentAnswers()
        for index in 0...RecentAnswers.countMax {
            recent.keep(.signalled, at: RecordPlace(position: LogPosition(9), index: index))
        }
        #expect(recent[RecordPlace(position: LogPosition(9), index: 0)] == nil)
        #expect(recent[RecordPlace(position: LogPosition(9), index: 1)] == .signalled)
        #expect(recent[RecordPlace(position: LogPosition(9), index: RecentAnswers.countMax)] == .signalled)
    }

    @Test func `a node with all partitions that is cut off does not know all tokens`() async throws {
        let scene = try await NodeScene()
        try await scene.move()
        let (log, directory) = (scene.first.log, scene.first.directory)
        #expect(directory.isWhole)
        scene.nodes.cutOff(scene.first.node)
        // So a push to an unknown token is not judged at once, and then not refused for good.
        #expect(!directory.isWhole)
        #expect(await log.lookups([Sports.token("unknown")], in: directory) == [.failure(.cutOff)])
        scene.nodes.connect(scene.first.node)
        #expect(directory.isWhole)
        #expect(await log.lookups([Sports.token("unknown")], in: directory) == [.success(.unknown)])
    }

    @Test func `tokens are found wherever they are, and are unknown only if all say so`() async throws {
        let scene = try await NodeScene()
        let (here, there) = (Self.host(of: Self.own), Self.host(of: Self.other))
        _ = try await Self.register(here, at: scene.first)
        _ = try await Self.register(there, at: scene.second)
        let removal = HostRemoval(host: HostKey(there), token: Sports.token(there))
        let tokens = [here, there, "nobody"].map { Sports.token($0) }
        func lookups(_ node: MemoryNode) async -> [Result<TokenLookup, Problem>] {
            await node.log.lookups(tokens, in: node.directory)
        }
        func bound(_ host: String, _ partition: PartitionID) -> Result<TokenLookup, Problem> {
            .success(.bound(TokenBinding(host: HostKey(host), instance: nil, partition: partition)))
        }
        for node in [scene.first, scene.second] {
            let found = await lookups(node)
            #expect(found == [bound(here, Self.own), bound(there, Self.other), .success(.unknown)])
        }
        let asked = scene.nodes.asked
        _ = await lookups(scene.first)
        #expect(scene.nodes.asked == asked + 1, "one question for all of them")
        // A node that is cut off may have lost a partition, and another one may have registered there what is unknown here.
        scene.nodes.cutOff(scene.first.node)
        let uncertain = await lookups(scene.first)
        #expect(uncertain == [bound(here, Self.own), bound(there, Self.other), .failure(.cutOff)])
        scene.nodes.connect(scene.first.node)
        scene.nodes.silence(scene.second.node)
        let found = await scene.first.impatientLog.lookups(tokens, in: scene.first.directory)
        #expect(found[0] == bound(here, Self.own))
        for result in found.dropFirst() {
            #expect(throws: Problem.self) { try result.get() }
        }
        scene.nodes.hear(scene.second.node)
        _ = try await scene.second.log.append(.unregister(removal), for: HostKey(there))
        let removed = await lookups(scene.first)
        guard case .success(.removed(Sports.app, .unregistered, _)) = removed[1] else {
            Issue.record("\(removed[1])")
            return
        }
    }

    @Test func `a question as large as an import is asked in pieces`() async throws {
        let scene = try await NodeScene()
        let there = (0..<40).map { Self.host(of: Self.other, "host-\($0)") }
        for host in there { _ = try await Self.register(host, at: scene.second) }
        // 30,000 tokens of 33 bytes each are more than one question may have.
        let unknown = (0..<30_000).map { number in
            DeviceToken(bytes: (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) })
        }
        let tokens = there.map { Sports.token($0) } + unknown
        let asked = scene.nodes.asked
        let found = await scene.first.log.lookups(tokens, in: scene.first.directory)
        #expect(scene.nodes.asked == asked + 2)
        let hosts = found.prefix(there.count).map { result in
            if case .success(.bound(let binding)) = result { binding.host.id.rawValue } else { "\(result)" }
        }
        #expect(hosts == there)
        let isUnknown = found.dropFirst(there.count).allSatisfy { $0 == .success(.unknown) }
        #expect(isUnknown)
        // Each of these has 100,000 bytes of a configuration.
        let registrations = (0..<25).map { number in
            let team = String(repeating: "t", count: 100_000)
            return Sports.registration("large-\(number)", [Sports.instance("a", team: team)])
        }
        let additions = try await scene.first.log.ask(Self.other, RegistrationsQuestion(registrations))
        #expect(additions.count == 25)
        // One that is asked alone, and a part of those that do not answer, fails all.
        scene.nodes.silence(scene.second.node)
        let silence = await scene.first.impatientLog.lookups(tokens, in: scene.first.directory)
        #expect(silence.allSatisfy { if case .failure = $0 { true } else { false } })
    }

    @Test func `a node with several partitions is asked once, and for each alone where it has lost one`() async throws {
        let (nodes, time) = (MemoryNodes(), FakeTime())
        let journal = MemoryJournal(partitions: 4, clock: { time.wall })
        var limits = OtherNodes.Limits()
        limits.question = .minutes(5)
        let first = MemoryNode(1, journal, nodes, time, limits: limits)
        let second = MemoryNode(2, journal, nodes, time, limits: limits)
        let (own, others) = (PartitionID(0), (1..<4).map { PartitionID(UInt16($0)) })
        try await first.take(own)
        for partition in others { try await second.take(partition) }
        #expect(try await first.log.askAll(TotalsQuestion()).count == 4)
        #expect(nodes.asked == 1)

        // It still counts as the owner of one that it has given up, until another takes that.
        await second.give(others[2])
        async let results = first.log.results(of: others, TotalsQuestion())
        while nodes.asked < 5 { await Task.yield() }
        try await first.take(others[2])
        for (partition, result) in await results {
            #expect(throws: Never.self, "\(partition)") { try result.get() }
        }
    }

    @Test func `a question that is not understood is refused, and one about another's partition is sent on`()
        async throws
    {
        let scene = try await NodeScene()
        let answers = OwnerAnswers(of: scene.first.owners)
        let unknown = OwnerQuestion.engines([Self.own], [0xFE]).encoded
        for bytes in [OwnerQuestion.engine([0xFE]).encoded, unknown, [99], []] {
            let answer = await answers.answer(NodeQuestion(about: Self.own, bytes, within: .minutes(1)))
            guard case .answer(let bytes) = answer, case .problem(let problem) = try OwnerAnswer(encoded: bytes) else {
                Issue.record("\(answer)")
                continue
            }
            #expect(problem.code == .unavailable && problem.detail.contains("older program"))
        }
        let question = OwnerQuestion.engine(TotalsQuestion().bytes).encoded
        for partition in [Self.other, PartitionID(9)] {
            let answer = await answers.answer(NodeQuestion(about: partition, question, within: .minutes(1)))
            #expect(answer == .away)
            let several = OwnerQuestion.engines([Self.own, partition], TotalsQuestion().bytes).encoded
            #expect(await answers.answer(NodeQuestion(about: Self.own, several, within: .minutes(1))) == .away)
        }
    }

    @Test func `each node forgets the history of the partitions that it has, and says why it cannot`() async throws {
        let scene = try await NodeScene()
        let own = ForgottenHistory(partitions: [Self.own], files: 2)
        scene.second.forgetHistory.set { ForgottenHistory(partitions: [Self.other], files: 3) }
        #expect(try await scene.first.log.forgetHistory { own } == 5)

        scene.second.forgetHistory.set { throw Problem(.unavailable, "the disk is full") }
        let reason = await #expect(throws: Problem.self) { try await scene.first.log.forgetHistory { own } }
        #expect(reason?.detail == "the disk is full")
        // It has moved while it was asked for.
        scene.second.forgetHistory.set { ForgottenHistory(partitions: [], files: 0) }
        let moved = await #expect(throws: Problem.self) { try await scene.first.log.forgetHistory { own } }
        #expect(moved?.code == .partitionAway && moved?.retryAfter == Problem.awaySeconds)
        // One that has no place for snapshots.
        scene.second.forgetHistory.set(nil)
        let silent = await #expect(throws: Problem.self) { try await scene.first.impatientLog.forgetHistory { own } }
        #expect(silent?.code == .partitionAway)
    }
}
