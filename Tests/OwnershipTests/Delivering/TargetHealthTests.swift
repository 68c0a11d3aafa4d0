import Ownership
import Testing
import WidgetModel

/// When an upstream, a webhook or a timeline provider is in trouble, and when it is well again.
@Suite struct TargetHealthTests {
    private static let start = Instant(milliseconds: 1_800_000_000_000)

    private static func failure(_ at: Interval, _ reason: String = "ServiceUnavailable") -> TargetHealth.Answer {
        TargetHealth.Answer(.failure, status: 503, reason: reason, at: Self.start + at)
    }

    private static func success(_ at: Interval) -> TargetHealth.Answer {
        TargetHealth.Answer(.success, status: 200, at: Self.start + at)
    }

    @Test func `nothing is known of what was never asked`() {
        var health = TargetHealth()
        #expect(health.look(at: Self.start) == nil)
        #expect(!health.isInTrouble && !health.isFailing && health.lastSuccess == nil && health.lastAnswer == nil)
    }

    @Test(arguments: [(Interval.milliseconds(29_999), false), (.seconds(30), true), (.milliseconds(30_001), true)])
    func `what has only failed for half a minute is in trouble, told once`(after: Interval, isInTrouble: Bool) {
        var (health, looked) = (TargetHealth(), TargetHealth())
        #expect(health.takeAnswer(Self.failure(.zero)) == nil)
        _ = looked.takeAnswer(Self.failure(.zero))
        #expect(health.looksAt == Self.start + .seconds(30))
        let last = Self.failure(after)
        #expect(health.takeAnswer(last) == (isInTrouble ? .trouble(last) : nil))
        #expect(health.isInTrouble == isInTrouble)
        #expect(health.takeAnswer(Self.failure(after)) == nil)
        // Nothing has to come for that.
        #expect(looked.look(at: Self.start + after) == (isInTrouble ? .trouble(Self.failure(.zero)) : nil))
        #expect(looked.look(at: Self.start + after) == nil)
    }

    @Test func `a success between failures begins anew, one after trouble says how long that was`() {
        var health = TargetHealth()
        _ = health.takeAnswer(Self.failure(.zero))
        #expect(health.takeAnswer(Self.success(.seconds(29))) == nil)
        #expect(health.takeAnswer(Self.failure(.seconds(30))) == nil)
        #expect(health.look(at: Self.start + .seconds(59)) == nil)
        #expect(health.look(at: Self.start + .seconds(60)) == .trouble(Self.failure(.seconds(30))))
        #expect(health.troubleSince == Self.start + .seconds(30))
        #expect(health.takeAnswer(Self.success(.seconds(100))) == .well(after: .seconds(70)))
        #expect(health.takeAnswer(Self.success(.seconds(101))) == nil)
        #expect(health.troubleSince == nil && health.lastSuccess == Self.start + .seconds(101))
    }

    /// Of each hundred answers, spread evenly, so many are failures.
    @Test(arguments: [
        (0, false), (1, false), (40, false), (49, false), (60, true), (90, true), (99, true), (100, true),
    ])
    func `what mostly fails is in trouble, told once, whatever comes between`(failures: Int, isInTrouble: Bool) {
        for perSecond in [1, 10, 100] {
            for better in [TargetHealth.Answer.Meaning.success, .refusal] {
                var (health, told) = (TargetHealth(), [TargetHealth.Change]())
                for number in 0..<perSecond * 90 {
                    let at = Self.start + .milliseconds(Int64(number * 1000 / perSecond))
                    let isFailure = (number + 1) * failures / 100 > number * failures / 100
                    let answer = TargetHealth.Answer(isFailure ? .failure : better, status: 410, reason: "r", at: at)
                    if let change = health.look(at: at) ?? health.takeAnswer(answer) { told.append(change) }
                }
                #expect(health.isInTrouble == isInTrouble, "\(failures) % at \(perSecond)/s")
                #expect(told.count == (isInTrouble ? 1 : 0), "\(failures) % at \(perSecond)/s: \(told)")
            }
        }
    }

    /// The trouble's failures, one a second; then so many failures and better answers in turns, one a second.
    @Test(
        arguments: [
            (35, [true], 5), (600, [true], 5), (31, [true, true, true, false], 58), (600, [true, true, false], 295),
            (600, [true, false], nil), (600, [true, false, false], nil),
        ] as [(Int, [Bool], Int?)]
    )
    func `trouble ends with mostly better answers, or with a better one and no failure`(
        failures: Int,
        isBetter: [Bool],
        well: Int?
    ) {
        var health = TargetHealth()
        for second in 0..<failures { _ = health.takeAnswer(Self.failure(.seconds(Int64(second)))) }
        #expect(health.isInTrouble)
        var end: Int?
        for second in 0..<1000 {
            let at = Interval.seconds(Int64(failures + second))
            let answer = isBetter[second % isBetter.count] ? Self.success(at) : Self.failure(at)
            guard case .well? = health.look(at: Self.start + at) ?? health.takeAnswer(answer) else { continue }
            end = second
            break
        }
        #expect(end == well)
    }

    @Test func `one better answer after trouble, and then nothing, is the end of it`() {
        var health = TargetHealth()
        for second in 0...40 { _ = health.takeAnswer(Self.failure(.seconds(Int64(second)))) }
        #expect(health.takeAnswer(Self.success(.seconds(50))) == nil && health.isInTrouble)
        #expect(health.looksAt == Self.start + .seconds(55))
        #expect(health.look(at: Self.start + .milliseconds(54_999)) == nil)
        #expect(health.look(at: Self.start + .seconds(55)) == .well(after: .seconds(55)))
        #expect(!health.isFailing && health.looksAt == nil)
    }

    @Test(arguments: [(Interval.milliseconds(29_999), false), (.seconds(30), true)])
    func `what is to be left alone for half a minute is in trouble at once`(hold: Interval, isInTrouble: Bool) {
        var health = TargetHealth()
        let answer = Self.failure(.zero, "InvalidProviderToken")
        let change = health.takeAnswer(answer, heldUntil: Self.start + hold)
        #expect(change == (isInTrouble ? .trouble(answer) : nil))
    }

    @Test func `a refusal of one request is an answer, and no success`() {
        var health = TargetHealth()
        _ = health.takeAnswer(Self.failure(.zero))
        let refusal = TargetHealth.Answer(.refusal, status: 400, reason: "BadDeviceToken", at: Self.start + .seconds(1))
        #expect(health.takeAnswer(refusal) == nil)
        #expect(!health.isFailing && health.lastSuccess == nil)
        #expect(health.lastAnswer == refusal)
        #expect(health.attempts == 2)
        #expect(health.failuresByReason.map(\.reason) == ["BadDeviceToken", "ServiceUnavailable"])
    }

    @Test(arguments: [15, 16, 17])
    func `as many reasons are counted by name as may be, the others together`(count: Int) {
        var health = TargetHealth()
        for number in 0..<count { _ = health.takeAnswer(Self.failure(.zero, "reason \(number)")) }
        #expect(health.failuresByReason.map(\.count).reduce(0, +) == count)
        #expect(health.failuresByReason.count == min(count, 17))
        #expect(health.failuresByReason.contains { $0.reason == TargetHealth.otherReasons } == (count > 16))
    }

    @Test func `what the other side says is cut`() {
        let answer = TargetHealth.Answer(
            .failure,
            status: 500,
            reason: String(repeating: "a", count: 65),
            detail: String(repeating: "b", count: 301),
            at: Self.start
        )
        #expect(answer.reason.count == 64 && answer.detail?.count == 300)
    }
}
