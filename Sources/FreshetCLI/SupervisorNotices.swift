import Foundation
import Gateway
import HTTPTransport
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Tells the service manager that started the gateway about its state (sd_notify(3)). With `Type=notify` a start is over when the listeners
/// are open, and a line of `systemctl status` names the missing parts. With `WatchdogSec` the service manager hears that every thread still
/// answers, and ends a gateway if it no longer hears that.
struct SupervisorNotices: Service {
    /// Where a service manager that wants to know waits for it.
    private static let variable = "NOTIFY_SOCKET"
    /// How soon a change is told.
    private static let interval = Duration.milliseconds(200)

    private let channel: any Channel
    private let gateway: Gateway
    /// How often a watchdog is told that all is well; nil if there is none.
    private let beat: Duration?

    /// - Returns: Nil if no service manager wants to know, or it cannot be reached, which the log says.
    init?(_ gateway: Gateway, environment: [String: String], _ logger: Logger) async {
        guard let path = environment[Self.variable], !path.isEmpty else { return nil }
        self.gateway = gateway
        self.beat = Self.beat(environment, process: ProcessInfo.processInfo.processIdentifier)
        do {
            self.channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: path).get()
        } catch {
            let failure = "\(path): \(ConnectionFailure.sentence(error))"
            logger.warning("the service manager cannot be notified", metadata: ["error": "\(failure)"])
            return nil
        }
    }

    /// Half of the time after which a watchdog bites (sd_watchdog_enabled(3)); nil if none watches this process.
    static func beat(_ environment: [String: String], process: Int32) -> Duration? {
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0
        else { return nil }
        if let watched = environment["WATCHDOG_PID"], watched != "\(process)" { return nil }
        return .microseconds(max(1, microseconds / 2))
    }

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.tellStatus() }
                if let beat = self.beat { group.addTask { try await self.tellLife(every: beat) } }
                try await group.waitForAll()
            }
        }
        await self.tell("STOPPING=1\nSTATUS=draining")
        try? await self.channel.close()
    }

    private func tellStatus() async throws {
        var (told, isUp) = ("", false)
        while true {
            let status = self.gateway.status
            if !isUp, status.isListening {
                isUp = true
                await self.tell("READY=1")
            }
            if status.text != told {
                told = status.text
                await self.tell("STATUS=\(told)")
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    private func tellLife(every beat: Duration) async throws {
        while true {
            await self.gateway.reachLoops()
            await self.tell("WATCHDOG=1")
            try await Task.sleep(for: beat)
        }
    }

    /// A notice that gets lost is not sent again: the gateway does its work all the same.
    private func tell(_ text: String) async {
        try? await self.channel.writeAndFlush(ByteBuffer(string: text))
    }
}
