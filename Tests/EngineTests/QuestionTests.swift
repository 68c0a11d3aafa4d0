import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Questions to an engine: each question's answer on a small engine, and the bytes that questions are sent as.
@Suite struct QuestionTests {
    static let phone = HostKey("phone", of: Scene.sports)
    private static let first = InstanceAddress(host: phone, instance: InstanceID("w1"))
    private static let channel = Channel(id: ChannelID("c1"), storagePolicy: .mostRecent, pushType: .widgets)

    /// Two hosts with three widgets. One of the phone's has a reload out, and a push waits for it.
    static func scene() -> Scene {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.settle("tablet", app: Scene.game, [Scene.character("c1", "panda")])
        scene.apply(.channel(.create(Self.channel, app: Scene.sports, channelsMax: 10)))
        scene.apply(.order(OperatorOrder(.pause(until: nil), .app(Scene.game))))
        scene.push(to: "phone", match: "seahawks")
        scene.push(to: "phone", match: "seahawks")
        return scene
    }

    /// One of each kind, and of those that leave something out another.
    static func samples(_ scene: Scene) -> [any EngineQuestion] {
        let reloads = scene.reloads.map(\.id)
        let completed = CompletedPushesQuestion(for: Scene.sports, after: nil, limit: 9).answer(in: scene)
        let pattern = Scene.pattern(team: "seahawks")
        let registration = HostRegistration(
            host: Self.phone,
            token: Scene.token("phone"),
            revision: 7,
            instances: [Scene.scores("w1", team: "seahawks"), Scene.scores("new", team: "seahawks")]
        )
        let scopes: [OrderScope] = [
            .app(Scene.sports), .kind(Scene.sports, WidgetKind("scores")), .sender(Scene.team), .host(Self.phone),
            .instance(Self.first), .push(scene.lastID, Scene.team, nil), .push(scene.lastID, nil, Scene.sports),
        ]
        let ofHosts: [any EngineQuestion] = [
            HostQuestion(Self.phone), HostSummaryQuestion(Self.phone), HostStateQuestion(Self.phone),
            StackQuestion(Self.phone, at: nil),
            StackQuestion(Self.phone, at: scene.now), RegistrationsQuestion([registration]),
            InstanceQuestion(Self.first), InstanceQuestion(Self.first, decisions: 1, pending: 0),
            TokensQuestion([Scene.token("phone"), Scene.token("tablet"), Scene.token("nobody")]),
            HostTokensQuestion([Self.phone, HostKey("nobody")]),
        ]
        let waiting = InstanceFilter(app: Scene.sports, kind: WidgetKind("scores"), state: .waiting)
        let team = PushFilter(team: Scene.team, isComplete: false, outcome: .deferred)
        let lists: [any EngineQuestion] = [
            PageQuestion(InstanceFilter(), limit: 1), PageQuestion(InstanceFilter(host: Self.phone), limit: 0),
            PageQuestion(waiting, limit: 9),
            PageQuestion(InstanceFilter(state: .behind, behindSince: scene.now), from: 1, limit: 9),
            PageQuestion(HostList(of: nil), limit: 1), PageQuestion(HostList(of: Scene.game), from: 1, limit: 9),
            PageQuestion(RegistrationList(of: Scene.sports), limit: 9),
            PageQuestion(WidgetList(of: Scene.sports), limit: 9),
            PageQuestion(WidgetList(of: Scene.sports, kind: WidgetKind("scores"), matching: pattern), limit: 9),
            PageQuestion(PushFilter(), limit: 9), PageQuestion(team, from: 9, limit: 9),
            PageQuestion(PushFilter(app: Scene.sports, after: .epoch, before: scene.now), limit: 9),
            PageQuestion(DecisionList(about: scene.lastID), limit: 9),
            FiledDecisionsQuestion(from: 1, atLeast: 1, limit: 9), KeptDecisionsQuestion(),
            CompletedPushesQuestion(for: Scene.sports, after: nil, limit: 9),
            CompletedPushesQuestion(for: Scene.sports, after: completed.next, limit: 1),
            KeptDecisionsQuestion(about: scene.lastID),
            PageQuestion(DecisionList(about: scene.lastID, outcome: .issued), from: 0, limit: 9),
        ]
        let ofReloads: [any EngineQuestion] = [
            PushesQuestion([scene.lastID]), PushesQuestion([], of: Scene.team, lookedMax: 100),
            ReloadQuestion<HostKey>(reloads), ReloadQuestion<ReloadEffect>(reloads),
            ReloadQuestion<FetchSubject>(reloads), ReloadQuestion<OutgoingPush>(reloads),
            ReloadQuestion<ShownDigest>(reloads), ReloadsQuestion(.host(Self.phone)),
            ReloadQuestion<ShownTimeline>(reloads),
            PageQuestion(ShownTimelines(of: Scene.sports, WidgetKind("scores")), limit: 9),
            ReloadsQuestion(.app(Scene.sports), from: 1, through: LogPosition(3), limit: 1),
            ReloadsQuestion(.undelivered, limit: 1),
        ]
        let others: [any EngineQuestion] = [
            TotalsQuestion(), ProgressQuestion(), InForceQuestion(), SendersQuestion(), UsagesQuestion(),
            TablesQuestion(),
            BehindQuestion(longerThan: .minutes(15), now: scene.now), ChannelsQuestion(of: Scene.sports),
            ChannelsQuestion(of: Scene.sports, ChannelID("c1")), SurveyQuestion(from: scene.now, at: 0),
            OrphansQuestion(under: Scene.settings(), at: 1),
        ]
        let existence: [any EngineQuestion] = scopes.map { ExistenceQuestion(of: $0) }
        return ofHosts + lists + ofReloads + others + existence
    }

    static let searches = [
        MatchQuestion(Scene.question), MatchQuestion(Scene.question, decidedMax: 0),
        MatchQuestion(Scene.question, decidedMax: 10),
    ]

    // MARK: Bytes

    private static func read(_ bytes: [UInt8]) throws(ByteError) -> [UInt8] {
        switch try ReceivedQuestion(bytes) {
        case .question(let question): question.bytes
        case .search(let question): question.bytes
        }
    }

    private static func isRead<Question: EngineQuestion>(_ question: Question) throws -> Bool {
        guard case .question(let other) = try ReceivedQuestion(question.bytes) else { return false }
        return other as? Question == question
    }

    @Test func `every question is what its bytes say`() throws {
        let samples = Self.samples(Self.scene())
        for question in samples {
            let isRead = try Self.isRead(question)
            #expect(isRead, "\(question)")
        }
        for question in Self.searches {
            guard case .search(let other) = try ReceivedQuestion(question.bytes) else {
                Issue.record("\(question) is no search")
                continue
            }
            #expect(other == question)
        }
        let kinds = ReceivedQuestion.all.map { ObjectIdentifier($0) }
        #expect(Set(kinds).count == kinds.count)
        #expect(Set(kinds) == Set(samples.map { ObjectIdentifier(type(of: $0)) }), "one that no sample is of")
    }

    @Test func `bytes that are cut off, or too many, are refused`() throws {
        let all = Self.samples(Self.scene()).map(\.bytes) + Self.searches.map(\.bytes)
        for bytes in all {
            for end in bytes.indices {
                #expect(throws: ByteError.self) { try ReceivedQuestion(Array(bytes[..<end])) }
            }
            #expect(throws: ByteError.invalid(offset: bytes.count)) { try ReceivedQuestion(bytes + [0]) }
        }
        let unknown = UInt8(ReceivedQuestion.all.count)
        #expect(throws: ByteError.invalid(offset: 0)) { try ReceivedQuestion([unknown]) }
    }

    @Test(arguments: 0..<4) func `bytes are refused, or a question that can be answered`(
        seed: UInt64
    ) {
        var dice = SplitMix64(seed: seed)
        let scene = Self.scene()
        let digest = scene.engine.stateDigest()
        let all = Self.samples(scene).map(\.bytes) + Self.searches.map(\.bytes)
        for bytes in all {
            for _ in 0..<50 {
                var bytes = bytes
                for _ in 0...dice.next() % 3 {
                    bytes[Int(dice.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: dice.next())
                }
                switch try? ReceivedQuestion(bytes) {
                case nil: continue
                case .question(let question):
                    _ = question.answer(in: scene)
                    #expect((try? Self.read(question.bytes)) == question.bytes)
                case .search(let question):
                    var search = question.begin(in: scene.engine)
                    var units = Int.max
                    while !search.advance(in: scene.engine, &units) { units = .max }
                    _ = question.answer(from: scene.engine, search)
                }
            }
        }
        #expect(scene.engine.stateDigest() == digest)
    }

    // MARK: Answers

    @Test func `a question changes nothing`() {
        let scene = Self.scene()
        let digest = scene.engine.stateDigest()
        for question in Self.samples(scene) {
            _ = question.answer(in: scene)
            #expect(scene.engine.stateDigest() == digest, "\(question)")
        }
        let faults = scene.engine.checkInvariants()
        #expect(faults == [])
    }

    @Test func `what says how far the log is applied waits for a whole entry`() {
        let scene = Self.scene()
        let waiting = Self.samples(scene).filter { $0.moment == .betweenEntries }.map { "\(type(of: $0))" }
        #expect(waiting == ["ReloadsQuestion", "ReloadsQuestion", "ProgressQuestion"])
        #expect(ReloadsQuestion(.undelivered, through: LogPosition(1)).moment == .anyTime)
    }

    @Test func `a host, what it shows, and its stack`() throws {
        let scene = Self.scene()
        let view = try #require(HostQuestion(Self.phone).answer(in: scene))
        #expect(view.instances.map(\.id.rawValue) == ["w1", "w2"])
        let state = try #require(HostStateQuestion(Self.phone).answer(in: scene))
        #expect(state.host == view)
        #expect(
            state.instances.map(\.address) == view.instances.map { InstanceAddress(host: Self.phone, instance: $0.id) }
        )
        #expect(state.outstanding.map(\.instance.rawValue) == ["w1"])
        let instance = try #require(InstanceQuestion(Self.first).answer(in: scene))
        #expect(instance == state.instances[0])
        #expect(instance.pending.count == 1 && instance.decisions.count > 1)
        let less = InstanceQuestion(Self.first, decisions: 1, pending: -1).answer(in: scene)
        #expect(
            less?.pending == [] && less?.decisions == Array(instance.decisions.prefix(1)) && less?.pendingCount == 1
        )
        #expect(StackQuestion(Self.phone, at: nil).answer(in: scene)?.at == scene.engine.time)
        let later = scene.now + .hours(3)
        let stack = StackQuestion(Self.phone, at: later).answer(in: scene)
        #expect(stack?.at == later && stack?.stack.widgets.count == 2)

        let nobody = HostKey("nobody", of: Scene.sports)
        #expect(HostQuestion(nobody).answer(in: scene) == nil)
        #expect(HostStateQuestion(nobody).answer(in: scene) == nil)
        #expect(StackQuestion(nobody, at: nil).answer(in: scene) == nil)
        let none = InstanceQuestion(InstanceAddress(host: nobody, instance: InstanceID("w1")))
        #expect(none.answer(in: scene) == nil)
    }

    @Test func `what a registration adds`() {
        let scene = Self.scene()
        func registration(_ revision: UInt64, _ instances: [InstanceRegistration]) -> HostRegistration {
            HostRegistration(host: Self.phone, token: Scene.token("phone"), revision: revision, instances: instances)
        }
        let more = ["w1", "w2", "w3"].map { Scene.scores($0, team: "seahawks") }
        let question = RegistrationsQuestion([registration(2, more), registration(0, more), registration(2, [])])
        #expect(
            question.answer(in: scene)
                == [RegistryAdditions(instances: 1, newInstances: 1), nil, RegistryAdditions(instances: -2)]
        )
    }

    private static func all<List: EngineList>(_ list: List, limit: Int, _ scene: Scene) -> [List.Row] {
        var rows: [List.Row] = []
        var place: UInt64?
        repeat {
            let page = PageQuestion(list, from: place, limit: limit).answer(in: scene)
            rows += page.rows
            place = page.next
        } while place != nil
        return rows
    }

    @Test(arguments: [1, 2, 100]) func `a list is whole, however it is divided`(limit: Int) {
        let scene = Self.scene()
        func instances(_ filter: InstanceFilter) -> [String] {
            Self.all(filter, limit: limit, scene).map(\.address.instance.rawValue)
        }
        #expect(instances(InstanceFilter()) == ["w1", "w2", "c1"])
        #expect(instances(InstanceFilter(host: Self.phone)) == ["w1", "w2"])
        #expect(instances(InstanceFilter(app: Scene.game)) == ["c1"])
        #expect(instances(InstanceFilter(state: .waiting)) == ["w1"])
        #expect(Self.all(HostList(of: nil), limit: limit, scene).map(\.host.id.rawValue) == ["phone", "tablet"])
        #expect(Self.all(HostList(of: Scene.game), limit: limit, scene).map(\.host.id.rawValue) == ["tablet"])
        let registered = Self.all(RegistrationList(of: Scene.sports), limit: limit, scene).joined()
        #expect(registered.map(\.instances.count) == [2])
        let pattern = Scene.pattern(team: "mariners")
        let widgets = Self.all(WidgetList(of: Scene.sports, kind: nil, matching: pattern), limit: limit, scene)
        #expect(widgets.map(\.registration.id.rawValue) == ["w2"])
        #expect(Self.all(PushFilter(), limit: limit, scene).map(\.push.id.low) == [2, 1])
        #expect(Self.all(PushFilter(outcome: .deferred), limit: limit, scene).map(\.push.id) == [scene.lastID])
        let decisions = Self.all(DecisionList(about: scene.lastID, outcome: nil), limit: limit, scene)
        #expect(decisions.map(\.instance) == [Self.first])
        #expect(decisions.map(\.decision.outcome) == [.deferred])
    }

    @Test func `a page has no more rows than it may, and an end that nothing is behind`() {
        let scene = Self.scene()
        let none = PageQuestion(InstanceFilter(), limit: -1).answer(in: scene)
        #expect(none.rows == [] && none.next == 0)
        let end = PageQuestion(InstanceFilter(), from: .max, limit: 9).answer(in: scene)
        #expect(end.rows == [] && end.next == nil)
    }

    @Test func `what became of pushes, of a team's or of all`() {
        let scene = Self.scene()
        let ids = [scene.lastID, PushID(high: 7, low: 1), PushID(high: 9, low: 9)]
        let views = PushesQuestion(ids, lookedMax: 10).answer(in: scene)
        #expect(views.map(\.id) == Array(ids.prefix(2)))
        #expect(views.map { $0.waiting != nil } == [true, false])
        #expect(PushesQuestion(ids, of: Scene.team).answer(in: scene).allSatisfy { $0.waiting == nil })
        #expect(PushesQuestion(ids, of: TeamID("ZZZZZ99999")).answer(in: scene) == [])
    }

    @Test func `details of reloads stand in the order of their ids`() throws {
        let scene = Self.scene()
        let out = try #require(scene.reloads.last)
        let done = try #require(scene.reloads.first)
        let foreign = ReloadID(partition: PartitionID(0), position: LogPosition(1), instance: 77, check: 0)
        let ids = [foreign, out.id, done.id]
        #expect(ReloadQuestion<HostKey>(ids).answer(in: scene) == [nil, Self.phone, Self.phone])
        #expect(ReloadQuestion<ReloadEffect>(ids).answer(in: scene) == [nil, out, nil])
        let subjects = ReloadQuestion<FetchSubject>(ids).answer(in: scene)
        #expect(subjects.map { $0?.reload } == [nil, out.id, nil])
        let outgoing = ReloadQuestion<OutgoingPush>(ids).answer(in: scene)
        #expect(outgoing.map { $0?.token } == [nil, Scene.token("phone"), nil])
    }

    @Test func `a digest is shown until the instance is configured anew`() throws {
        var scene = Self.scene()
        let reload = try #require(scene.reloads.last)
        let timeline = Timeline(entries: [TimelineEntry(date: scene.now)], policy: .never, digest: [1, 2, 3])
        scene.apply(
            .timeline(
                TimelineReport(host: Self.phone, instance: reload.instance, reload: reload.id, timeline: timeline)
            )
        )
        let question = ReloadQuestion<ShownDigest>([reload.id])
        #expect(question.answer(in: scene).map { $0?.bytes } == [[1, 2, 3]])
        scene.register("phone", revision: 2, [Scene.scores("w1", team: "mariners")])
        #expect(question.answer(in: scene) == [nil])
    }

    @Test func `timelines that are shown are listed, but for those that a reload is out for`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "rams")])
        scene.settle("tablet", delivery: .apns, [Scene.scores("w1", team: "rams")])
        let all = ShownTimelines(of: Scene.sports, WidgetKind("scores"))
        #expect(PageQuestion(all, limit: 9).answer(in: scene).rows == [])
        let timeline = Timeline(entries: [TimelineEntry(date: scene.now)], policy: .never, digest: [1])
        for host in [Self.phone, HostKey("tablet")] {
            scene.apply(.timeline(TimelineReport(host: host, instance: InstanceID("w1"), timeline: timeline)))
        }
        let page = PageQuestion(all, limit: 9).answer(in: scene)
        #expect(page.rows.map(\.subject.address) == [Self.first] && page.next == nil)
        let shown = try #require(page.rows.first)
        #expect(shown.timeline == timeline && shown.subject.causes == [] && shown.subject.push == nil)
        // The id is one of the instance, and stays the same.
        #expect(ReloadQuestion<ShownTimeline>([shown.subject.reload]).answer(in: scene) == [shown])
        #expect(ReloadQuestion<FetchSubject>([shown.subject.reload]).answer(in: scene) == [nil])
        #expect(
            PageQuestion(ShownTimelines(of: Scene.game, WidgetKind("scores")), limit: 9).answer(in: scene).rows == []
        )
        scene.pass(.hours(2))
        scene.push(to: "phone", match: "seahawks")
        try #require(scene.engine.outstandingReloads(host: Self.phone).count == 1)
        #expect(PageQuestion(all, limit: 9).answer(in: scene).rows == [])
        #expect(ReloadQuestion<ShownTimeline>([shown.subject.reload]).answer(in: scene) == [nil])
        scene.register("phone", revision: 9, [Scene.scores("w1", team: "mariners")])
        #expect(ReloadQuestion<ShownTimeline>([shown.subject.reload]).answer(in: scene) == [nil])
    }

    @Test func `reloads that are out, of a host, an app, or for no stream`() throws {
        var scene = Self.scene()
        let out = try #require(scene.reloads.last)
        for scope in [ReloadsQuestion.Scope.host(Self.phone), .app(Scene.sports)] {
            let page = ReloadsQuestion(scope).answer(in: scene)
            #expect(page == ReloadsPage(reloads: [out], next: nil, through: scene.position))
            let earlier = LogPosition(out.id.position.rawValue - 1)
            #expect(ReloadsQuestion(scope, through: earlier).answer(in: scene).reloads == [])
        }
        #expect(ReloadsQuestion(.app(Scene.game)).answer(in: scene).reloads == [])
        #expect(ReloadsQuestion(.undelivered).answer(in: scene).reloads == [])
        scene.register(
            "hook",
            delivery: .webhook,
            [Scene.scores("a", team: "mariners"), Scene.scores("b", team: "mariners")]
        )
        let one = ReloadsQuestion(.undelivered, limit: 1).answer(in: scene)
        #expect(one.reloads.map(\.instance.rawValue) == ["a"])
        let next = try #require(one.next)
        let rest = ReloadsQuestion(.undelivered, from: next, through: one.through, limit: 9)
        #expect(rest.answer(in: scene).reloads.map(\.instance.rawValue) == ["b"])
    }

    @Test func `totals, progress, and what is in force`() {
        let scene = Self.scene()
        let totals = TotalsQuestion().answer(in: scene)
        #expect(totals == scene.engine.stats())
        #expect(totals.pushesRemembered == 2 && totals.rememberedSince == scene.now)
        let progress = ProgressQuestion().answer(in: scene)
        let (timer, hash) = (scene.engine.nextTimer, scene.engine.runningHash)
        #expect(progress == EngineProgress(totals: totals, nextTimer: timer, runningHash: hash))
        let inForce = InForceQuestion().answer(in: scene)
        #expect(inForce.settings == Scene.settings())
        #expect(inForce.orders.map(\.scope) == [.app(Scene.game)])
        #expect(SendersQuestion().answer(in: scene).map(\.pushes) == [2])
        let behind = BehindQuestion(longerThan: .minutes(15), now: scene.now).answer(in: scene)
        #expect(behind.map(\.count) == [1, 0])
        let channels = ChannelsQuestion(of: Scene.sports).answer(in: scene)
        #expect(channels == [Self.channel])
        #expect(ChannelsQuestion(of: Scene.sports, ChannelID("c1")).answer(in: scene) == channels)
        #expect(ChannelsQuestion(of: Scene.game, ChannelID("c1")).answer(in: scene) == [])
    }

    @Test func `what there is, and what there is not`() {
        let scene = Self.scene()
        let there: [OrderScope] = [
            .app(Scene.sports), .kind(Scene.sports, WidgetKind("scores")), .sender(Scene.team), .host(Self.phone),
            .instance(Self.first), .push(scene.lastID, Scene.team, nil),
        ]
        #expect(there.allSatisfy { ExistenceQuestion(of: $0).answer(in: scene) })
        let gone: [OrderScope] = [
            .app(BundleID("com.example.none")), .host(HostKey("nobody", of: Scene.sports)),
            .push(scene.lastID, TeamID("ZZZZZ99999"), nil),
        ]
        #expect(!gone.contains { ExistenceQuestion(of: $0).answer(in: scene) })
    }

    @Test func `a survey tells of hosts that a reload is out to, and its caller knows who is there`() {
        let scene = Self.scene()
        let step = SurveyQuestion(from: scene.now, at: 0).answer(in: scene)
        #expect(step.next == nil)
        #expect(step.out.map(\.host) == [Self.phone])
        var (away, connected) = (BudgetSurvey(from: scene.now), BudgetSurvey(from: scene.now))
        away.add(step) { _ in false }
        connected.add(step) { $0 == Self.phone }
        #expect(away.kinds.map(\.away) == [1, 0])
        #expect(connected.kinds.map(\.away) == [0, 0])
        #expect(connected.kinds.map(\.instances) == [2, 1])
    }

    @Test func `instances that other settings would orphan are counted`() {
        let scene = Self.scene()
        let none = EngineSettings(apps: [], limits: EngineLimits())
        let all = OrphansQuestion(under: none, at: InstanceNumber(0)).answer(in: scene)
        #expect(all == OrphanCount(count: 3, next: nil))
        let same = OrphansQuestion(under: Scene.settings(), at: 0).answer(in: scene)
        #expect(same == OrphanCount(count: 0, next: nil))
    }

    @Test func `a search counts, or decides a sample`() {
        let scene = Self.scene()
        func answer(_ question: MatchQuestion) -> DryRunView {
            var search = question.begin(in: scene.engine)
            var units = 1
            while !search.advance(in: scene.engine, &units) { units = 1 }
            return question.answer(from: scene.engine, search)
        }
        let counted = answer(MatchQuestion(Scene.question))
        #expect(counted == DryRunView(matched: 2, asOf: scene.engine.time))
        #expect(
            answer(MatchQuestion(Scene.question, decidedMax: 9)) == scene.engine.dryRun(Scene.question, decidedMax: 9)
        )
        #expect(answer(MatchQuestion(Scene.question, decidedMax: 1)).decided == 1)
        #expect(answer(MatchQuestion(Scene.question, decidedMax: -1)).decided == 0)
    }
}

extension Scene {
    /// A push to all of the sports app that was never sent.
    fileprivate static let question = PushRecord(
        id: PushID(high: 8, low: 8),
        team: Scene.team,
        contentHash: 8,
        target: .app(Scene.sports)
    )

    @Test(arguments: [(0, 1), (1, 1), (10, 1), (11, 2), (20, 2), (21, 3)])
    func `a question about more than fits is asked in pieces`(count: Int, pieces: Int) {
        let tokens = (0..<count).map { DeviceToken(bytes: [UInt8($0)]) }
        // A token of one byte takes two; ten bytes are for the question itself.
        let question = TokensQuestion(tokens)
        for bytesMax in [30, 31] {
            let parts = question.pieces(bytesMax: bytesMax)
            #expect(parts.count == pieces && parts.flatMap(\.items) == tokens)
            #expect(parts.allSatisfy { $0.bytes.count <= bytesMax })
        }
        #expect(question.pieces(bytesMax: 0).count == max(1, count), "one item is asked about, however long")
        #expect(TokensQuestion.join([]) == [])
    }
}
