import Gateway
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Tells the service manager that started the gateway how it does (sd_notify(3)): with `Type=notify` a start is over when the
/// listeners are open, and `systemctl status` has a line that says what is missing.
struct SupervisorNotices: Service {
    /// Where a service manager that wants to know waits for it.
    private static let variable = "NOTIFY_SOCKET"
    /// How soon a change is told.
    private static let interval = Duration.milliseconds(200)

    private let channel: any Channel
    private let gateway: Gateway

    /// - Returns: Nil if no service manager wants to know, or it cannot be reached, which the log says.
    init?(_ gateway: Gateway, environment: [String: String], _ logger: Logger) async {
        guard let path = environment[Self.variable], !path.isEmpty else { return nil }
        self.gateway = gateway
        do {
            self.channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: path).get()
        } catch {
            logger.warning("the service manager is not told how this goes", metadata: ["error": "\(path): \(error)"])
            return nil
        }
    }

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
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
        await self.tell("STOPPING=1\nSTATUS=draining")
        try? await self.channel.close()
    }

    /// What is not heard is not said again: the gateway does its work all the same.
    private func tell(_ text: String) async {
        try? await self.channel.writeAndFlush(ByteBuffer(string: text))
    }
}
