import Engine
import Journaling
import Serving
import TestSupport
import Testing
import TimelineProviding
import WidgetModel

@Suite struct HostStreamsTests {
    /// The events of a stream until it ends.
    private static func rest(_ subscription: HostStreams.Subscription) async -> [String] {
        var seen: [String] = []
        for await event in subscription.events {
            switch event {
            case .heartbeat: seen.append("heartbeat")
            case .event(.reload(let reload), _):
                seen.append("\(reload.id.position) \(reload.host.id):\(reload.instance)")
            case .event(.invalidation(let invalidation), _):
                seen.append("\(invalidation.subject) of \(invalidation.kind)")
            case .event(.placeholder(let placeholder), _):
                seen.append("placeholder of \(placeholder.address)")
            case .event(.entry(let due), _): seen.append("entry of \(due.timeline.address)")
            }
        }
        return seen
    }

    private static func make(
        perScope: Int = 4,
        all: Int = 50,
        buffer: Int = 8,
        history: Int = 8,
        beats: Int = 1000,
        seed: UInt64 = 1
    ) -> HostStreams {
        var limits = HostStreams.Limits()
        limits.perScopeMax = perScope
        limits.allMax = all
        limits.bufferMax = buffer
        limits.historyMax = history
        limits.rotationBeats = beats
        return .begun(limits, seed: seed)
    }

    private static func refusal(_ streams: HostStreams, _ scope: HostStreams.Scope) -> HostStreams.SubscribeError? {
        do throws(HostStreams.SubscribeError) {
            _ = try streams.subscribe(scope)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a host hears of its own reloads, an app of all of its hosts'`() async throws {
        let streams = Self.make()
        let first = try streams.subscribe(.host(HostKey("a")))
        let second = try streams.subscribe(.host(HostKey("b")))
        let app = try streams.subscribe(.app(Sports.app))
        let other = try streams.subscribe(.app(Sports.otherApp))
        streams.publish([
            HostEvent.reload(Sports.reload("a")), .reload(Sports.reload("b")), .reload(Sports.reload("c")),
        ])
        streams.publish([.reload(Sports.reload("d", app: Sports.otherApp))])
        streams.beat()
        #expect(streams.count == 4)
        streams.close()
        #expect(await Self.rest(first) == ["1 a:a", "heartbeat"])
        #expect(await Self.rest(second) == ["1 b:a", "heartbeat"])
        #expect(await Self.rest(app) == ["1 a:a", "1 b:a", "1 c:a", "heartbeat"])
        #expect(await Self.rest(other) == ["1 d:a", "heartbeat"])
        #expect(streams.count == 0)
        #expect(streams.counters.cutOff == 0)
    }

    @Test func `streams end some of whose events were let go of before they were read`() async throws {
        let streams = HostStreams.begun(partitions: 2)
        let keys = (0..<8).map { HostKey("host-\($0)") }
        let held = try keys.map { try streams.subscribe(.host($0)) }
        let app = try streams.subscribe(.app(Sports.app))
        streams.begin(PartitionID(1), at: OutputPosition(.max - 1))
        let ended = keys.filter { PartitionID(of: $0, among: 2) == PartitionID(1) }
        #expect(!ended.isEmpty && ended.count < keys.count && streams.count == keys.count - ended.count)
        #expect(await Self.rest(app) == [])
        for (key, stream) in zip(keys, held) where ended.contains(key) { #expect(await Self.rest(stream) == []) }
        #expect(try streams.subscribe(.app(Sports.app), after: Self.place(app)).missed == .gap)
        streams.close()
    }

    @Test func `so many streams of one scope and no more`() throws {
        let streams = Self.make(perScope: 2)
        let scope = HostStreams.Scope.host(HostKey("a"))
        let held = [try streams.subscribe(scope), try streams.subscribe(scope)]
        #expect(Self.refusal(streams, scope) == .tooManyOfScope(max: 2))
        #expect(streams.counters.refusedOfScope == 1)
        #expect(Self.refusal(streams, .host(HostKey("b"))) == nil)
        streams.cancel(held[0])
        #expect(Self.refusal(streams, scope) == nil)
    }

    @Test func `so many streams in all and no more`() throws {
        let streams = Self.make(all: 2)
        let held = [try streams.subscribe(.host(HostKey("a"))), try streams.subscribe(.app(Sports.app))]
        #expect(Self.refusal(streams, .host(HostKey("b"))) == .tooMany(max: 2))
        #expect(streams.counters.refused == 1)
        streams.cancel(held[1])
        streams.cancel(held[1])
        #expect(streams.count == 1)
    }

    @Test func `other limits hold for the streams that come then`() async throws {
        let streams = Self.make(perScope: 1, buffer: 2)
        let scope = HostStreams.Scope.host(HostKey("a"))
        let first = try streams.subscribe(scope)
        var limits = HostStreams.Limits()
        limits.perScopeMax = 2
        limits.bufferMax = 3
        limits.historyMax = 1
        streams.applyLimits(limits)
        let second = try streams.subscribe(scope)
        #expect(Self.refusal(streams, scope) == .tooManyOfScope(max: 2))
        streams.publish((1...3).map { HostEvent.reload(Sports.reload("a", position: $0)) })
        // The first has the buffer that it began with.
        #expect(streams.counters.cutOff == 1)
        #expect(streams.count == 1)
        let back = try streams.subscribe(scope, after: first.start.description)
        #expect(back.missed == .gap)
        streams.cancel(second)
        streams.cancel(back)
    }

    @Test func `a slow reader is cut off behind what it has, and the others go on`() async throws {
        let streams = Self.make(buffer: 2)
        let slow = try streams.subscribe(.host(HostKey("a")))
        let app = try streams.subscribe(.app(Sports.app))
        streams.publish((1...2).map { HostEvent.reload(Sports.reload("a", position: $0)) })
        #expect(streams.count == 2)
        streams.publish([HostEvent.reload(Sports.reload("a", position: 3))])
        #expect(streams.count == 1)
        #expect(streams.counters.cutOff == 1)
        streams.publish([HostEvent.reload(Sports.reload("a", position: 4))])
        streams.close()
        #expect(await Self.rest(slow) == ["1 a:a", "2 a:a"])
        #expect(await Self.rest(app) == (1...4).map { "\($0) a:a" })
    }

    @Test func `heartbeats cut off a reader that takes nothing`() throws {
        let streams = Self.make(buffer: 2)
        let held = try streams.subscribe(.host(HostKey("a")))
        for _ in 0..<3 { streams.beat() }
        #expect(streams.count == 0)
        #expect(streams.counters.cutOff == 1)
        streams.cancel(held)
    }

    @Test func `a stream without a holder gives its place back`() throws {
        let streams = Self.make(perScope: 1)
        let scope = HostStreams.Scope.host(HostKey("a"))
        for _ in 0..<3 { _ = try streams.subscribe(scope) }
        #expect(streams.count == 0)
    }

    @Test func `a reader whose task is cancelled gives its place back`() async throws {
        let streams = Self.make(perScope: 1)
        let subscription = try streams.subscribe(.host(HostKey("a")))
        let reader = Task { await Self.rest(subscription) }
        reader.cancel()
        #expect(await reader.value == [])
        #expect(streams.count == 0)
    }

    @Test func `a stream that is closing ends all and opens none`() async throws {
        let streams = Self.make()
        let held = try streams.subscribe(.host(HostKey("a")))
        streams.close()
        #expect(await Self.rest(held) == [])
        #expect(Self.refusal(streams, .host(HostKey("a"))) == .closing)
        streams.publish([HostEvent.reload(Sports.reload("a"))])
        streams.cancel(held)
        #expect(streams.count == 0)
    }

    // MARK: Coming back

    private static func place(_ subscription: HostStreams.Subscription) -> String { subscription.start.description }

    @Test func `a reader that comes back is told what it has missed, and only of its own`() throws {
        let streams = Self.make()
        streams.publish([HostEvent.reload(Sports.reload("a", position: 1))])
        let before = try streams.subscribe(.host(HostKey("a")))
        #expect(before.missed == .unknown)
        let missed = (2...3).map { HostEvent.reload(Sports.reload("a", position: $0)) }
        streams.publish(missed + [.reload(Sports.reload("b", position: 4))])
        let after = try streams.subscribe(.host(HostKey("a")), after: Self.place(before))
        #expect(after.missed == .events(missed))
        #expect(try streams.subscribe(.host(HostKey("a")), after: Self.place(after)).missed == .events([]))
        #expect(try streams.subscribe(.host(HostKey("b")), after: Self.place(after)).missed == .events([]))
        #expect(streams.counters.gaps == 0)
    }

    @Test(arguments: ["0-1-7-00000001", "nonsense", "1-", "-1", "ffffffff-0.1.0", "0-0"])
    func `a place that no gateway with this log gave out is a gap`(last: String) throws {
        let streams = Self.make()
        #expect(try streams.subscribe(.host(HostKey("a")), after: last).missed == .gap)
        #expect(streams.counters.gaps == 1)
    }

    @Test func `a place of another log is a gap, one of another process is none`() throws {
        let place = Self.place(try Self.make(seed: 2).subscribe(.host(HostKey("a"))))
        #expect(try Self.make(seed: 3).subscribe(.host(HostKey("a")), after: place).missed == .events([]))
        let other = HostStreams.begun(log: "another")
        #expect(try other.subscribe(.host(HostKey("a")), after: place).missed == .gap)
    }

    @Test func `what is drawn has no place, and is told again to a reader that may have missed it`() async throws {
        let streams = Self.make()
        streams.setDrawing(true, PartitionID(0))
        let reader = try streams.subscribe(.host(HostKey("a")))
        let drawing = HostEvent.placeholder(
            Placeholder(
                reload: Sports.reload("a").id,
                address: InstanceAddress(host: HostKey("a"), instance: InstanceID("a")),
                kind: WidgetKind("scores"),
                family: .systemSmall,
                content: .string("soon")
            )
        )
        streams.draw([drawing])
        var events = reader.events.makeAsyncIterator()
        #expect(await events.next() == .event(drawing, nil))
        let back = try streams.subscribe(.host(HostKey("a")), after: Self.place(reader))
        #expect(back.missed == .events([drawing]) && back.hasAllDrawings)
        #expect(try HostEvent(drawing: try #require(drawing.drawingBytes)) == drawing)
        // Another node's go out there.
        streams.setDrawing(false, PartitionID(0))
        let elsewhere = try streams.subscribe(.host(HostKey("a")), after: Self.place(reader))
        #expect(elsewhere.missed == .events([drawing]) && !elsewhere.hasAllDrawings)
        for held in [reader, back, elsewhere] { streams.cancel(held) }
    }

    @Test func `heartbeats carry the place, so that a quiet reader does not fall behind`() async throws {
        let streams = Self.make(history: 2)
        let quiet = try streams.subscribe(.host(HostKey("a")))
        streams.publish((1...4).map { HostEvent.reload(Sports.reload("b", position: $0)) })
        #expect(try streams.subscribe(.host(HostKey("a")), after: Self.place(quiet)).missed == .gap)
        streams.beat()
        var events = quiet.events.makeAsyncIterator()
        guard case .heartbeat(let cursor) = await events.next() else {
            Issue.record("expected a heartbeat")
            return
        }
        #expect(try streams.subscribe(.host(HostKey("a")), after: "\(cursor)").missed == .events([]))
    }

    @Test func `a reader is not told what went out before its token stood for the host`() throws {
        let streams = Self.make()
        streams.setDrawing(true, PartitionID(0))
        let scope = HostStreams.Scope.host(HostKey("a"))
        let right = HostStreams.Right(token: Sports.token("a"))
        let before = try streams.subscribe(scope, by: right)
        streams.publish([HostEvent.reload(Sports.reload("a", position: 1))])
        streams.apply([.bound(Sports.token("a"), host: HostKey("a"), instance: nil)])
        let back = try streams.subscribe(scope, by: right, after: Self.place(before))
        #expect(back.missed == .gap)
        let missed = HostEvent.reload(Sports.reload("a", position: 2))
        streams.publish([missed])
        // A control's own token is no reader's.
        streams.apply([.bound(Sports.token("a"), host: HostKey("a"), instance: InstanceID("c"))])
        #expect(try streams.subscribe(scope, by: right, after: Self.place(back)).missed == .events([missed]))
        #expect(streams.counters.gaps == 1)
    }

    @Test func `what an owner replays that comes from another node says nothing of when a token was bound`() throws {
        let streams = Self.make()
        let right = HostStreams.Right(token: Sports.token("a"))
        let before = try streams.subscribe(.host(HostKey("a")), by: right)
        let missed = HostEvent.reload(Sports.reload("a", position: 1))
        streams.publish([missed])
        streams.apply([.bound(Sports.token("a"), host: HostKey("a"), instance: nil)])
        let back = try streams.subscribe(.host(HostKey("a")), by: right, after: Self.place(before))
        #expect(back.missed == .events([missed]))
    }

    @Test func `with more tokens bound than are kept apart, none is told of before that`() throws {
        let streams = Self.make(history: 2)
        streams.setDrawing(true, PartitionID(0))
        let scope = HostStreams.Scope.host(HostKey("a"))
        let right = HostStreams.Right(token: Sports.token("a"))
        streams.apply([.bound(Sports.token("a"), host: HostKey("a"), instance: nil)])
        let before = try streams.subscribe(scope, by: right)
        streams.publish([HostEvent.reload(Sports.reload("a", position: 1))])
        #expect(try streams.subscribe(scope, by: right, after: Self.place(before)).missed != .gap)
        for name in ["b", "c"] { streams.apply([.bound(Sports.token(name), host: HostKey(name), instance: nil)]) }
        let back = try streams.subscribe(scope, by: right, after: Self.place(before))
        #expect(back.missed == .gap)
        #expect(try streams.subscribe(scope, by: right, after: Self.place(back)).missed == .events([]))
    }

    // MARK: Rights

    private static let token = Sports.token("phone")
    private static let right = HostStreams.Right(token: token)

    /// A subscription that looked its token up before that moved comes behind the new host's.
    @Test func `a stream ends with its token, whatever became of others that the token opened`() throws {
        for cancelsLate in [true, false] {
            let streams = Self.make()
            let new = try streams.subscribe(.host(HostKey("new")), by: Self.right)
            let late = try streams.subscribe(.host(HostKey("old")), by: Self.right)
            let another = HostStreams.Right(token: Sports.token("another"))
            let other = try streams.subscribe(.host(HostKey("new")), by: another)
            if cancelsLate { streams.cancel(late) }
            streams.apply([.removed(Self.token, app: Sports.app, .unregistered, at: Sports.start)])
            #expect(streams.count == 1)
            #expect(streams.counters.revoked == (cancelsLate ? 1 : 2))
            for held in [new, late, other] { streams.cancel(held) }
            #expect(streams.count == 0)
        }
    }

    @Test func `a token that moves takes the streams of its old hosts along, and not the new one's`() throws {
        let streams = Self.make()
        let old = ["old", "older"].map { HostKey($0) }
        let ending = try old.map { try streams.subscribe(.host($0), by: Self.right) }
        let staying = try streams.subscribe(.host(HostKey("new")), by: Self.right)
        streams.apply([.bound(Self.token, host: HostKey("new"), instance: nil)])
        #expect(streams.open(of: old + [HostKey("new")]) == [0, 0, 1])
        #expect(streams.counters.revoked == 2)
        streams.apply([.removed(Self.token, app: Sports.app, .unregistered, at: Sports.start)])
        #expect(streams.count == 0)
        for held in ending + [staying] { streams.cancel(held) }
    }

    // MARK: Rotation

    @Test func `streams end by themselves, each within a quarter of the time, and not all at once`() throws {
        let streams = Self.make(all: 200, buffer: 200, beats: 40)
        let held = try (0..<100).map { try streams.subscribe(.host(HostKey("host-\($0)"))) }
        var ended: [Int] = []
        var before = streams.count
        for beat in 1...50 {
            streams.beat()
            for _ in streams.count..<before { ended.append(beat) }
            before = streams.count
        }
        #expect(held.count == 100)
        #expect(ended.count == 100)
        #expect(streams.counters.rotated == 100)
        #expect(ended.allSatisfy { (30...50).contains($0) }, "\(ended)")
        #expect(Set(ended).count >= 15, "\(ended)")
        #expect(streams.counters.cutOff == 0)
    }

    @Test func `a stream that lives for less than a heartbeat ends at the first one`() async throws {
        let streams = Self.make(beats: 0)
        let held = try streams.subscribe(.host(HostKey("a")))
        streams.beat()
        #expect(streams.count == 0)
        #expect(await Self.rest(held) == ["heartbeat"])
    }

    @Test func `readers are asked to come back at different times, from one second on`() throws {
        let streams = Self.make(all: 200)
        let waits = try (0..<100).map { try streams.subscribe(.host(HostKey("host-\($0)"))).retryMilliseconds }
        #expect(waits.allSatisfy { (1000...5000).contains($0) })
        #expect(Set(waits.map { $0 / 500 }).count >= 7, "\(waits)")
        var limits = HostStreams.Limits()
        limits.retryMax = .seconds(1)
        #expect(try HostStreams.begun(limits).subscribe(.host(HostKey("a"))).retryMilliseconds == 1000)
    }

    @Test func `hosts are reached by a stream of their own or by their app's, as long as one is open`() throws {
        let streams = HostStreams.begun()
        let (phone, tablet) = (HostKey("phone"), HostKey("tablet"))
        #expect(streams.reaches([phone, tablet]) == [false, false] && streams.apps.isEmpty)
        let own = [try streams.subscribe(.host(phone)), try streams.subscribe(.host(phone))]
        #expect(streams.reaches([phone, tablet]) == [true, false] && streams.apps == [phone.app])
        streams.cancel(own[0])
        // The other one is open still; to cancel twice is nothing.
        streams.cancel(own[0])
        #expect(streams.reaches([phone, tablet]) == [true, false] && streams.apps == [phone.app])
        streams.cancel(own[1])
        #expect(streams.reaches([phone]) == [false] && streams.apps.isEmpty)
        let all = try streams.subscribe(.app(phone.app))
        #expect(streams.reaches([phone, tablet]) == [true, true] && streams.connected.apps == [phone.app])
        streams.close()
        #expect(streams.reaches([phone]) == [false] && streams.apps.isEmpty)
        streams.cancel(all)
        #expect(streams.apps.isEmpty)
    }
}
