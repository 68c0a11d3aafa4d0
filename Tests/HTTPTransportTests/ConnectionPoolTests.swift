import NIOCore
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct ConnectionPoolTests {
    /// A pool and what it wants done.
    private struct Scene {
        var pool: ConnectionPool
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        private var actions: [ConnectionPool.Action] = []

        init(_ change: (inout ConnectionPool.Limits) -> Void = { _ in }) {
            var limits = ConnectionPool.Limits()
            change(&limits)
            self.pool = ConnectionPool(limits, seed: 1)
        }

        /// The actions that the pool asks for after one call.
        mutating func after(
            _ body: (inout ConnectionPool, NIODeadline, inout [ConnectionPool.Action]) -> Void
        ) -> [ConnectionPool.Action] {
            self.actions = []
            body(&self.pool, self.now, &self.actions)
            #expect(self.pool.checkInvariants() == [])
            return self.actions
        }

        mutating func request(_ id: UInt64) -> [ConnectionPool.Action] {
            self.after { $0.request(id, now: $1, &$2) }
        }

        mutating func open(_ id: UInt64 = 1, streamsMax: Int = 1000) -> [ConnectionPool.Action] {
            self.after { $0.connected(id, streamsMax: streamsMax, now: $1, &$2) }
        }

        mutating func answered(_ id: UInt64) -> [ConnectionPool.Action] {
            self.after { $0.answered(id, now: $1, &$2) }
        }
    }

    @Test func `the first request connects, the next ones wait for that connection`() {
        var scene = Scene()
        #expect(scene.request(1) == [.connect(1)])
        #expect(scene.request(2) == [])
        #expect(scene.open() == [.send(1, on: 1), .send(2, on: 1)])
        #expect(scene.request(3) == [.send(3, on: 1)])
        #expect([scene.pool.waitingCount, scene.pool.sentCount] == [0, 3])
    }

    @Test func `the limit of streams moves: 1, then 1000, then 1 again`() {
        var scene = Scene { $0.connectionsMax = 1 }
        for id in 1...10 { _ = scene.request(UInt64(id)) }
        #expect(scene.open(streamsMax: 1) == [.send(1, on: 1)])
        let raised = scene.after { $0.streamsMax(1, 1000, now: $1, &$2) }
        #expect(raised == (2...10).map { .send(UInt64($0), on: 1) })
        #expect(scene.after { $0.streamsMax(1, 1, now: $1, &$2) } == [])
        #expect(scene.request(11) == [])
        for id in 1...9 { #expect(scene.answered(UInt64(id)) == []) }
        #expect(scene.answered(10) == [.send(11, on: 1)])
    }

    @Test func `a limit that is raised lets out what waited for it`() {
        var scene = Scene {
            $0.connectionsMax = 1
            $0.streamsPerConnectionMax = 1
        }
        for id in 1...4 { _ = scene.request(UInt64(id)) }
        #expect(scene.open() == [.send(1, on: 1)])
        #expect(scene.answered(1) == [.send(2, on: 1)])
        scene.pool.limits.streamsPerConnectionMax = 2
        #expect(scene.after { $0.wake(now: $1, &$2) } == [.send(3, on: 1)])
        scene.pool.limits.connectionsMax = 2
        #expect(scene.after { $0.wake(now: $1, &$2) } == [.connect(2)])
    }

    @Test func `no second connection is opened beside one that has not answered yet`() {
        var scene = Scene { $0.connectionsMax = 2 }
        for id in 1...3 { _ = scene.request(UInt64(id)) }
        #expect(scene.open(streamsMax: 1) == [.send(1, on: 1)])
        #expect(scene.answered(1) == [.send(2, on: 1), .connect(2)])
        #expect(scene.open(2, streamsMax: 1) == [.send(3, on: 2)])
        #expect(scene.request(4) == [])
    }

    @Test(arguments: [1, 2, 5])
    func `no more connections than the limit`(max: Int) {
        var scene = Scene { $0.connectionsMax = max }
        var next: UInt64 = 0
        for connection in 1...max {
            next += 1
            _ = scene.request(next)
            next += 1
            _ = scene.request(next)
            _ = scene.open(UInt64(connection), streamsMax: 1)
            _ = scene.answered(next - 1)
        }
        for _ in 1...20 {
            next += 1
            _ = scene.request(next)
        }
        #expect(scene.pool.connectionCount == max)
    }

    @Test func `a queue takes its limit and not one more`() {
        var scene = Scene { $0.queueMax = 2 }
        #expect(scene.request(1) == [.connect(1)])
        #expect(scene.request(2) == [])
        #expect(scene.request(3) == [.fail(3, .queueFull)])
        _ = scene.after { $0.gaveUp(1, now: $1, &$2) }
        #expect(scene.request(4) == [])
        #expect(scene.open() == [.send(2, on: 1), .send(4, on: 1)])
    }

    @Test func `GOAWAY: what is above its last stream goes to another connection, the rest finishes`() {
        var scene = Scene()
        for id in 1...3 { _ = scene.request(UInt64(id)) }
        _ = scene.open()
        _ = scene.answered(1)
        #expect(scene.after { $0.draining(1, now: $1, &$2) } == [])
        #expect(scene.after { $0.refused(3, now: $1, &$2) } == [.connect(2)])
        #expect(scene.answered(2) == [])
        #expect(scene.after { $0.closed(1, now: $1, &$2) } == [])
        #expect(scene.open(2) == [.send(3, on: 2)])
    }

    @Test func `a refused request is sent again, before younger ones, and not for ever`() {
        var scene = Scene {
            $0.connectionsMax = 1
            $0.resendsMax = 2
        }
        _ = scene.request(1)
        _ = scene.request(2)
        #expect(scene.open(streamsMax: 1) == [.send(1, on: 1)])
        #expect(scene.after { $0.refused(1, now: $1, &$2) } == [.send(1, on: 1)])
        #expect(scene.after { $0.refused(1, now: $1, &$2) } == [.send(1, on: 1)])
        #expect(
            scene.after { $0.refused(1, now: $1, &$2) } == [.fail(1, .refused(resends: 2)), .send(2, on: 1)]
        )
    }

    @Test func `what was on a connection that broke is sent again only if it may be repeated`() {
        var scene = Scene()
        _ = scene.request(1)
        _ = scene.request(2)
        _ = scene.request(3)
        _ = scene.open()
        _ = scene.answered(3)
        _ = scene.after { $0.draining(1, now: $1, &$2) }
        #expect(scene.after { $0.broken(1, isRepeatable: false, now: $1, &$2) } == [.fail(1, .broken)])
        #expect(scene.after { $0.broken(2, isRepeatable: true, now: $1, &$2) } == [.connect(2)])
        _ = scene.after { $0.closed(1, now: $1, &$2) }
        #expect(scene.open(2) == [.send(2, on: 2)])
    }

    @Test func `an attempt that fails is told to all that wait, and the next one keeps its distance`() {
        var scene = Scene { $0.reconnectDelayMin = .seconds(2) }
        _ = scene.request(1)
        _ = scene.request(2)
        let failed = scene.after { $0.connectFailed(1, now: $1, &$2) }
        #expect(failed == [.fail(1, .notConnected), .fail(2, .notConnected)])
        #expect(scene.request(3) == [])
        #expect(scene.after { $0.wake(now: $1, &$2) } == [])
        let due = scene.pool.nextWake
        #expect(due.map { (scene.now + .seconds(1)...scene.now + .seconds(2)).contains($0) } == true)
        scene.now = due ?? scene.now
        #expect(scene.after { $0.wake(now: $1, &$2) } == [.connect(2)])
    }

    @Test func `a server that lets everybody in and hangs up is not stormed`() {
        var scene = Scene()
        var delays: [Int64] = []
        for connection in 1...6 {
            _ = scene.request(UInt64(connection))
            scene.now = scene.pool.nextWake ?? scene.now
            _ = scene.after { $0.wake(now: $1, &$2) }
            _ = scene.open(UInt64(connection))
            _ = scene.after { $0.draining(UInt64(connection), now: $1, &$2) }
            _ = scene.after { $0.broken(UInt64(connection), isRepeatable: false, now: $1, &$2) }
            _ = scene.after { $0.closed(UInt64(connection), now: $1, &$2) }
            _ = scene.request(100 + UInt64(connection))
            delays.append((scene.pool.nextWake.map { $0 - scene.now } ?? .zero).nanoseconds / 1_000_000)
            _ = scene.after { $0.gaveUp(100 + UInt64(connection), now: $1, &$2) }
        }
        for (index, delay) in delays.enumerated() {
            #expect((50 << index...100 << index).contains(Int(delay)), "\(delays)")
        }
    }

    @Test func `an idle connection is closed when its time is over, and not before`() {
        var scene = Scene { $0.idleTimeout = .seconds(60) }
        _ = scene.request(1)
        _ = scene.open()
        #expect(scene.pool.nextWake == nil)
        _ = scene.answered(1)
        #expect(scene.pool.nextWake == scene.now + .seconds(60))
        scene.now = scene.now + .seconds(60) - .nanoseconds(1)
        #expect(scene.after { $0.wake(now: $1, &$2) } == [])
        scene.now = scene.now + .nanoseconds(1)
        #expect(scene.after { $0.wake(now: $1, &$2) } == [.close(1)])
        #expect(scene.request(2) == [.connect(2)])
    }

    /// Whatever happens in whatever order, every request ends exactly once, and no limit is passed.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `every request ends once, whatever the connections do`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var scene = Scene {
            $0.connectionsMax = 3
            $0.queueMax = 20
            $0.streamsPerConnectionMax = 8
        }
        var world = PoolWorld()
        for _ in 0..<3000 {
            scene.now = scene.now + .milliseconds(Int64.random(in: 0...50, using: &random))
            let step = world.step(&scene.pool, scene.now, &random)
            #expect(scene.pool.checkInvariants() == [], "seed \(seed)")
            #expect(world.faults == [], "seed \(seed), after \(step)")
            guard world.faults.isEmpty else { return }
        }
        world.finish(&scene.pool, scene.now)
        #expect(world.faults == [], "seed \(seed)")
        #expect(world.ended.count == Int(world.lastRequest), "seed \(seed)")
    }
}
