import Foundation
import Glibc
import Synchronization

/// Brokers of a test: processes of nats-server on loopback, on ports that the system chose, ended by their ids.
package final class Brokers: Sendable {
    /// One of them.
    private struct Member {
        let configuration: String
        let port: Int
        var process: Process?
    }

    package struct Trouble: Error, CustomStringConvertible {
        package let description: String
    }

    private static let executable =
        ProcessInfo.processInfo.environment["FRESHET_NATS_SERVER"]
        ?? FileManager.default.currentDirectoryPath + "/.venv/bin/nats-server"

    /// Whether there is a broker to run: `make setup` installs one.
    package static var isThere: Bool { FileManager.default.isExecutableFile(atPath: Self.executable) }

    private let directory: URL
    private let members: Mutex<[Member]>

    /// Starts brokers and waits until they answer.
    ///
    /// - Parameters:
    ///   - count: How many: one, or a cluster.
    ///   - sync: The line of `sync_interval`, empty for none.
    ///   - jetStream: Whether they have JetStream.
    ///   - more: Further lines of the configuration, as for TLS.
    ///   - users: Further users of the account, as its configuration has them.
    package init(
        _ count: Int = 1,
        sync: String = "sync_interval: always",
        jetStream: Bool = true,
        more: String = "",
        users: String = ""
    ) throws {
        self.directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("freshet-brokers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.directory, withIntermediateDirectories: true)
        // A cluster has to know the others' ports before they run.
        let ports = try Self.freePorts(2 * count)
        var members: [Member] = []
        for number in 0..<count {
            let routes = (0..<count).map { "nats://127.0.0.1:\(ports[count + $0])" }
            let cluster =
                count == 1
                ? ""
                : "cluster { name: test, listen: 127.0.0.1:\(ports[count + number]), routes: \(routes) }"
            let store = self.directory.appendingPathComponent("store-\(number)").path
            let text = """
                listen: 127.0.0.1:\(ports[number])
                server_name: n\(number)
                \(jetStream ? "jetstream { store_dir: \"\(store)\", \(sync) }" : "")
                \(cluster)
                \(more)
                accounts {
                  SYS: { users: [ { user: system, password: s } ] }
                  APP: { \(jetStream ? "jetstream: enabled, " : "")users: [ { user: app, password: a } \(users) ] }
                }
                system_account: SYS
                """
            let path = self.directory.appendingPathComponent("n\(number).conf")
            try Data(text.utf8).write(to: path)
            members.append(Member(configuration: path.path, port: ports[number], process: nil))
        }
        self.members = Mutex(members)
        for number in 0..<count { try self.start(number) }
    }

    deinit {
        for member in self.members.withLock({ $0 }) { Self.end(member.process) }
        try? FileManager.default.removeItem(at: self.directory)
    }

    private static func end(_ process: Process?) {
        guard let process, process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    package var servers: [String] { self.members.withLock { $0.map { "nats://127.0.0.1:\($0.port)" } } }

    /// The user of the streams' account, and the one of the system account.
    package static let user = (name: "app", password: "a")
    package static let systemUser = (name: "system", password: "s")

    /// A folder that goes with the brokers: for files of a test.
    package var folder: String { self.directory.path }

    /// The names of files with the passwords of the two users.
    package func passwordFiles() throws -> (user: String, systemUser: String) {
        let files = (user: "\(self.folder)/user", systemUser: "\(self.folder)/system-user")
        for (file, password) in [(files.user, Self.user.password), (files.systemUser, Self.systemUser.password)] {
            try Data("\(password)\n".utf8).write(to: URL(filePath: file))
        }
        return files
    }

    /// Starts a broker that does not run.
    ///
    /// - Parameter sync: Its line of `sync_interval` from now on; nil for the one that it has.
    package func start(_ number: Int, sync: String? = nil) throws {
        let configuration = self.members.withLock { $0[number].configuration }
        if let sync {
            let text = try String(contentsOfFile: configuration, encoding: .utf8)
            try text.replacing(/sync_interval: \w+/, with: sync)
                .write(toFile: configuration, atomically: true, encoding: .utf8)
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.executable)
        process.arguments = ["-c", configuration]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.members.withLock { $0[number].process = process }
    }

    /// Ends a broker at once, whatever it is doing.
    package func kill(_ number: Int) { Self.end(self.members.withLock { $0[number].process }) }

    /// Stops a broker, and comes back once none of its threads runs any more: until then it may still answer.
    package func pause(_ number: Int) {
        self.signal(number, SIGSTOP)
        guard let process = self.members.withLock({ $0[number].process }) else { return }
        while process.isRunning, !Self.isStopped(process.processIdentifier) { usleep(1000) }
    }

    private static func isStopped(_ pid: Int32) -> Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.allSatisfy { thread in
            // The state is behind the name, which is in parentheses.
            let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/stat", encoding: .utf8)
            return text?.components(separatedBy: ") ").last?.hasPrefix("T") ?? true
        }
    }

    /// Has a broker that was stopped go on.
    package func resume(_ number: Int) { self.signal(number, SIGCONT) }

    private func signal(_ number: Int, _ signal: Int32) {
        guard let process = self.members.withLock({ $0[number].process }) else { return }
        Glibc.kill(process.processIdentifier, signal)
    }

    /// Ports that are free at the moment.
    private static func freePorts(_ count: Int) throws -> [Int] {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        return try (0..<count).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            descriptors.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            // Sound: the address is only used during the calls, and is as long as is said.
            let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
                }
            }
            guard descriptor >= 0, isBound else { throw Trouble(description: "no free port") }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }
}
