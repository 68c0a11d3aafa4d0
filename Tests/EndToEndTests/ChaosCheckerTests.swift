import Foundation
import Testing

/// The checker of `make chaos`: on a small log that is good, and on the same with each fault that it is to find.
@Suite struct ChaosCheckerTests {
    @Test func `the checker finds what is planted, and nothing in a log that is good`() async throws {
        let script = "\(TestGateway.root)/Tests/Chaos/checker.py"
        let result = try await Command.run(TestGateway.python, [script, "--self-test"])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }
}
