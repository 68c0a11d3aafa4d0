import Engine
import Gateway
import Testing
import WidgetModel

@Suite struct HostStreamsTests {
    /// What a stream carries until it ends.
    private static func rest(_ subscription: HostStreams.Subscription) async -> [String] {
        var seen: [String] = []
        for await event in subscription.events {
            switch event {
            case .heartbeat: seen.append("heartbeat")
            case .reload(let reload): seen.append(reload.id.description)
            }
        }
        return seen
    }

    private static func make(perScope: Int = 4, all: Int = 50, buffer: Int = 8) -> HostStreams {
        var limits = HostStreams.Limits()
        limits.perScopeMax = perScope
        limits.allMax = all
        limits.bufferMax = buffer
        return HostStreams(limits: limits)
    }

    private static func refusal(_ streams: HostStreams, _ scope: HostStreams.Scope) -> HostStreams.Refusal? {
        do throws(HostStreams.Refusal) {
            _ = try streams.subscribe(scope)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a host hears of its own reloads, an app of all of its hosts'`() async throws {
        let streams = Self.make()
        let first = try streams.subscribe(.host(HostID("a")))
        let second = try streams.subscribe(.host(HostID("b")))
        let app = try streams.subscribe(.app(Sports.app))
        let other = try streams.subscribe(.app(Sports.otherApp))
        streams.publish([.reload(Sports.reload("a")), .reload(Sports.reload("b")), .reload(Sports.reload("c"))])
        streams.publish([.reload(Sports.reload("d", app: Sports.otherApp))])
        streams.beat()
        #expect(streams.count == 4)
        streams.close()
        #expect(await Self.rest(first) == ["0-1-a:a", "heartbeat"])
        #expect(await Self.rest(second) == ["0-1-b:a", "heartbeat"])
        #expect(await Self.rest(app) == ["0-1-a:a", "0-1-b:a", "0-1-c:a", "heartbeat"])
        #expect(await Self.rest(other) == ["0-1-d:a", "heartbeat"])
        #expect(streams.count == 0)
        #expect(streams.cutOff == 0)
    }

    @Test func `so many streams of one scope and no more`() throws {
        let streams = Self.make(perScope: 2)
        let scope = HostStreams.Scope.host(HostID("a"))
        let held = [try streams.subscribe(scope), try streams.subscribe(scope)]
        #expect(Self.refusal(streams, scope) == .tooManyOfScope(max: 2))
        #expect(Self.refusal(streams, .host(HostID("b"))) == nil)
        streams.cancel(held[0])
        #expect(Self.refusal(streams, scope) == nil)
    }

    @Test func `so many streams in all and no more`() throws {
        let streams = Self.make(all: 2)
        let held = [try streams.subscribe(.host(HostID("a"))), try streams.subscribe(.app(Sports.app))]
        #expect(Self.refusal(streams, .host(HostID("b"))) == .tooMany(max: 2))
        streams.cancel(held[1])
        streams.cancel(held[1])
        #expect(streams.count == 1)
    }

    @Test func `a slow reader is cut off behind what it has, and the others go on`() async throws {
        let streams = Self.make(buffer: 2)
        let slow = try streams.subscribe(.host(HostID("a")))
        let app = try streams.subscribe(.app(Sports.app))
        streams.publish((1...2).map { .reload(Sports.reload("a", position: $0)) })
        #expect(streams.count == 2)
        streams.publish([.reload(Sports.reload("a", position: 3))])
        #expect(streams.count == 1)
        #expect(streams.cutOff == 1)
        streams.publish([.reload(Sports.reload("a", position: 4))])
        streams.close()
        #expect(await Self.rest(slow) == ["0-1-a:a", "0-2-a:a"])
        #expect(await Self.rest(app) == (1...4).map { "0-\($0)-a:a" })
    }

    @Test func `heartbeats cut off a reader that takes nothing`() throws {
        let streams = Self.make(buffer: 2)
        let held = try streams.subscribe(.host(HostID("a")))
        for _ in 0..<3 { streams.beat() }
        #expect(streams.count == 0)
        #expect(streams.cutOff == 1)
        streams.cancel(held)
    }

    @Test func `a stream that nobody holds any more gives its place back`() throws {
        let streams = Self.make(perScope: 1)
        let scope = HostStreams.Scope.host(HostID("a"))
        for _ in 0..<3 { _ = try streams.subscribe(scope) }
        #expect(streams.count == 0)
    }

    @Test func `a reader whose task is cancelled gives its place back`() async throws {
        let streams = Self.make(perScope: 1)
        let subscription = try streams.subscribe(.host(HostID("a")))
        let reader = Task { await Self.rest(subscription) }
        reader.cancel()
        #expect(await reader.value == [])
        #expect(streams.count == 0)
    }

    @Test func `a stream that is closing ends all and opens none`() async throws {
        let streams = Self.make()
        let held = try streams.subscribe(.host(HostID("a")))
        streams.close()
        #expect(await Self.rest(held) == [])
        #expect(Self.refusal(streams, .host(HostID("a"))) == .closing)
        streams.publish([.reload(Sports.reload("a"))])
        streams.cancel(held)
        #expect(streams.count == 0)
    }
}
