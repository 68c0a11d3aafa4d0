import Testing

/// The soak of `make soak`, short: see `deploy/bench/soak.py`.
@Suite struct SoakTests {
    @Test func `mixed load with churn, killed clients and reloads leaves memory and descriptors flat`() async throws {
        // Latencies are judged on a quiet machine, by `make soak`.
        let result = try await Command.run(
            TestGateway.python,
            ["\(TestGateway.root)/deploy/bench/soak.py", "--program", TestGateway.program, "--quick"]
        )
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }
}
