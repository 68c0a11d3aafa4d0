import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// The bytes that answers are sent as, to questions and to records.
@Suite struct AnswerTests {
    /// An answer, and what its bytes say, in words: those name every field.
    private static func sent<Question: EngineQuestion>(_ question: Question, _ scene: Scene) throws -> (
        bytes: [UInt8], words: String, read: String
    ) {
        let answer = question.answer(from: scene.engine)
        let bytes = answer.encoded
        return (bytes, "\(answer)", "\(try Question.Answer(encoded: bytes))")
    }

    private static func read<Question: EngineQuestion>(_ question: Question, _ bytes: [UInt8]) throws -> [UInt8] {
        try Question.Answer(encoded: bytes).encoded
    }

    @Test func `every answer is what its bytes say`() throws {
        let scene = QuestionTests.scene()
        for question in QuestionTests.samples(scene) {
            let (_, words, read) = try Self.sent(question, scene)
            #expect(words == read, "\(question)")
        }
        for question in QuestionTests.searches {
            var search = question.begin(in: scene.engine)
            search.finish(in: scene.engine)
            let answer = question.answer(from: scene.engine, search)
            #expect(try DryRunView(encoded: answer.encoded) == answer)
        }
    }

    @Test(arguments: 0..<4) func `bytes are no answer, or one that has these bytes`(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        let scene = QuestionTests.scene()
        for question in QuestionTests.samples(scene) {
            let bytes = try Self.sent(question, scene).bytes
            guard !bytes.isEmpty else { continue }
            #expect(throws: ByteError.self) { try Self.read(question, bytes + [0]) }
            for _ in 0..<20 {
                var bytes = bytes
                bytes[Int(dice.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: dice.next())
                guard let read = try? Self.read(question, bytes) else { continue }
                #expect((try? Self.read(question, read)) == read)
            }
        }
    }

    @Test func `what tokens stand for, and which were removed`() {
        var scene = QuestionTests.scene()
        let question = TokensQuestion([Scene.token("phone"), Scene.token("nobody"), Scene.token("tablet")])
        #expect(
            question.answer(in: scene) == [
                .bound(Scene.token("phone"), host: QuestionTests.phone, instance: nil),
                .bound(Scene.token("tablet"), host: HostKey("tablet", of: Scene.game), instance: nil),
            ]
        )
        scene.apply(.unregister(HostRemoval(host: QuestionTests.phone)))
        let at = scene.engine.time
        #expect(
            question.answer(in: scene).first
                == .removed(Scene.token("phone"), app: Scene.sports, .unregistered, at: at)
        )
    }

    @Test func `a host's tokens are its own and its controls'`() {
        var scene = QuestionTests.scene()
        var control = Scene.scores("c1", team: "mariners")
        control.controlToken = Scene.token("lamp")
        scene.register("panel", [control])
        let (panel, nobody) = (HostKey("panel"), HostKey("nobody"))
        #expect(
            HostTokensQuestion([nobody, panel, QuestionTests.phone]).answer(in: scene) == [
                .bound(Scene.token("panel"), host: panel, instance: nil),
                .bound(Scene.token("lamp"), host: panel, instance: InstanceID("c1")),
                .bound(Scene.token("phone"), host: QuestionTests.phone, instance: nil),
            ]
        )
        scene.apply(.unregister(HostRemoval(host: panel)))
        #expect(HostTokensQuestion([panel]).answer(in: scene) == [])
    }

    @Test func `every answer to a record is what its bytes say`() throws {
        let instance = InstanceID("w1")
        let errors: [RegistrationError] = [
            .unknownApp(Scene.sports), .unknownKind(WidgetKind("scores")), .configuration(instance),
            .duplicateInstance(instance), .duplicateToken(instance), .hostOfOtherTokens, .replacedTokenOfOther,
            .controlTokenOfOther(instance), .tokenOfAnotherApp, .tooManyInstances(max: 7),
            .tooManyTags(instance, max: 7), .tooManyTombstones(max: 7, until: .distantFuture),
        ]
        let findings: [TimelineFinding] = [
            .empty, .outOfOrder(index: 1), .inThePast(count: 2), .tooClose(count: 3, nearest: .seconds(4)),
            .ticking(count: 5, every: .seconds(1)), .endsBeforeReload(by: .hours(1)), .neverReloaded,
            .unchanged(count: 6), .pollsTooOften(every: .minutes(1)), .manyEntries(count: 7, advised: 8),
            .manyBytes(bytes: 9, advised: 10), .unnamedReload(outstanding: 11),
        ]
        let faults: [TimelineError] = [
            .tooManyEntries(count: 1, max: 2), .digestLength(bytes: 3, max: 4), .scoreNotFinite(index: 5),
            .negativeDuration(index: 6),
        ]
        let channels: [ChannelAnswer] = [.created, .deleted, .limit(7), .alreadyExists, .unknown]
        let answers: [RecordAnswer.Result] =
            [
                .settings(orphaned: 1), .settingsTooNew(engineVersion: 2), .settingsOvertaken,
                .push(matched: 3, isRepeat: true),
                .registered(RegistrationCounts(added: 1, changed: 2, unchanged: 3, removed: 4)),
                .staleRevision(current: .max), .unregistered, .signalled, .timeline(findings: findings),
                .staleGeneration, .delivery(known: true), .appReload(matched: 4), .order(matched: 5),
                .invalidated(count: 6), .unknownHost, .unknownInstance, .unknownReload, .traced, .noted, .ticked,
            ] + errors.map { .refused($0) } + faults.map { .timelineRefused($0) } + channels.map { .channel($0) }
        for answer in answers { #expect(try RecordAnswer.Result(encoded: answer.encoded) == answer) }
        #expect(Set(answers.map { $0.encoded[0] }).count == 23, "a case that no sample is of")
        #expect(throws: ByteError.invalid(offset: 0)) { try RecordAnswer.Result(encoded: [23]) }
        for change in [
            DirectoryChange.bound(Scene.token("a"), host: QuestionTests.phone, instance: instance),
            .removed(Scene.token("a"), app: Scene.sports, .leaseEnded, at: .epoch), .forgotten(Scene.token("a")),
        ] {
            #expect(try DirectoryChange(encoded: change.encoded) == change)
        }
    }
}
