import Testing

@testable import LoadGenerator

/// When the generator's hosts connect, and what they do about a lost connection.
@Suite struct HostStreamsMachineTests {
    /// A machine and what it wants done.
    private struct Scene {
        var machine: HostStreamsMachine

        init(_ count: Int, asksQuestions: Bool = false) {
            self.machine = HostStreamsMachine(count: count, asksQuestions: asksQuestions)
        }

        /// Of which all streams have begun.
        static func open(_ count: Int, asksQuestions: Bool = false) -> Scene {
            var scene = Scene(count, asksQuestions: asksQuestions)
            _ = scene.after { $0.open(&$1) }
            for index in 0..<count { _ = scene.begin(index) }
            if asksQuestions { _ = scene.connect(count) }
            return scene
        }

        mutating func after(
            _ body: (inout HostStreamsMachine, inout [HostStreamsMachine.Action]) -> Void
        ) -> [HostStreamsMachine.Action] {
            var actions: [HostStreamsMachine.Action] = []
            body(&self.machine, &actions)
            return actions
        }

        mutating func connect(_ index: Int) -> [HostStreamsMachine.Action] {
            self.after { _ = $0.connected(index, &$1) }
        }

        /// A connection and the first bytes of its stream.
        mutating func begin(_ index: Int) -> [HostStreamsMachine.Action] {
            self.connect(index) + self.after { $0.begun(index, &$1) }
        }

        mutating func lose(_ index: Int) -> [HostStreamsMachine.Action] {
            self.after { $0.lost(index, "reset", &$1) }
        }
    }

    private static let again = HostStreamsMachine.Again(load: 1, intended: 7)

    @Test func `without streams all are open at once`() {
        var scene = Scene(0)
        #expect(scene.after { $0.open(&$1) } == [.allOpen])
        #expect(!scene.machine.isOpening)
    }

    @Test func `64 connect at once, and one more for each that has begun`() {
        var scene = Scene(66)
        #expect(scene.after { $0.open(&$1) } == (0..<64).map { .connect($0) })
        #expect(scene.begin(5) == [.connect(64)])
        #expect(scene.begin(0) == [.connect(65)])
        #expect(scene.begin(1) == [])
        for index in 2..<65 where index != 5 { #expect(scene.begin(index) == []) }
        #expect(scene.machine.isOpening)
        #expect(scene.begin(65) == [.allOpen])
        #expect(!scene.machine.isOpening)
    }

    @Test func `a stream is asked for once, the connection for questions has none`() {
        var scene = Scene(1, asksQuestions: true)
        #expect(scene.after { $0.open(&$1) } == [.connect(1), .connect(0)])
        var actions: [HostStreamsMachine.Action] = []
        #expect(scene.machine.connected(0, &actions) == true)
        #expect(scene.machine.connected(0, &actions) == false)
        #expect(scene.machine.connected(1, &actions) == false)
        #expect(actions == [])
        #expect(scene.after { $0.begun(0, &$1) } == [.allOpen])
        #expect(scene.after { $0.begun(0, &$1) } == [])
    }

    @Test(arguments: [true, false])
    func `what is lost or refused before all have begun gives up, once`(isLost: Bool) {
        var scene = Scene(2)
        _ = scene.after { $0.open(&$1) }
        _ = scene.begin(0)
        let first = isLost ? scene.lose(1) : scene.after { $0.refused("reset", &$1) }
        #expect(first == [.giveUp("reset")])
        #expect(scene.after { $0.refused("status 500", &$1) } == [])
    }

    @Test func `a connection that is lost comes again soon`() {
        var scene = Scene.open(2)
        #expect(scene.lose(1) == [.countLost, .connectSoon(1)])
        #expect(scene.lose(1) == [])
        #expect(scene.after { $0.connectNow(1, &$1) } == [.connect(1)])
        #expect(scene.after { $0.connectNow(1, &$1) } == [])
        // An attempt that comes to nothing is one more.
        #expect(scene.lose(1) == [.countLost, .connectSoon(1)])
        #expect(scene.after { $0.connectNow(1, &$1) } == [.connect(1)])
        #expect(scene.begin(1) == [])
    }

    @Test func `the connection for questions comes again, and counts as none of the streams`() {
        var scene = Scene.open(1, asksQuestions: true)
        #expect(scene.lose(1) == [.connectSoon(1)])
        #expect(scene.after { $0.connectNow(1, &$1) } == [.connect(1)])
        #expect(scene.connect(1) == [])
    }

    @Test func `a stream that a load drops connects at once, and is timed until it has begun`() {
        var scene = Scene.open(2)
        #expect(scene.machine.isQuiet)
        #expect(scene.after { $0.reconnect(1, among: 2, Self.again, &$1) } == [.drop(1), .connect(1)])
        #expect(!scene.machine.isQuiet)
        // It is not lost of itself.
        #expect(scene.lose(1) == [.connectSoon(1)])
        #expect(scene.after { $0.connectNow(1, &$1) } == [.connect(1)])
        #expect(scene.begin(1) == [.cameBack(Self.again)])
        #expect(scene.machine.isQuiet)
        #expect(scene.lose(1) == [.countLost, .connectSoon(1)])
    }

    @Test func `a stream that waits to connect again and is dropped meanwhile connects once`() {
        var scene = Scene.open(1)
        _ = scene.lose(0)
        #expect(scene.after { $0.reconnect(0, among: 1, Self.again, &$1) } == [.drop(0), .connect(0)])
        #expect(scene.after { $0.connectNow(0, &$1) } == [])
    }

    @Test func `the next stream is dropped where one is connecting again already`() {
        var scene = Scene.open(2)
        let (first, second) = (Self.again, HostStreamsMachine.Again(load: 1, intended: 8))
        let third = HostStreamsMachine.Again(load: 1, intended: 9)
        _ = scene.after { $0.reconnect(1, among: 2, first, &$1) }
        #expect(scene.after { $0.reconnect(1, among: 2, second, &$1) } == [.drop(0), .connect(0)])
        // None is left: the first one asked for is dropped again.
        #expect(
            scene.after { $0.reconnect(1, among: 2, third, &$1) } == [
                .stayedAway(first, "dropped again"), .drop(1), .connect(1),
            ]
        )
        #expect(
            scene.after { $0.close(&$1) } == [
                .stayedAway(second, "not back in time"), .stayedAway(third, "not back in time"),
            ]
        )
    }

    @Test func `nothing comes again once the run is over`() {
        var scene = Scene.open(2)
        _ = scene.lose(0)
        #expect(scene.after { $0.close(&$1) } == [])
        #expect(scene.lose(1) == [])
        #expect(scene.after { $0.connectNow(0, &$1) } == [])
        #expect(scene.after { $0.reconnect(1, among: 2, Self.again, &$1) } == [])
    }
}
