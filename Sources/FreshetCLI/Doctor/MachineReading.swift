import CTimex
import Foundation
import Gateway
import HTTPTransport
import JournalSQLite
import Journaling
import NIOCore
import NIOPosix
import Partitions
import Settings
import WidgetModel

/// Reads the facts about this machine that a configuration depends on. Nothing is judged here.
enum MachineReading {
    // MARK: Ports

    /// The ports that are to be listened on; those that the system chooses are left out.
    static func ports(_ configuration: GatewayConfiguration) async -> [Checkup.PortReading] {
        let listeners = configuration.listeners.opened
        var readings: [Checkup.PortReading] = []
        for (name, listener) in [
            ("push", listeners.push), ("manage", listeners.manage), ("host", listeners.host), ("ops", listeners.ops),
            ("health", listeners.health),
        ] where listener.isEnabled && listener.port != 0 {
            let refusal = await self.refusal(of: listener.address, listener.port)
            readings.append(
                Checkup.PortReading(
                    listener: name,
                    address: listener.address,
                    port: listener.port,
                    refusal: refusal,
                    holder: refusal.flatMap { _ in self.holder(of: listener.port) }
                )
            )
        }
        return readings
    }

    /// Why an address cannot be listened on; nil if it can.
    private static func refusal(of address: String, _ port: Int) async -> String? {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: address, port: port).get()
            try await channel.close()
            return nil
        } catch {
            return ConnectionFailure.sentence(error)
        }
    }

    /// The process that listens on a port; nil if there is none, or it is another user's.
    private static func holder(of port: Int) -> Checkup.RunningProcess? {
        // To its end: of a file that says it has no bytes, a single read gives one page.
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap { path in
            (try? FileHandle(forReadingAtPath: path)?.readToEnd()).map { String(decoding: $0, as: UTF8.self) }
        }
        let sockets = Set(tables.flatMap { ListeningSockets.inodes(port: port, in: $0) }.map { "socket:[\($0)]" })
        guard !sockets.isEmpty else { return nil }
        let files = FileManager.default
        for process in ((try? files.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap({ Int($0) }).sorted() {
            let folder = "/proc/\(process)/fd"
            let open = ((try? files.contentsOfDirectory(atPath: folder)) ?? []).lazy
            let isHolder = open.contains { name in
                (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")).map(sockets.contains) ?? false
            }
            guard isHolder else { continue }
            let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
            return Checkup.RunningProcess(id: process, name: name.trimmingCharacters(in: .newlines))
        }
        return nil
    }

    // MARK: The data directory

    /// - Parameter triesFlush: Whether a small file is written there and removed, for the time of a flush.
    static func directory(_ configuration: GatewayConfiguration, triesFlush: Bool) -> Checkup.DirectoryReading {
        let path = configuration.dataDirectory
        let files = FileManager.default
        // The nearest that there is: it is made below that.
        var existing = path
        while !files.fileExists(atPath: existing), let slash = existing.lastIndex(of: "/") {
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
        }
        let target = URL(filePath: existing).resolvingSymlinksInPath().path
        let attributes = try? files.attributesOfItem(atPath: target)
        var reading = Checkup.DirectoryReading(
            path: path,
            existing: existing,
            isFolder: attributes?[.type] as? FileAttributeType == .typeDirectory,
            isWritable: files.isWritableFile(atPath: existing)
        )
        guard existing == path, reading.isFolder else { return reading }
        reading.mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue
        reading.sizes = try? LogDirectory.sizes(of: path)
        if triesFlush, reading.isWritable { reading.flush = self.flush(in: path) }
        return reading
    }

    /// How long a few bytes take to come to the disk; nil if they cannot be written.
    private static func flush(in folder: String) -> Duration? {
        let path = "\(folder)/.doctor-\(UUID().uuidString)"
        guard FileManager.default.createFile(atPath: path, contents: Data("a flush".utf8)) else { return nil }
        defer { try? FileManager.default.removeItem(atPath: path) }
        guard let file = FileHandle(forWritingAtPath: path) else { return nil }
        return try? ContinuousClock().measure { try file.synchronize() }
    }

    // MARK: The clock

    /// Whether a time service keeps the system's clock right; nil where the kernel does not tell.
    private static var isSynchronised: Bool? {
        let told = freshet_clock_is_synchronised()
        return told < 0 ? nil : told == 1
    }

    static func clock(_ configuration: GatewayConfiguration) -> Checkup.ClockReading {
        let log = try? LogDirectory(path: configuration.dataDirectory)
        let newest = log.flatMap { log in
            (0..<UInt16(clamping: log.format.partitions)).map { log.newestTime(PartitionID($0)) }.max()
        }
        return Checkup.ClockReading(
            wall: LogClock.wallTime(),
            isSynchronised: Self.isSynchronised,
            newestEntry: newest
        )
    }
}
