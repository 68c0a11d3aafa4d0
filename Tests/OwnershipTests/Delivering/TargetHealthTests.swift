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
        #expect(health.take(Self.failure(.zero)) == nil)
        _ = looked.take(Self.failure(.zero))
        #expect(health.looksAt == Self.start + .seconds(30))
        let last = Self.failure(after)
        #expect(health.take(last) == (isInTrouble ? .trouble(last) : nil))
        #expect(health.isInTrouble == isInTrouble)
        #expect(health.take(Self.failure(after)) == nil)
        // Nothing has to come for that.
        #expect(looked.look(at: Self.start + after) == (isInTrouble ? .trouble(Self.failure(.zero)) : nil))
        #expect(looked.look(at: Self.start + after) == nil)
    }

    @Test func `a success between failures begins anew, one after trouble says how long that was`() {
        var health = TargetHealth()
        _ = health.take(Self.failure(.zero))
        #expect(health.take(Self.success(.seconds(29))) == nil)
        #expect(health.take(Self.failure(.seconds(30))) == nil)
        #expect(health.look(at: Self.start + .seconds(59)) == nil)
        #expect(health.look(at: Self.start + .seconds(60)) == .trouble(Self.failure(.seconds(30))))
        #expect(health.troubleSince == Self.start + .seconds(30))
        #expect(health.take(Self.success(.seconds(100))) == .well(after: .seconds(70)))
        #expect(health.take(Self.success(.seconds(101))) == nil)
        #expect(health.troubleSince == nil && health.lastSuccess == Self.start + .seconds(101))
    }

    @Test(arguments: [(Interval.milliseconds(29_999), false), (.seconds(30), true)])
    func `what is to be left alone for half a minute is in trouble at once`(hold: Interval, isInTrouble: Bool) {
        var health = TargetHealth()
        let answer = Self.failure(.zero, "InvalidProviderToken")
        let change = health.take(answer, heldUntil: Self.start + hold)
        #expect(change == (isInTrouble ? .trouble(answer) : nil))
    }

    @Test func `a refusal of one request is an answer, and no success`() {
        var health = TargetHealth()
        _ = health.take(Self.failure(.zero))
        let refusal = TargetHealth.Answer(.refusal, status: 400, reason: "BadDeviceToken", at: Self.start + .seconds(1))
        #expect(health.take(refusal) == nil)
        #expect(!health.isFailing && health.lastSuccess == nil)
        #expect(health.lastAnswer == refusal)
        #expect(health.attempts == 2)
        #expect(health.failuresByReason.map(\.reason) == ["BadDeviceToken", "ServiceUnavailable"])
    }

    @Test(arguments: [15, 16, 17])
    func `as many reasons are counted by name as may be, the others together`(count: Int) {
        var health = TargetHealth()
        for number in 0..<count { _ = health.take(Self.failure(.zero, "reason \(number)")) }
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
