import NIOCore
import Testing

@testable import HTTPTransport

/// The decisions of a server's connection in each of its states.
@Suite struct SecureServerMachineTests {
    private typealias Machine = SecureServerMachine<String>

    /// The states, and one way to each.
    private enum Stage: CaseIterable {
        case handshaking, admitting2, admitting1, http2, http1, refusing, lingering, closed

        func machine() -> Machine {
            var machine = Machine(at: 100)
            switch self {
            case .handshaking: break
            case .admitting2: _ = machine.handshakeCompleted(speaking: "h2", servesHTTP1: true)
            case .admitting1: _ = machine.handshakeCompleted(speaking: "http/1.1", servesHTTP1: true)
            case .http2:
                machine = Self.admitting2.machine()
                machine.begin("session")
            case .http1:
                machine = Self.admitting1.machine()
                machine.beginHTTP1()
            case .refusing: _ = machine.handshakeCompleted(speaking: "http/1.1", servesHTTP1: false)
            case .lingering: _ = machine.finish(at: 100)
            case .closed: _ = machine.close()
            }
            return machine
        }
    }

    private static func name(_ machine: Machine) -> String {
        switch machine.state {
        case .handshaking: "handshaking"
        case .admitting(let version): "admitting \(version)"
        case .http2(let session): "http2 \(session)"
        case .http1: "http1"
        case .refusingHTTP1: "refusing"
        case .lingering(let bytesLeft): "lingering \(bytesLeft)"
        case .closed: "closed"
        }
    }

    /// The results of an event, by the stage that it finds.
    private func table(_ event: (inout Machine) -> String) -> [String] {
        Stage.allCases.map { stage in
            var machine = stage.machine()
            let answer = event(&machine)
            return "\(answer) > \(Self.name(machine))"
        }
    }

    @Test func `each stage is a state`() {
        #expect(
            Stage.allCases.map { Self.name($0.machine()) } == [
                "handshaking", "admitting http2", "admitting http1", "http2 session", "http1", "refusing",
                "lingering 262144", "closed",
            ]
        )
    }

    @Test func `bytes are decrypted until all is said, then thrown away`() {
        #expect(
            self.table { "\($0.received(10, at: 101))" } == [
                "decrypt > handshaking", "decrypt > admitting http2", "decrypt > admitting http1",
                "decrypt > http2 session", "decrypt > http1", "decrypt > refusing", "discard > lingering 262134",
                "discard > closed",
            ]
        )
    }

    @Test(arguments: [262_143, 262_144, 262_145])
    func `a peer that sends on and on after the end is closed`(count: Int) {
        var machine = Stage.lingering.machine()
        #expect(machine.received(count, at: 101) == (count < 262_144 ? .discard : .close))
    }

    @Test(arguments: [("h2", "http2", "http2"), ("http/1.1", "nil", "http1"), (nil, "http2", "http1")])
    func `ALPN says what is spoken, and without it the listener's own`(name: String?, without: String, with: String) {
        for (servesHTTP1, expected) in [(false, without), (true, with)] {
            var machine = Machine(at: 100)
            let version = machine.handshakeCompleted(speaking: name, servesHTTP1: servesHTTP1)
            #expect((version.map { "\($0)" } ?? "nil") == expected)
            #expect(Self.name(machine) == (version.map { "admitting \($0)" } ?? "refusing"))
            #expect(machine.isPriorKnowledge == (name == nil))
        }
    }

    @Test func `only a connection that is being admitted begins, as what it speaks`() {
        let before = Stage.allCases.map { Self.name($0.machine()) }
        var begun = before
        begun[1] = "http2 other"
        #expect(
            self.table {
                $0.begin("other")
                return ""
            } == begun.map { " > \($0)" }
        )
        begun = before
        begun[2] = "http1"
        #expect(
            self.table {
                $0.beginHTTP1()
                return ""
            } == begun.map { " > \($0)" }
        )
    }

    @Test func `the end gives the session back once`() {
        let none = Array(repeating: "nil > lingering 262144", count: 8)
        var finished = none
        finished[3] = "session > lingering 262144"
        #expect(self.table { $0.finish(at: 101) ?? "nil" } == finished)
        #expect(
            self.table { $0.close() ?? "nil" } == finished.map { "\($0.prefix { $0 != " " }) > closed" }
        )
        var machine = Stage.http2.machine()
        let ended = [machine.finish(at: 101), machine.finish(at: 102), machine.close(), machine.close()]
        #expect(ended == ["session", nil, nil, nil])
    }

    @Test func `each state has its deadline, kept to the second`() {
        var deadlines = HTTPListenerConfiguration.Deadlines()
        deadlines.handshake = .seconds(5)
        deadlines.firstRequest = .seconds(7)
        func lateness(_ second: UInt32, hasPeerSettings: Bool = false) -> [String] {
            Stage.allCases.map { stage in
                let late = stage.machine().lateness(at: second, deadlines) { _ in hasPeerSettings }
                return switch late {
                case .deadline(let deadline): "\(deadline)"
                case .lingered: "lingered"
                case nil: "-"
                }
            }
        }
        #expect(lateness(101) == ["-", "-", "-", "-", "-", "-", "-", "-"])
        #expect(lateness(102) == ["-", "-", "-", "-", "-", "-", "lingered", "-"])
        #expect(lateness(104) == ["-", "-", "-", "-", "-", "-", "lingered", "-"])
        #expect(lateness(105) == ["handshake", "-", "-", "-", "-", "-", "lingered", "-"])
        #expect(lateness(106) == ["handshake", "-", "-", "-", "-", "-", "lingered", "-"])
        #expect(lateness(107) == ["handshake", "-", "-", "firstRequest", "-", "firstRequest", "lingered", "-"])
        #expect(
            lateness(107, hasPeerSettings: true) == ["handshake", "-", "-", "-", "-", "firstRequest", "lingered", "-"]
        )
    }

    @Test func `the first request's time begins with the bytes that made TLS`() {
        var machine = Machine(at: 100)
        _ = machine.received(10, at: 109)
        _ = machine.handshakeCompleted(speaking: "h2", servesHTTP1: false)
        machine.begin("session")
        let deadlines = HTTPListenerConfiguration.Deadlines()
        #expect(machine.lateness(at: 118, deadlines) { _ in false } == nil)
        #expect(machine.lateness(at: 119, deadlines) { _ in false } == .deadline(.firstRequest))
    }

    @Test func `output that the peer does not take is late, on HTTP/2`() {
        var deadlines = HTTPListenerConfiguration.Deadlines()
        deadlines.writeStall = .seconds(3)
        var machine = Stage.http2.machine()
        machine.becameUnwritable(at: 110)
        #expect(machine.lateness(at: 112, deadlines) { _ in true } == nil)
        #expect(machine.lateness(at: 113, deadlines) { _ in true } == .deadline(.writeStall))
        machine.becameWritable()
        #expect(machine.lateness(at: 113, deadlines) { _ in true } == nil)
        machine = Stage.http1.machine()
        machine.becameUnwritable(at: 110)
        #expect(machine.lateness(at: 200, deadlines) { _ in true } == nil)
    }

    @Test func `nothing is flushed within a wakeup`() {
        var machine = Stage.http2.machine()
        _ = machine.received(10, at: 100)
        #expect(machine.beginFlush() == false)
        machine.readCompleted()
        #expect(machine.beginFlush() == true)
        #expect(machine.endFlush() == false)
    }

    @Test func `a flush within a flush is one round more`() {
        var machine = Stage.http2.machine()
        #expect(machine.beginFlush() == true)
        #expect([machine.beginFlush(), machine.beginFlush()] == [false, false])
        #expect([machine.endFlush(), machine.endFlush()] == [true, false])
        #expect(machine.beginFlush() == true)
    }

    @Test func `reading waits until the socket takes what was written`() {
        var machine = Stage.http2.machine()
        #expect(machine.wantsRead(isWritable: true) == true)
        #expect(machine.releaseRead(isWritable: true) == false)
        #expect(machine.wantsRead(isWritable: false) == false)
        // The waiting bytes have filled it again.
        #expect(machine.releaseRead(isWritable: false) == false)
        #expect([machine.releaseRead(isWritable: true), machine.releaseRead(isWritable: true)] == [true, false])
    }
}
