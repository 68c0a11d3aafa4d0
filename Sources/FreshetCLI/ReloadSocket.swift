import APNSWire
import Foundation
import Gateway
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import WidgetModel

/// A SIGHUP that answers: a connection to the socket in the data directory has the configuration read again, and gets the result. The
/// file's rights let the gateway's user and root connect. The socket needs neither TLS nor a token, so that it works also where
/// certificates or tokens are at fault.
struct ReloadSocket: Service {
    /// Its name in a data directory.
    static let name = "reload"
    /// The longest answer: faults of a configuration, each a few lines.
    private static let answerBytesMax = 1_048_576

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let gateway: Gateway
    private let path: String
    private let server: NIOAsyncChannel<Connection, Never>

    /// Listens. It replaces a socket that an earlier process has left: the data directory is this one's.
    ///
    /// - Returns: Nil if it cannot, which the log says: SIGHUP works all the same.
    init?(_ gateway: Gateway, inDirectory directory: String, _ logger: Logger) async {
        self.gateway = gateway
        self.path = "\(directory)/\(Self.name)"
        do {
            self.server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(unixDomainSocketPath: self.path, cleanupExistingSocketFile: true) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: self.path)
        } catch {
            logger.warning(
                "freshet reload --socket does not reach this gateway; kill -HUP does",
                metadata: ["error": "\(FailureText.of(error, about: self.path))"]
            )
            return nil
        }
    }

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            try await self.server.executeThenClose { connections in
                // One after the other: a caller that comes during a reading has the configuration read once more, as it
                // is then.
                for try await connection in connections {
                    // A caller that has gone meanwhile needs no answer.
                    try? await connection.executeThenClose { _, answer in
                        try await answer.write(ByteBuffer(bytes: await self.gateway.reload().jsonText))
                    }
                }
            }
        }
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// Has the configuration read again by the gateway that listens at a path.
    ///
    /// - Returns: Its answer, JSON.
    /// - Throws: If none listens there, or it ended before it had answered.
    static func ask(_ path: String) async throws -> [UInt8] {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
        return try await channel.executeThenClose { answer, _ in
            var bytes: [UInt8] = []
            for try await part in answer where bytes.count < Self.answerBytesMax {
                bytes.append(contentsOf: part.readableBytesView)
            }
            return bytes
        }
    }
}
