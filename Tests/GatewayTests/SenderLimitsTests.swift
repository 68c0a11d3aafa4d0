import APNSWire
import Partitions
import Serving
import Testing
import WidgetModel

/// Room and rates: which limit refuses a push, with which answer, and what the rates count then.
@Suite struct SenderLimitsTests {
    private static let token = Array("00ff00ff00ff00ff00ff00ff00ff00ff".utf8)
    private static let perMinute = RateLimit(count: 1, per: .minutes(1), burst: 1)

    private static func sender(_ limit: RateLimit?) -> Sender {
        Sender(team: Sports.team, keyID: nil, topics: TopicTable([]), meter: limit.map { RateMeter($0) })
    }

    /// The answer that a push gets, nil if it is admitted.
    private static func push(
        _ limits: SenderLimits,
        _ sender: Sender,
        _ app: RateMeter? = nil,
        tokens: TokenRates? = nil,
        isTargeted: Bool = false,
        beside own: Int = 0,
        isLogged: Bool = true,
        at now: Instant = Sports.start
    ) -> RejectionAnswer? {
        let place = APNSWire.ByteRange(0..<self.token.count)
        do throws(RejectionAnswer) {
            try limits.admit(
                sender,
                app,
                tokens,
                isTargeted ? .targeted(bundle: place, isDryRun: false) : .device(token: place),
                in: self.token.span,
                beside: own,
                isLogged: isLogged,
                at: now
            )
            return nil
        } catch {
            return error
        }
    }

    private static func counts(_ limits: SenderLimits) -> [Int] {
        RateCounters.Scope.allCases.map { limits.counters[$0] }
    }

    @Test func `without limits everything is admitted`() {
        let limits = SenderLimits()
        for _ in 0..<1000 { #expect(Self.push(limits, Self.sender(nil)) == nil) }
        #expect(Self.counts(limits) == [0, 0, 0])
    }

    @Test func `the token's rate is for pushes to devices only`() {
        let tokens = TokenRates(limit: Self.perMinute, entries: 64, seed: 7)
        let limits = SenderLimits()
        let sender = Self.sender(nil)
        #expect(Self.push(limits, sender, tokens: tokens) == nil)
        let refusal = Self.push(limits, sender, tokens: tokens)
        #expect(refusal?.rejection == .tooManyRequests)
        #expect(refusal?.retryAfter == 60)
        #expect(Self.push(limits, sender, tokens: tokens, at: Sports.start + .milliseconds(59_001))?.retryAfter == 1)
        #expect(Self.push(limits, sender, tokens: tokens, isTargeted: true) == nil)
        #expect(Self.push(limits, sender, tokens: tokens, at: Sports.start + .seconds(60)) == nil)
        #expect(Self.counts(limits) == [0, 0, 2])
    }

    @Test func `each key and each app has a rate of its own`() {
        let limits = SenderLimits()
        let (first, second) = (Self.sender(Self.perMinute), Self.sender(Self.perMinute))
        #expect(Self.push(limits, first) == nil)
        #expect(Self.push(limits, first)?.rejection == .tooManyRequests)
        #expect(Self.push(limits, second) == nil)
        let (app, other) = (RateMeter(Self.perMinute), RateMeter(Self.perMinute))
        let free = Self.sender(nil)
        #expect(Self.push(limits, free, app, isTargeted: true) == nil)
        #expect(Self.push(limits, free, app, isTargeted: true)?.rejection == .tooManyRequests)
        #expect(Self.push(limits, free, other) == nil)
        #expect(Self.counts(limits) == [1, 1, 0])
    }

    @Test func `a push that one limit refuses counts for none of the others`() {
        let twice = RateLimit(count: 1, per: .minutes(1), burst: 2)
        let limits = SenderLimits()
        let tokens = TokenRates(limit: twice, entries: 64, seed: 7)
        let app = RateMeter(Self.perMinute)
        let sender = Self.sender(twice)
        #expect(Self.push(limits, sender, app, tokens: tokens) == nil)
        // The app refuses: token and key keep their second push.
        for _ in 0..<3 { #expect(Self.push(limits, sender, app, tokens: tokens)?.retryAfter == 60) }
        #expect(Self.push(limits, sender, tokens: tokens) == nil)
        #expect(Self.push(limits, sender, tokens: tokens)?.rejection == .tooManyRequests)
        #expect(Self.counts(limits) == [3, 0, 1])
    }

    @Test func `each of several gateways has its part of every rate, from the moment that there are several`() {
        let limit = RateLimit(count: 60, per: .minutes(1), burst: 6)
        let limits = SenderLimits()
        let (tokens, app) = (TokenRates(limit: limit, entries: 64, seed: 7), RateMeter(limit))
        let (free, key) = (Self.sender(nil), Self.sender(limit))
        /// How many of ten at one instant each limit admits, after all have become idle.
        func admitted(_ minutes: Int64) -> [Int] {
            let now = Sports.start + .minutes(minutes)
            return [
                (0..<10).count { _ in Self.push(limits, free, tokens: tokens, at: now) == nil },
                (0..<10).count { _ in Self.push(limits, key, at: now) == nil },
                (0..<10).count { _ in Self.push(limits, free, app, at: now) == nil },
            ]
        }
        #expect(admitted(0) == [6, 6, 6])
        limits.nodes.set(3)
        #expect(admitted(1) == [2, 2, 2])
        limits.nodes.set(1)
        #expect(admitted(2) == [6, 6, 6])
    }

    @Test(arguments: [(2, 0, 0, true), (2, 1, 0, true), (2, 0, 1, true), (2, 1, 1, false), (2, 2, 0, false)])
    func `no more wait than the backlog holds`(max: Int, waiting: Int, own: Int, isAdmitted: Bool) {
        let limits = SenderLimits(backlog: PushBacklog(max: max))
        limits.backlog.add(waiting)
        let answer = Self.push(limits, Self.sender(nil), beside: own)
        #expect((answer == nil) == isAdmitted)
        guard let answer else { return }
        #expect(answer.rejection == .serviceUnavailable)
        #expect(answer.retryAfter == 5)
        #expect(limits.counters.backlogFull == 1)
        limits.backlog.remove(waiting)
        #expect(Self.push(limits, Self.sender(nil)) == nil)
    }

    @Test(arguments: [(999, true, true), (1000, false, true), (1064, false, true)])
    func `a full disk refuses what would be logged, and nothing else`(
        mebibytes: Int,
        isAdmitted: Bool,
        isUnloggedAdmitted: Bool
    ) {
        let storage = FakeDisk(usedMebibytes: mebibytes).watch()
        let limits = SenderLimits(storage: storage)
        let sender = Self.sender(Self.perMinute)
        let answer = Self.push(limits, sender)
        #expect((answer == nil) == isAdmitted)
        #expect((Self.push(limits, Self.sender(nil), isLogged: false) == nil) == isUnloggedAdmitted)
        guard let answer else { return }
        #expect(answer.rejection == .serviceUnavailable)
        #expect(answer.retryAfter == 30)
        #expect(storage.refused.pushes == 1)
        // It takes nothing from a rate.
        #expect(Self.push(limits, sender, isLogged: false) == nil)
    }

    @Test func `a backlog that may be longer takes more, a shorter one keeps what it has`() {
        let limits = SenderLimits(backlog: PushBacklog(max: 1))
        limits.backlog.add(1)
        limits.backlog.setLimit(max: 2)
        #expect(Self.push(limits, Self.sender(nil)) == nil)
        limits.backlog.add(1)
        limits.backlog.setLimit(max: 1)
        limits.backlog.remove(1)
        #expect(limits.backlog.count == 1)
        #expect(Self.push(limits, Self.sender(nil))?.rejection == .serviceUnavailable)
    }

    @Test func `a full backlog takes nothing from a rate`() {
        let limits = SenderLimits(backlog: PushBacklog(max: 1))
        let sender = Self.sender(Self.perMinute)
        limits.backlog.add(1)
        #expect(Self.push(limits, sender)?.rejection == .serviceUnavailable)
        limits.backlog.remove(1)
        #expect(Self.push(limits, sender) == nil)
    }

    @Test func `the same instant on many threads admits exactly the burst`() async {
        let meter = RateMeter(RateLimit(count: 1, per: .hours(1), burst: 500))
        let admitted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<500).count { _ in meter.admit(at: Sports.start) == nil } }
            }
            return await group.reduce(0, +)
        }
        #expect(admitted == 500)
    }
}
