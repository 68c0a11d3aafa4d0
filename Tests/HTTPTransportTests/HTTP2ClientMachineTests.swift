import HTTP2
import Testing

@testable import HTTPTransport

/// The decisions of a client's connection in each of its states.
@Suite struct HTTP2ClientMachineTests {
    private typealias Machine = HTTP2ClientMachine<String>

    private static let goAway = HTTPTransportError(.goAway(.noError), "GOAWAY")
    private static let closed = HTTPTransportError(.connectionClosed, "closed")

    /// The states, and one way to each.
    private enum Stage: CaseIterable {
        case handshaking, settling, ready, draining, ended

        func machine() -> Machine {
            var machine = Machine()
            guard self != .handshaking else { return machine }
            _ = machine.handshakeCompleted()
            guard self != .settling else { return machine }
            _ = machine.settled(streamsMax: 100)
            if self == .draining { _ = machine.drain(HTTP2ClientMachineTests.goAway) }
            if self == .ended { _ = machine.end(HTTP2ClientMachineTests.closed) }
            return machine
        }
    }

    private static func name(_ state: Machine.State) -> String {
        switch state {
        case .handshaking: "handshaking"
        case .settling: "settling"
        case .ready: "ready"
        case .draining(let reason): "draining: \(reason)"
        case .ended(let reason): "ended: \(reason)"
        }
    }

    /// The results of an event, by the stage that it finds.
    private func table(_ event: (inout Machine) -> String) -> [String] {
        Stage.allCases.map { stage in
            var machine = stage.machine()
            let answer = event(&machine)
            return "\(answer) > \(Self.name(machine.state))"
        }
    }

    private static func text(_ stop: Machine.Stop?) -> String { stop.map { "\($0)" } ?? "nil" }

    @Test func `TLS is made once`() {
        #expect(
            self.table { "\($0.handshakeCompleted())" } == [
                "true > settling", "false > settling", "false > ready", "false > draining: GOAWAY",
                "false > ended: closed",
            ]
        )
    }

    @Test func `the first SETTINGS make a connection ready, others only say how many streams there are`() {
        #expect(
            self.table {
                let isReady = $0.settled(streamsMax: 7)
                return "\(isReady) \($0.streamsMax)"
            } == [
                "true 7 > ready", "true 7 > ready", "false 7 > ready", "false 7 > draining: GOAWAY",
                "false 7 > ended: closed",
            ]
        )
    }

    @Test func `a connection stops taking requests once, and the first reason is kept`() {
        let other = HTTPTransportError(.timeout, "late")
        #expect(
            self.table { Self.text($0.drain(other)) } == [
                "notReady > draining: late", "notReady > draining: late", "taking > draining: late",
                "nil > draining: GOAWAY", "nil > ended: closed",
            ]
        )
        #expect(
            self.table {
                guard let end = $0.end(other) else { return "nil" }
                return "\(Self.text(end.stop)) \(end.reason)"
            } == [
                "notReady late > ended: late", "notReady late > ended: late", "taking late > ended: late",
                "nil GOAWAY > ended: GOAWAY", "nil > ended: closed",
            ]
        )
    }

    @Test func `what is refused, awaited and watched follows from the state`() {
        let facts = Stage.allCases.map { stage in
            let machine = stage.machine()
            return [machine.reason == nil, machine.isAwaited, machine.isWatched]
        }
        #expect(
            facts == [
                [true, true, false], [true, true, false], [true, false, true], [false, false, true],
                [false, false, false],
            ]
        )
    }

    @Test(arguments: [true, false])
    func `that the owner ended it is known, also of one that had ended`(isOpen: Bool) {
        var machine = (isOpen ? Stage.ready : .ended).machine()
        #expect(!machine.isClosedByOwner)
        #expect((machine.end(Self.closed, byOwner: true) != nil) == isOpen)
        #expect(machine.isClosedByOwner)
    }

    /// A connection on which requests wait, on streams that were opened in this order.
    private func waiting(_ streamIDs: [Int32]) -> Machine {
        var machine = Stage.ready.machine()
        for streamID in streamIDs { _ = machine.began("request \(streamID)", on: streamID) }
        return machine
    }

    @Test func `a request comes back once: with its answer, or given up`() {
        var machine = Stage.ready.machine()
        #expect(machine.began("first", on: 1) == true)
        #expect(machine.began("second", on: 3) == false)
        #expect(machine.waitingCount == 2)
        #expect([machine.ended(1), machine.ended(1), machine.ended(5)] == ["first", nil, nil])
        #expect(machine.ended(3) == "second")
        #expect(machine.waitingCount == 0)
        #expect(machine.began("third", on: 5) == true)
    }

    @Test(arguments: [(0, [1, 3, 5, 7]), (2, [3, 5, 7]), (3, [5, 7]), (7, [])] as [(Int32, [Int32])])
    func `a GOAWAY ends the requests above its last stream, the others wait on`(last: Int32, ended: [Int32]) {
        var machine = self.waiting([5, 1, 7, 3])
        _ = machine.drain(Self.goAway)
        #expect(machine.refused(above: last) == ended.map { "request \($0)" })
        #expect(machine.waitingCount == 4 - ended.count)
        #expect(machine.end(Self.closed)?.requests.count == 4 - ended.count)
    }

    @Test func `the end takes all that wait, in their order, for the first reason`() {
        var machine = self.waiting([5, 1, 3])
        _ = machine.drain(Self.goAway)
        let end = machine.end(Self.closed)
        #expect(end?.requests == ["request 1", "request 3", "request 5"])
        #expect(end?.reason == Self.goAway)
        #expect(machine.waitingCount == 0)
        #expect(machine.ended(1) == nil)
    }
}
