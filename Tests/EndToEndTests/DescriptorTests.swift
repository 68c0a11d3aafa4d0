import Testing

/// A gateway whose process may open few files.
@Suite struct DescriptorTests {
    /// Opens connections to a port, says so and waits to be ended.
    private static let holder = """
        import signal, socket, sys
        held = []
        for _ in range(int(sys.argv[2])):
            held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
        print("open", flush=True)
        signal.pause()
        """

    @Test(arguments: [500, 2000])
    func `connections without a descriptor wait, and are served when others close`(
        descriptors: Int
    ) async throws {
        let gateway = try await TestGateway.start(
            // So that no other connection makes room.
            extra: """
                timeouts: {handshake: 1h}
                limits: {maxConnectionsPerAddress: 10000, maxHandshakes: 10000}
                """,
            appSettings: "    unknownTokens: accept",
            descriptors: descriptors
        )
        let bearer = try await gateway.providerToken()
        #expect(try await Alerts.firing("FreshetDescriptors", gateway, afterMinutes: 10) == 0)
        let holder = try Command(
            TestGateway.python,
            ["-c", Self.holder, "\(gateway.pushPort)", "\(descriptors - 100)"]
        )
        defer { holder.killHard() }
        var lines = holder.lines.makeAsyncIterator()
        #expect(await lines.next() == "open")
        let place = "\(gateway.opsURL)/v1/stats"
        let heldBack = try await gateway.eventually("a listener that holds back") {
            let push = (try await gateway.curl("GET", place).json["listeners"] as? [String: [String: Any]])?["push"]
            return (push?["acceptsFailed"] as? Int).flatMap { $0 > 0 ? $0 : nil }
        }
        #expect(heldBack > 0)
        // Listeners leave some to files, so that this is told before any runs out, however many there are.
        #expect(try await Alerts.firing("FreshetDescriptors", gateway, afterMinutes: 10) == 1)
        // It waits in the kernel's queue: its handshake is not answered, nor is it refused.
        let waiting = try Probe(gateway, push: true, bearer: bearer, options: ["--close-after", "response"])
        holder.killHard()
        _ = await holder.wait()
        #expect(await waiting.wait(for: "response") == "response 200")
        await gateway.stop()
    }
}
