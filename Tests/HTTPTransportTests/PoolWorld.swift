import NIOCore
import TestSupport

@testable import HTTPTransport

/// A server and its network that do what chance says, and a ledger of what a pool makes of it.
struct PoolWorld {
    private struct Connection {
        var isOpen = false
        var isDraining = false
        var streamsMax = 0
        var streams: Set<UInt64> = []
    }

    var lastRequest: UInt64 = 0
    var ended: Set<UInt64> = []
    var faults: [String] = []
    private var connections: [UInt64: Connection] = [:]
    private var actions: [ConnectionPool.Action] = []

    mutating func step(_ pool: inout ConnectionPool, _ now: NIODeadline, _ random: inout SplitMix64) -> String {
        let open = self.connections.keys.sorted()
        let connection = open.isEmpty ? 0 : open[Int.random(in: 0..<open.count, using: &random)]
        let streams = self.connections[connection]?.streams.sorted() ?? []
        let stream = streams.isEmpty ? 0 : streams[Int.random(in: 0..<streams.count, using: &random)]
        let dice = Int.random(in: 0..<100, using: &random)
        switch dice {
        case 0..<40:
            self.lastRequest += 1
            pool.request(self.lastRequest, now: now, &self.actions)
        case 40..<60 where stream > 0:
            self.leave(stream, connection)
            self.end(stream)
            pool.answered(stream, now: now, &self.actions)
        case 60..<66 where stream > 0:
            self.leave(stream, connection)
            pool.refused(stream, now: now, &self.actions)
        case 66..<70 where self.lastRequest > 0:
            let id = UInt64.random(in: 1...self.lastRequest, using: &random)
            if self.ended.insert(id).inserted {
                for key in self.connections.keys { self.connections[key]?.streams.remove(id) }
                pool.gaveUp(id, now: now, &self.actions)
            }
        case 70..<82:
            self.connect(connection, succeeds: dice < 79, &pool, now, &random)
        case 82..<88 where self.connections[connection]?.isOpen == true:
            let limit = Int.random(in: 0...10, using: &random)
            self.connections[connection]?.streamsMax = limit
            pool.streamsMax(connection, limit, now: now, &self.actions)
        case 88..<91 where self.connections[connection]?.isOpen == true:
            self.goAway(connection, &pool, now, &random)
        case 91..<94 where self.connections[connection]?.isOpen == true:
            self.close(connection, &pool, now, &random)
        default:
            pool.wake(now: now, &self.actions)
        }
        self.perform()
        return "step \(dice)"
    }

    /// Everything breaks; nothing may be left.
    mutating func finish(_ pool: inout ConnectionPool, _ now: NIODeadline) {
        for id in 1...max(1, self.lastRequest) where self.ended.insert(id).inserted {
            pool.gaveUp(id, now: now, &self.actions)
        }
        if pool.sentCount + pool.waitingCount != 0 { self.faults.append("requests are left") }
    }

    private mutating func connect(
        _ connection: UInt64,
        succeeds: Bool,
        _ pool: inout ConnectionPool,
        _ now: NIODeadline,
        _ random: inout SplitMix64
    ) {
        guard let state = self.connections[connection], !state.isOpen else { return }
        if succeeds {
            let limit = Int.random(in: 0...10, using: &random)
            self.connections[connection]?.isOpen = true
            self.connections[connection]?.streamsMax = limit
            pool.connected(connection, streamsMax: limit, now: now, &self.actions)
        } else {
            self.connections[connection] = nil
            pool.connectFailed(connection, now: now, &self.actions)
        }
    }

    private mutating func goAway(
        _ connection: UInt64,
        _ pool: inout ConnectionPool,
        _ now: NIODeadline,
        _ random: inout SplitMix64
    ) {
        self.connections[connection]?.isDraining = true
        pool.draining(connection, now: now, &self.actions)
        for stream in self.connections[connection]?.streams.sorted() ?? [] where Bool.random(using: &random) {
            self.leave(stream, connection)
            pool.refused(stream, now: now, &self.actions)
        }
    }

    private mutating func close(
        _ connection: UInt64,
        _ pool: inout ConnectionPool,
        _ now: NIODeadline,
        _ random: inout SplitMix64
    ) {
        self.connections[connection]?.isDraining = true
        pool.draining(connection, now: now, &self.actions)
        for stream in self.connections[connection]?.streams.sorted() ?? [] {
            self.leave(stream, connection)
            pool.broken(stream, isRepeatable: Bool.random(using: &random), now: now, &self.actions)
        }
        self.connections[connection] = nil
        pool.closed(connection, now: now, &self.actions)
    }

    private mutating func perform() {
        for action in self.actions {
            switch action {
            case .connect(let id):
                self.connections[id] = Connection()
            case .send(let id, let on):
                guard let connection = self.connections[on], connection.isOpen, !connection.isDraining else {
                    self.faults.append("request \(id) was sent on a connection that takes none")
                    continue
                }
                if connection.streams.count >= min(8, connection.streamsMax) {
                    self.faults.append("request \(id) is above the limit of streams")
                }
                if self.ended.contains(id) { self.faults.append("request \(id) was sent after its end") }
                self.connections[on]?.streams.insert(id)
            case .fail(let id, _):
                self.end(id)
            case .close(let id):
                self.connections[id] = nil
            }
        }
        self.actions = []
    }

    private mutating func leave(_ stream: UInt64, _ connection: UInt64) {
        self.connections[connection]?.streams.remove(stream)
    }

    private mutating func end(_ id: UInt64) {
        if !self.ended.insert(id).inserted { self.faults.append("request \(id) ended twice") }
    }
}
