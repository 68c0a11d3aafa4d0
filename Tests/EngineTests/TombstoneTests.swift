import Engine
import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

/// The tombstones of removed instances, and how many a host may have: with 2 instances at most, 8 tombstones.
@Suite struct TombstoneTests {
    static let phone = HostKey("phone")

    static func settings(_ instancesMax: Int, budget: BudgetPolicy = Scene.steady) -> EngineSettings {
        var limits = EngineLimits()
        limits.instancesPerHostMax = instancesMax
        return Scene.settings(budget: budget, limits: limits)
    }

    static func widgets(_ numbers: some Sequence<Int>) -> [InstanceRegistration] {
        numbers.map { Scene.scores("w\($0)", team: "seahawks") }
    }

    static func registration(
        _ numbers: [Int],
        revision: UInt64,
        token: String = "phone",
        registrant: Registrant = .backEnd
    ) -> HostRegistration {
        HostRegistration(
            host: Self.phone,
            token: Scene.token(token),
            registrant: registrant,
            revision: revision,
            instances: Self.widgets(numbers)
        )
    }

    /// A host that shows the last of so many widgets, one after the other.
    static func scene(afterShowing count: Int) -> Scene {
        var scene = Scene(settings: Self.settings(2))
        for number in 0..<count {
            let answer = scene.register("phone", revision: UInt64(number), Self.widgets([number]))
            #expect(answer == .registered(RegistrationCounts(added: 1, removed: number == 0 ? 0 : 1)))
        }
        return scene
    }

    /// Whether a registration is taken; the engine says the same when it is asked before.
    private static func isTaken(_ registration: HostRegistration, _ scene: inout Scene) -> Bool {
        let refusal = scene.engine.refusal(of: registration)
        let answer = scene.apply(.register(registration))
        guard case .registered = answer else {
            #expect(answer == refusal)
            return false
        }
        #expect(refusal == nil)
        return true
    }

    @Test(arguments: [(8, 7), (9, 8)])
    func `a host may have four tombstones for each instance that it may show`(shown: Int, tombstones: Int) {
        #expect(Self.scene(afterShowing: shown).engine.stats().tombstones == tombstones)
    }

    @Test func `one more is refused until the first one's end, and changes nothing`() throws {
        var scene = Self.scene(afterShowing: 9)
        let before = (scene.engine.stats(), scene.engine.host(Self.phone))
        let end = try #require(scene.instance("phone", "w8")).budget.windowEnd
        let refused = RecordAnswer.Result.refused(.tooManyTombstones(max: 8, until: end))
        // One that takes the host over would have removed what it shows, and its token.
        for numbers in [[9], [], [9, 10]] {
            for token in ["phone", "another"] {
                let registration = Self.registration(numbers, revision: 20, token: token)
                #expect(scene.engine.refusal(of: registration) == refused)
                #expect(scene.apply(.register(registration)) == refused)
                #expect(scene.directory == [] && scene.given == [])
            }
        }
        #expect(scene.engine.host(Self.phone) == before.1)
        #expect(scene.engine.stats().tombstones == before.0.tombstones)
        #expect(scene.engine.stats().instances == before.0.instances)
        scene.pass(end - scene.now - .seconds(1))
        #expect(scene.apply(.register(Self.registration([9], revision: 20))) == refused)
        scene.pass(.seconds(1))
        #expect(Self.isTaken(Self.registration([9], revision: 20), &scene))
        #expect(scene.engine.stats().tombstones == 1, "only what that registration removed")
    }

    @Test func `the instant is that of the first end of those that stay`() throws {
        var scene = Self.scene(afterShowing: 1)
        // Reloads ahead of the pace shortly before the window's end are remembered beyond it.
        let end = try #require(scene.instance("phone", "w0")).budget.windowEnd
        scene.pass(end - scene.now - .minutes(30))
        for _ in 0..<5 {
            scene.push(to: "phone", expiration: 0)
            scene.pass(.minutes(5))
        }
        // The first in the order of ids is the last to end.
        for number in 1..<9 { scene.register("phone", revision: UInt64(number), Self.widgets([number])) }
        let refused = RecordAnswer.Result.refused(.tooManyTombstones(max: 8, until: end))
        #expect(scene.apply(.register(Self.registration([9], revision: 20))) == refused)
        scene.pass(end - scene.now)
        #expect(Self.isTaken(Self.registration([9], revision: 20), &scene))
        #expect(scene.engine.stats().tombstones == 2, "w0 is remembered until its pace holds nothing back")
    }

    @Test func `at the bound a host may name what it has, and change one id for another`() {
        var scene = Self.scene(afterShowing: 9)
        var revision: UInt64 = 20
        func isTaken(_ numbers: [Int], token: String = "phone") -> Bool {
            revision += 1
            return Self.isTaken(Self.registration(numbers, revision: revision, token: token), &scene)
        }
        #expect(isTaken([0, 8]))
        #expect(scene.engine.stats().tombstones == 7)
        #expect(isTaken([3]))
        #expect(scene.engine.stats().tombstones == 8)
        #expect(!isTaken([]), "it would leave another")
        #expect(isTaken([1, 10], token: "another"), "w3 goes, w1 returns, and w10 needs none")
        #expect(scene.engine.stats().tombstones == 8)
        #expect(scene.engine.host(Self.phone)?.tokens == [Scene.token("another")])
    }

    @Test func `a removal is never refused, and what it leaves keeps new ids out`() {
        var scene = Self.scene(afterShowing: 9)
        #expect(Self.isTaken(Self.registration([8, 9], revision: 20), &scene))
        #expect(scene.engine.stats().tombstones == 8)
        for _ in 0..<3 {
            #expect(scene.apply(.unregister(HostRemoval(host: Self.phone))) == .unregistered)
            #expect(scene.engine.stats().tombstones == 10, "four for each, and what it showed")
            #expect(!Self.isTaken(Self.registration([10], revision: 20), &scene))
            #expect(!Self.isTaken(Self.registration([1, 10], revision: 20), &scene))
            #expect(Self.isTaken(Self.registration([], revision: 20), &scene), "it needs none")
            #expect(scene.engine.stats().tombstones == 10)
            #expect(Self.isTaken(Self.registration([1], revision: 21), &scene), "it leaves one less")
            #expect(scene.engine.stats().tombstones == 9)
            #expect(!Self.isTaken(Self.registration([], revision: 22), &scene))
            #expect(Self.isTaken(Self.registration([2, 9], revision: 22), &scene))
            #expect(scene.engine.stats().tombstones == 8)
        }
    }

    @Test func `a lease that ends at the bound leaves as many`() {
        var scene = Self.scene(afterShowing: 9)
        scene.register("phone", revision: 20, lease: .minutes(10), Self.widgets([8, 9]))
        scene.pass(.minutes(10))
        #expect(scene.engine.host(Self.phone) == nil)
        #expect(scene.engine.stats().tombstones == 10)
        #expect(!Self.isTaken(Self.registration([10], revision: 1), &scene))
        scene.pass(.hours(25))
        #expect(scene.engine.stats().tombstones == 0)
        #expect(scene.engine.stats().hosts == 0)
    }

    @Test func `under a smaller limit a host may show less, and then waits`() {
        var scene = Scene(settings: Self.settings(8))
        scene.register("phone", Self.widgets(0..<8))
        scene.apply(.settings(Self.settings(1)))
        #expect(Self.isTaken(Self.registration([7], revision: 2), &scene), "no tombstone ends, so none is waited for")
        #expect(scene.engine.stats().tombstones == 7)
        #expect(!Self.isTaken(Self.registration([8], revision: 3), &scene))
        #expect(Self.isTaken(Self.registration([6], revision: 3), &scene))
        scene.pass(.hours(25))
        #expect(Self.isTaken(Self.registration([8], revision: 4), &scene))
    }

    @Test func `the largest number of instances has a bound as well`() {
        #expect(EngineLimits(instancesPerHostMax: .max).tombstonesPerHostMax == .max)
        #expect(EngineLimits(instancesPerHostMax: 0).tombstonesPerHostMax == 0)
        #expect(EngineLimits().tombstonesPerHostMax == 1024)
    }

    /// Six reloads in each window of six hours.
    private static let hasty: BudgetPolicy = {
        var policy = Scene.steady
        (policy.rare, policy.typical, policy.frequent) = (6, 6, 6)
        policy.window = .fixed(length: .hours(6), anchor: .hostHash)
        return policy
    }()

    /// An instance id has a budget, which a new id starts with, as the platform gives each widget one. So these hold:
    ///
    /// - However often an id goes and returns, in whatever order of registrations, it is charged no more in a window, and in
    ///   any span, than one that stayed may be.
    /// - No more ids have a budget in a window of a host than it may have instances and tombstones, five for each instance
    ///   that it may show: changing ids gives no more than those ids would have had.
    @Test(arguments: Seeds.from(601, count: 8))
    func `no order of registrations gives an id more in a window than one that stays may have`(seed: UInt64) throws {
        var scene = Scene(settings: Self.settings(2, budget: Self.hasty))
        scene.checks = false
        var random = SplitMix64(seed: seed)
        var (refusals, returns) = (0, 0)
        var known: Set<Int> = []
        var shown: Set<Int> = []
        for step in 0..<1500 {
            scene.pass(.minutes(Int64(random.next() % 8)))
            switch random.next() % 12 {
            case 0: scene.apply(.unregister(HostRemoval(host: Self.phone)))
            case 1...5:
                let numbers = Set((0..<random.next() % 3).map { _ in Int(random.next() % 14) })
                let registration = Self.registration(
                    Array(numbers),
                    revision: UInt64(step),
                    token: "phone \(random.next() % 3)",
                    registrant: random.chance(1, in: 3) ? .backEndAddingToken : .backEnd
                )
                let before = scene.engine.stats().tombstones
                if Self.isTaken(registration, &scene) {
                    let after = scene.engine.stats().tombstones
                    if after > 8, after > before { Issue.record("\(before) tombstones became \(after), seed \(seed)") }
                    returns += numbers.intersection(known.subtracting(shown)).count
                    known.formUnion(numbers)
                    shown = numbers
                } else {
                    refusals += 1
                }
            default: scene.push(to: "phone", expiration: 0)
            }
            let stats = scene.engine.stats()
            if stats.tombstones + stats.instances > 10 {
                Issue.record("\(stats.tombstones) tombstones and \(stats.instances) instances, seed \(seed)")
            }
        }
        BudgetCheck(scene, policy: Self.hasty).expectKept("seed \(seed)")
        let windows = Dictionary(grouping: scene.charges.filter { $0.budget != nil }) { $0.budget?.windowStart }
        for (start, charges) in windows {
            let counts = Dictionary(grouping: charges, by: \.reload.instance).mapValues(\.count)
            #expect(counts.count <= 10, "from \(String(describing: start)), seed \(seed)")
            #expect(counts.values.allSatisfy { $0 <= 6 }, "from \(String(describing: start)), seed \(seed)")
        }
        #expect(windows.count > 3 && refusals > 10 && returns > 10, "seed \(seed)")
        #expect(scene.engine.checkInvariants() == [], "seed \(seed)")
        var replayed = Engine(partition: PartitionID(0), partitions: 1)
        var output = EngineOutput()
        for entry in scene.log { try replayed.apply(entry, into: &output) }
        #expect(replayed.stateDigest() == scene.engine.stateDigest(), "seed \(seed)")
        #expect(replayed.runningHash == scene.engine.runningHash, "seed \(seed)")
    }
}
