import Foundation
import Testing

/// Pictures of the dashboard for people to look at, where `make pictures` asks for them.
enum Pictures {
    private static let folder = ProcessInfo.processInfo.environment["FRESHET_TEST_PICTURES"]

    /// Pictures of the dashboard's first view and of those to which it leads: wide and as on a phone, light and dark.
    static func take(_ name: String, of gateway: TestGateway) async throws {
        guard let folder = Self.folder else { return }
        let words = name.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "-")
        let result = try await Command.run(
            TestGateway.python,
            [
                "\(TestGateway.root)/Tests/EndToEndTests/Clients/dashboard.py", "--url",
                "\(gateway.opsURL)/#token=\(gateway.operatorToken ?? "")", "--shots", folder, "pictures", words,
            ]
        )
        try #require(result.status == 0, "\(result.errors.suffix(4000))")
    }
}
