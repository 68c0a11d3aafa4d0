import Testing

/// Hostile peers against the program: see `deploy/bench/probes`.
@Suite struct AbuseProbeTests {
    @Test func `no other client waits for a hostile peer, and nothing of it stays`() async throws {
        // How long an honest answer may take is asked on a quiet machine, by `make soak`; here it must only come.
        let result = try await Command.run(
            TestGateway.python,
            ["\(TestGateway.root)/deploy/bench/probes", "--program", TestGateway.program, "--quick", "--within", "600"]
        )
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }
}
