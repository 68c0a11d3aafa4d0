import Engine
import OperatorAPI
import Serving
import Settings
import Testing
import WidgetModel

/// The live feed: bounded in every direction, resumed or with an explicit gap.
@Suite struct OperatorFeedTests {
    private static func note(_ number: Int) -> OperatorFeed.Event { .note(.order, .int(Int64(number))) }

    private static func numbers(_ events: [(event: OperatorFeed.Event, place: FeedPlace)]?) -> [Int64]? {
        events?.compactMap { pair in
            if case .note(_, .int(let number)) = pair.event { number } else { nil }
        }
    }

    private static func feed(_ change: (inout GatewayConfiguration.Feed) -> Void = { _ in }) -> OperatorFeed {
        var limits = GatewayConfiguration.Feed()
        change(&limits)
        return OperatorFeed(limits: limits, epoch: 7)
    }

    @Test func `a reader that comes back gets what it missed, or is told of a gap`() throws {
        let feed = Self.feed { $0.historyMax = 4 }
        for number in 1...10 { feed.publish(Self.note(number)) }
        func missed(_ sequence: UInt64, epoch: UInt32 = 7) throws -> [Int64]? {
            let subscription = try feed.subscribe(after: FeedPlace(epoch: epoch, sequence: sequence))
            defer { feed.cancel(subscription) }
            return Self.numbers(subscription.missed)
        }
        #expect(try missed(10) == [])
        #expect(try missed(6) == [7, 8, 9, 10])
        #expect(try missed(5) == nil)
        #expect(try missed(11) == nil)
        #expect(try missed(9, epoch: 8) == nil)
        let new = try feed.subscribe(after: nil)
        #expect(Self.numbers(new.missed) == [])
        #expect(new.start == FeedPlace(epoch: 7, sequence: 10))
    }

    @Test func `with other limits the newest events are remembered, and readers stay`() throws {
        let feed = Self.feed {
            $0.historyMax = 4
            $0.readersMax = 1
        }
        let reader = try feed.subscribe(after: nil)
        for number in 1...6 { feed.publish(Self.note(number)) }
        func missed(_ sequence: UInt64) throws -> [Int64]? {
            let subscription = try feed.subscribe(after: FeedPlace(epoch: 7, sequence: sequence))
            defer { feed.cancel(subscription) }
            return Self.numbers(subscription.missed)
        }
        var limits = GatewayConfiguration.Feed()
        limits.historyMax = 2
        limits.readersMax = 2
        feed.applyLimits(limits)
        #expect(try missed(4) == [5, 6])
        #expect(try missed(3) == nil)
        limits.historyMax = 5
        feed.applyLimits(limits)
        for number in 7...10 { feed.publish(Self.note(number)) }
        #expect(try missed(5) == [6, 7, 8, 9, 10])
        #expect(try missed(4) == nil)
        #expect(feed.count == 1)
        feed.cancel(reader)
    }

    @Test(arguments: [3, 4, 5])
    func `so many events are remembered as the setting says`(published: Int) throws {
        let feed = Self.feed { $0.historyMax = 4 }
        for number in 1...published { feed.publish(Self.note(number)) }
        let subscription = try feed.subscribe(after: FeedPlace(epoch: 7, sequence: 0))
        #expect(Self.numbers(subscription.missed) == (published <= 4 ? (1...published).map { Int64($0) } : nil))
        #expect(feed.gaps == (published <= 4 ? 0 : 1))
    }

    @Test(arguments: [1, 2, 3])
    func `so many read at once as the setting says`(readers: Int) throws {
        let feed = Self.feed { $0.readersMax = 2 }
        var subscriptions: [OperatorFeed.Subscription] = []
        for _ in 0..<readers {
            if let subscription = try? feed.subscribe(after: nil) { subscriptions.append(subscription) }
        }
        #expect(subscriptions.count == min(readers, 2))
        #expect(feed.count == min(readers, 2))
        #expect(feed.refused == max(0, readers - 2))
        for subscription in subscriptions { feed.cancel(subscription) }
    }

    @Test(arguments: [15, 16, 17])
    func `so many events wait for a reader as the setting says`(events: Int) throws {
        let feed = Self.feed { $0.bufferMax = 16 }
        let subscription = try feed.subscribe(after: nil)
        for number in 1...events { feed.publish(Self.note(number)) }
        #expect(feed.cutOff == (events <= 16 ? 0 : 1))
        feed.cancel(subscription)
    }

    @Test(arguments: [2, 3, 4])
    func `so many reloads of a second are told as the setting says`(reloads: Int) throws {
        let feed = Self.feed { $0.reloadsPerSecond = 3 }
        feed.publish((1...reloads).map { Effect.reload(Sports.reload("host-\($0)")) })
        #expect(feed.reloadsNotShown == max(0, reloads - 3))
        let told = try feed.subscribe(after: FeedPlace(epoch: 7, sequence: 0)).missed
        #expect(told?.count == min(reloads, 3))
    }

    @Test func `a busy second's reloads are counted, not told`() {
        let feed = Self.feed { $0.reloadsPerSecond = 3 }
        let effects = (1...10).map { Effect.reload(Sports.reload("host-\($0)")) }
        feed.publish(effects)
        #expect(feed.reloadsNotShown == 7)
        feed.publish(GatewaySample(from: GatewayTotals(at: Sports.start), to: GatewayTotals(at: Sports.start)))
        feed.publish(effects)
        #expect(feed.reloadsNotShown == 14)
    }

    @Test func `readers are bounded, and a slow one is cut off`() async throws {
        let feed = Self.feed {
            $0.readersMax = 1
            $0.bufferMax = 2
        }
        let subscription = try feed.subscribe(after: nil)
        #expect(throws: OperatorFeed.SubscribeError.tooMany(max: 1)) { _ = try feed.subscribe(after: nil) }
        for number in 1...3 { feed.publish(Self.note(number)) }
        #expect(feed.cutOff == 1)
        #expect(feed.count == 0)
        var read = 0
        for await _ in subscription.events { read += 1 }
        #expect(read == 2)
        feed.close()
        #expect(throws: OperatorFeed.SubscribeError.closing) { _ = try feed.subscribe(after: nil) }
    }
}
