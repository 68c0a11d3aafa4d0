import Engine
import IntentMatching
import Journaling
import NIOCore
import Ownership
import TestSupport
import Testing
import WidgetModel
@testable import Partitions

/// The matches of a push are found in slices: others are answered in between, and nothing is applied.
@Suite struct OwnerSearchTests {
    private static let hosts = 3000

    /// A push whose pattern is as costly as one may be, and is judged on the id of each host.
    private static let costly: PushRecord = {
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        let others = (0..<490).map { MatchAtom.suffix(UTF8Text("-x\($0)")) }
        push.pattern = .field(.host, [.suffix("7")] + others)
        return push
    }()

    private static func populated() async throws -> OwnerScene {
        let scene = try await OwnerScene.started()
        var builder = SubmissionBuilder(partitions: 1)
        for host in (0..<self.hosts).map({ HostKey("host-\($0)") }) {
            _ = builder.append(
                .register(Sports.registration(host.id.rawValue, [Sports.instance("a")])),
                for: host
            )
        }
        for submission in builder.takeSubmissions() { scene.journal.append(submission) { _ in } }
        while try await scene.owners[0].ask(TotalsQuestion()).instances < self.hosts { await Task.yield() }
        return scene
    }

    private static func removal(_ host: String) -> Submission {
        var builder = SubmissionBuilder(partitions: 1)
        _ = builder.append(.unregister(HostRemoval(host: HostKey(host))), for: HostKey(host))
        return builder.takeSubmissions()[0]
    }

    @Test func `others are answered while a search is under way, and nothing is applied`() async throws {
        let scene = try await Self.populated()
        let owner = scene.owners[0]
        let found = owner.loop.makePromise(of: DryRunView.self)
        let isOver = try await owner.loop.submit {
            // Appended first, but applied when the search is over.
            scene.journal.append(Self.removal("host-7")) { _ in }
            owner.beginSearch(MatchQuestion(Self.costly), found)
            let isOver = owner.loop.makePromise(of: Bool.self)
            owner.loop.execute { isOver.succeed(owner.state.value.searches.isEmpty) }
            return isOver.futureResult
        }.flatMap { $0 }.get()
        #expect(!isOver)
        let answer = try await found.futureResult.get()
        #expect(answer.matched == 300)
        // Each search lets some of the log be applied.
        var searches = 0
        while try await owner.ask(HostQuestion(HostKey("host-7"))) != nil {
            _ = try await owner.ask(MatchQuestion(Self.costly))
            searches += 1
        }
        #expect(searches < 10)
        #expect(try await owner.ask(MatchQuestion(Self.costly)).matched == 299)
        let view = try await owner.ask(MatchQuestion(Self.costly, decidedMax: 10))
        #expect(view.matched == 299 && view.decided == 10 && view.plans.count == 1)
    }

    @Test func `a search of a partition that has stopped fails, also one that is under way`() async throws {
        let scene = try await Self.populated()
        let owner = scene.owners[0]
        let found = owner.loop.makePromise(of: DryRunView.self)
        try await owner.loop.submit {
            owner.beginSearch(MatchQuestion(Self.costly), found)
            owner.stop()
        }.get()
        await #expect(throws: OwnerError.stopped(partition: PartitionID(0))) { try await found.futureResult.get() }
        await #expect(throws: OwnerError.stopped(partition: PartitionID(0))) {
            try await owner.ask(MatchQuestion(Self.costly))
        }
    }
}
