import Testing

/// The fuzzer of `make fuzz`, short: see `Tests/Fuzz/Routes`.
@Suite struct FuzzTests {
    @Test func `whatever peers send to any route, the gateway stays whole and keeps teams apart`() async throws {
        // A request's cost is CPU time, here of a debug build; a neighbour's wait is measured on a quiet machine.
        let result = try await Command.run(
            TestGateway.python,
            [
                "\(TestGateway.root)/Tests/Fuzz/Routes", "--program", TestGateway.program, "--seeds", "1",
                "--requests", "2000", "--cost", "15", "--patience", "600",
            ]
        )
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }
}
