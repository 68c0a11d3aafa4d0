import Engine
import Gateway
import Testing
import WidgetModel

/// The live feed: bounded in every direction, resumed or with an explicit gap.
@Suite struct OperatorFeedTests {
    private static func note(_ number: Int) -> OperatorFeed.Event { .note(.order, .int(Int64(number))) }

    private static func numbers(_ events: [(event: OperatorFeed.Event, place: StreamCursor)]?) -> [Int64]? {
        events?.compactMap { pair in
            if case .note(_, .int(let number)) = pair.event { number } else { nil }
        }
    }

    private static func feed(_ change: (inout OperatorFeed.Limits) -> Void = { _ in }) -> OperatorFeed {
        var limits = OperatorFeed.Limits()
        change(&limits)
        return OperatorFeed(limits: limits, epoch: 7)
    }

    @Test func `a reader that comes back gets what it missed, or is told of a gap`() throws {
        let feed = Self.feed { $0.historyMax = 4 }
        for number in 1...10 { feed.publish(Self.note(number)) }
        func missed(_ sequence: UInt64, epoch: UInt32 = 7) throws -> [Int64]? {
            let subscription = try feed.subscribe(after: StreamCursor(epoch: epoch, sequence: sequence))
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
        #expect(new.start == StreamCursor(epoch: 7, sequence: 10))
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
        #expect(throws: OperatorFeed.Refusal.tooMany(max: 1)) { _ = try feed.subscribe(after: nil) }
        for number in 1...3 { feed.publish(Self.note(number)) }
        #expect(feed.cutOff == 1)
        #expect(feed.count == 0)
        var read = 0
        for await _ in subscription.events { read += 1 }
        #expect(read == 2)
        feed.close()
        #expect(throws: OperatorFeed.Refusal.closing) { _ = try feed.subscribe(after: nil) }
    }
}
