import HTTP2
import Histogram
import LoadGenerator
import ScriptedServer
import TLS
import Testing

/// The generator against a server that does what a test says.
@Suite struct GeneratorTests {
    private static let certificates = Result {
        let authority = try CertificateAuthority.make(commonName: "Load", validity: CertificateValidity(days: 1))
        let server = try authority.issueServer(
            dnsNames: ["localhost"],
            ipAddresses: ["127.0.0.1"],
            validity: CertificateValidity(days: 1)
        )
        return (authority, server)
    }

    private static func start(
        streamsMax: UInt32 = 1000,
        _ script: @escaping ScriptedServer.Script
    ) async throws -> ScriptedServer {
        let identity = try Self.certificates.get().1.identity
        let tls = try TLSContext.server(TLSServerConfiguration(identity: identity, alpn: ["h2"]))
        return try await ScriptedServer.start(tls: tls, streamsMax: streamsMax, script: script)
    }

    private static func run(_ scenario: LoadScenario, _ server: ScriptedServer) async throws -> LoadOutcome {
        let roots = try Self.certificates.get().0.certificatePEM
        let target = LoadTarget(
            address: "127.0.0.1",
            pushPort: server.port,
            hostPort: nil,
            serverName: "localhost",
            tls: try TLSContext.client(TLSClientConfiguration(trust: .roots(.text(roots)), alpn: ["h2"])),
            token: "abc"
        )
        return try await LoadRun(scenario, target: target, run: 1, firstRevision: 2).perform(
            clock: { 0 },
            processTime: { 0 }
        )
    }

    private static func scenario(_ process: ArrivalProcess?, connections: Int = 1) -> LoadScenario {
        var scenario = LoadScenario()
        scenario.length = process?.length ?? 100_000_000
        // It ends with the last answer, however long that takes in a process full of tests.
        scenario.settle = 3_600_000_000_000
        scenario.connections = connections
        scenario.loads = [Load(name: "pushes", kind: .pushes, process: process)]
        return scenario
    }

    @Test func `what is due is sent though nothing has been answered, and counted from when it was due`() async throws {
        let count = 50
        let (all, whenAll) = AsyncStream.makeStream(of: Void.self)
        let server = try await Self.start { request in
            // A generator that waits for answers would wait here for ever.
            if request.number == count { whenAll.finish() }
            return [.hold]
        }
        let scenario = Self.scenario(.burst(count: Int64(count), within: 100_000_000))
        async let outcome = Self.run(scenario, server)
        for await _ in all {}
        // The last request is held after the script has been asked.
        while server.heldCount < count { await Task.yield() }
        server.release(.answer(200))
        let tally = try await outcome.tally
        #expect(tally.loads.map(\.sent) == [count])
        #expect(tally.loads.map(\.answered) == [count])
        // The first was due 98 ms before the last was, and no answer came before that.
        let longest = try #require(tally.latencies(.accepted).microseconds(atPercentile: 100))
        #expect(longest >= 98_000)
        // Half of them have waited for half of that time at least.
        let median = try #require(tally.latencies(.accepted).microseconds(atPercentile: 50))
        #expect(median >= 48_000)
        await server.stop()
    }

    @Test func `every request has a path and a token, and each host its turn`() async throws {
        let server = try await Self.start { _ in [.answer(200)] }
        var scenario = Self.scenario(.burst(count: 6, within: 1_000_000))
        scenario.hosts.count = 3
        scenario.loads[0].order = .sequence
        scenario.loads[0].priority = 10
        let outcome = try await Self.run(scenario, server)
        #expect(outcome.tally.answered == 6)
        let scene = LoadScene(scenario)
        let paths = (0..<6).map { "/3/device/\(scene.token($0 % 3))" }
        #expect(server.requests.map(\.path) == paths)
        #expect(Set(paths).count == 3)
        for request in server.requests {
            #expect(request.method == "POST")
            #expect(request.text == "{\"aps\":{\"content-changed\":true}}")
            #expect(request.fields["authorization"] == "bearer abc")
            #expect(request.fields["apns-topic"] == "com.example.scores.push-type.widgets")
            #expect(request.fields["apns-priority"] == "10")
        }
        await server.stop()
    }

    @Test func `a server's limit of streams holds operations back, and costs none`() async throws {
        let server = try await Self.start(streamsMax: 1) { _ in [.answer(200)] }
        let outcome = try await Self.run(Self.scenario(.burst(count: 40, within: 40)), server)
        #expect(outcome.tally.answered == 40)
        #expect(outcome.tally.failed == 0)
        #expect(outcome.tally.heldBack >= 39)
        #expect(server.openStreamsMax == 1)
        await server.stop()
    }

    @Test func `all that was due while no stream was free waited for the server, and not for the generator`()
        async throws
    {
        let server = try await Self.start { request in request.number <= 10 ? [.hold] : [.answer(200)] }
        var scenario = Self.scenario(.burst(count: 100, within: 100))
        scenario.streams = 10
        async let outcome = Self.run(scenario, server)
        while server.heldCount < 10 { await Task.yield() }
        server.release(.answer(200))
        let tally = try await outcome.tally
        #expect(tally.answered == 100)
        #expect(tally.heldBack == 90)
        #expect(tally.lateness.totalCount == 10)
        await server.stop()
    }

    @Test func `an outage is told with its end and with when all was sent that had become due`() async throws {
        let server = try await Self.start { request in request.number == 20 ? [.hangUp] : [.answer(200)] }
        var scenario = Self.scenario(.burst(count: 40, within: 40))
        scenario.streams = 1
        let outcome = try await Self.run(scenario, server)
        #expect(outcome.failure == nil)
        #expect(outcome.tally.answered == 39)
        #expect(outcome.tally.outages.map(\.listener) == ["push"])
        let outage = try #require(outcome.tally.outages.first)
        let ended = try #require(outage.ended)
        let recovered = try #require(outage.recovered)
        #expect(outage.began <= ended && ended <= recovered)
        await server.stop()
    }

    @Test func `a run ends when the server stays away for longer than an outage may be`() async throws {
        let server = try await Self.start { request in request.number == 20 ? [.hold] : [.answer(200)] }
        var scenario = Self.scenario(.burst(count: 40, within: 40))
        scenario.streams = 1
        scenario.outageMax = 1
        async let run = Self.run(scenario, server)
        while server.heldCount < 1 { await Task.yield() }
        await server.stop()
        let outcome = try await run
        #expect(outcome.failure?.hasPrefix("no connection for ") == true)
        #expect(outcome.tally.outages.map(\.ended) == [nil])
        #expect(outcome.tally.answered == 19)
        #expect(outcome.tally.failed == 21)
        // Not even half of them were answered.
        #expect(outcome.tally.latencies(.accepted).microseconds(atPercentile: 50) == .infinity)
    }

    @Test func `answers are counted by status and reason`() async throws {
        let server = try await Self.start { request in
            switch request.number % 4 {
            case 0: [.answer(200)]
            case 1: [.answer(400, [:], "{\"reason\":\"BadDeviceToken\"}")]
            case 2: [.answer(503)]
            default: [.reset(.internalError)]
            }
        }
        let outcome = try await Self.run(Self.scenario(.burst(count: 40, within: 1_000_000)), server)
        #expect(outcome.tally.answered == 10)
        #expect(
            outcome.tally.loads[0].failures == [
                LoadTally.Failure(status: 400, reason: "BadDeviceToken"): 10,
                LoadTally.Failure(status: 503, reason: "no reason given"): 10,
                LoadTally.Failure(status: 0, reason: "stream reset: INTERNAL_ERROR"): 10,
            ]
        )
        await server.stop()
    }

    @Test func `what a GOAWAY leaves out is sent again over the next connection, and is one request`() async throws {
        let server = try await Self.start { request in
            // The server has looked at the first alone.
            request.number == 3 ? [.goAway(last: 1), .hangUp] : request.number == 2 ? [] : [.answer(200)]
        }
        var scenario = Self.scenario(.burst(count: 40, within: 40))
        scenario.streams = 3
        scenario.hosts.count = 40
        scenario.loads[0].order = .sequence
        let outcome = try await Self.run(scenario, server)
        #expect(outcome.failure == nil)
        #expect(outcome.tally.loads.map(\.sent) == [40])
        #expect(outcome.tally.answered == 40 && outcome.tally.failed == 0)
        let paths = server.requests.map(\.path)
        // The two come first there, as they were.
        #expect(paths.count == 42 && Array(paths[3..<5]) == Array(paths[1..<3]))
        #expect(Set(paths).count == 40)
        #expect(server.requests[3].connection == 2)
        await server.stop()
    }

    @Test func `a refused stream is sent again, and given up when it is refused for ever`() async throws {
        for refusals in [1, 8, 9] {
            let server = try await Self.start { request in
                request.number <= refusals ? [.reset(.refusedStream)] : [.answer(200)]
            }
            let outcome = try await Self.run(Self.scenario(.burst(count: 1, within: 1)), server)
            let isGivenUp = refusals > 8
            #expect(outcome.tally.answered == (isGivenUp ? 0 : 1), "\(refusals)")
            #expect(server.requests.count == (isGivenUp ? 9 : refusals + 1), "\(refusals)")
            let failure = LoadTally.Failure(status: 0, reason: "not processed: stream reset: REFUSED_STREAM")
            #expect(outcome.tally.loads[0].failures == (isGivenUp ? [failure: 1] : [:]), "\(refusals)")
            await server.stop()
        }
    }

    @Test func `a lost connection is counted with what waited on it, and another takes its place`() async throws {
        let server = try await Self.start { request in request.number == 1 ? [.hangUp] : [.answer(200)] }
        var scenario = Self.scenario(.burst(count: 40, within: 1_000_000))
        scenario.streams = 1
        let outcome = try await Self.run(scenario, server)
        #expect(outcome.failure == nil)
        #expect(outcome.tally.lostConnections == 1)
        #expect(outcome.tally.failed == 1)
        #expect(outcome.tally.answered >= 1)
        #expect(outcome.tally.due == outcome.tally.answered + 1)
        #expect(server.connections == 2)
        await server.stop()
    }

    @Test func `as fast as answers come, no more is on its way than there are streams`() async throws {
        let server = try await Self.start { request in request.number <= 6 ? [.hold] : [.answer(200)] }
        var scenario = Self.scenario(nil, connections: 2)
        scenario.streams = 3
        async let outcome = Self.run(scenario, server)
        while server.heldCount < 6 { await Task.yield() }
        #expect(server.requests.count == 6)
        #expect(server.openStreamsMax == 3)
        server.release(.answer(200))
        let tally = try await outcome.tally
        #expect(tally.answered >= 6)
        #expect(tally.failed == 0)
        #expect(tally.due == tally.answered)
        #expect(server.requests.count == tally.answered)
        await server.stop()
    }

    @Test func `what needs a gateway is refused where there is none`() async throws {
        let server = try await Self.start { _ in [.answer(200)] }
        var scenario = Self.scenario(.burst(count: 1, within: 1))
        scenario.loads[0].kind = .targeted
        let error = await #expect(throws: LoadError.self) { try await Self.run(scenario, server) }
        #expect(error?.message.contains("needs a gateway's host listener") == true)
        #expect(server.requests == [])
        await server.stop()
    }

    @Test func `a server that is not there is told in words`() async throws {
        let server = try await Self.start { _ in [] }
        await server.stop()
        let error = await #expect(throws: LoadError.self) {
            try await Self.run(Self.scenario(.burst(count: 1, within: 1)), server)
        }
        #expect(error?.message.hasPrefix("cannot connect to 127.0.0.1:\(server.port): ") == true)
    }
}
