import Foundation
import Testing

/// A wall clock that is wrong for one gateway alone: a library that is loaded before its own.
struct WrongClock {
    /// For the gateway.
    let environment: [String: String]
    /// The file from which the library takes by how much.
    private let seconds: URL

    /// A clock that is right so far.
    init(in folder: String) async throws {
        let (source, library) = ("\(TestGateway.root)/Tests/EndToEndTests/Clients/wrong_clock.c", "\(folder)/clock.so")
        let made = try await Command.run("clang", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"])
        try #require(made.status == 0, "\(made.errors)")
        self.seconds = URL(filePath: "\(folder)/wrong-by")
        try Data(count: 8).write(to: self.seconds)
        self.environment = ["LD_PRELOAD": library, "WRONG_CLOCK": self.seconds.path]
    }

    func setWrong(by seconds: Int64) throws {
        let file = try FileHandle(forUpdating: self.seconds)
        try file.write(contentsOf: Data((0..<8).map { UInt8(truncatingIfNeeded: seconds >> ($0 * 8)) }))
        try file.close()
    }
}
