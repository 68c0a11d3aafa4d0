import Foundation
import Glibc

/// A file system of its own for one gateway: memory that is mounted where that process alone sees it, and that goes with it.
struct SmallDisk: Sendable {
    /// The gateway's folder; the disk is mounted below.
    let folder: String
    private let mebibytes: Int

    init(mebibytes: Int) throws {
        self.folder = try TestGateway.makeFolder()
        self.mebibytes = mebibytes
        try FileManager.default.createDirectory(atPath: self.place, withIntermediateDirectories: false)
    }

    private var place: String { "\(self.folder)/disk" }

    /// Where the log is.
    var environment: [String: String] { ["FRESHET_DATA_DIRECTORY": "\(self.place)/data"] }

    /// The command that starts a program with the disk mounted; the process is the same.
    var launcher: [String] { Self.launcher("mount -t tmpfs -o size=\(self.mebibytes)m none '\(self.place)'") }

    private static func launcher(_ script: String) -> [String] {
        // A user other than root is root in a namespace of its own, if the system allows one.
        let isRoot = geteuid() == 0
        return ["unshare", isRoot ? "--mount" : "--map-root-user"] + (isRoot ? [] : ["--mount"])
            + ["sh", "-c", "\(script) && exec \"$@\"", "sh"]
    }

    /// Whether tests that need one are run: where this system lets them mount one, and in any case in CI, where they fail
    /// rather than be passed over unseen.
    static func isTried() async throws -> Bool {
        if ProcessInfo.processInfo.environment["CI"] == "true" { return true }
        let words = Self.launcher("mount -t tmpfs none /tmp") + ["true"]
        return try await Command.run(words[0], Array(words.dropFirst())).status == 0
    }

    /// The path of a file on the disk, as this process reaches it.
    func path(_ name: String, of gateway: TestGateway) -> String { "/proc/\(gateway.pid)/root\(self.place)/\(name)" }

    /// Lets another program take so many bytes of it.
    func fill(_ bytes: Int, of gateway: TestGateway) async throws {
        let made = try await Command.run("fallocate", ["--length", "\(bytes)", self.path("foreign", of: gateway)])
        guard made.status == 0 else { throw TestGateway.Failure("fallocate: \(made.errors)") }
    }

    /// Lets another program take all that is left of it.
    func fill(of gateway: TestGateway) async throws {
        let filled = try await Command.run("sh", ["-c", "cat /dev/zero > '\(self.path("foreign", of: gateway))'"])
        guard filled.errors.contains("No space left") else { throw TestGateway.Failure("filling: \(filled.errors)") }
    }

    /// Gives back what the other program took.
    func free(of gateway: TestGateway) throws {
        try FileManager.default.removeItem(atPath: self.path("foreign", of: gateway))
    }
}
