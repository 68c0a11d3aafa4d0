package import HTTP2
import NIOCore
package import NIOPosix
import Synchronization
package import TLS

/// An HTTP/2 server over real sockets that does to each request what a test says.
///
/// The script is asked once for every request, on the server's loop, and answers with the steps to take.
package final class ScriptedServer: Sendable {
    package struct Request: Hashable, Sendable {
        /// Of all requests, from 1.
        package let number: Int
        /// Of all connections, from 1.
        package let connection: Int
        /// Of this connection's requests, from 1.
        package let place: Int
        package let streamID: Int32
        package let method: String
        package let path: String
        package let fields: [String: String]
        package let body: [UInt8]

        package var text: String { String(decoding: self.body, as: UTF8.self) }
    }

    package enum Step: Hashable, Sendable {
        case answer(Int, [String: String] = [:], String = "")
        /// RST_STREAM on the request's stream.
        case reset(HTTP2ErrorCode)
        /// Another limit of concurrent streams.
        case streamsMax(UInt32)
        /// GOAWAY with this as the last stream; nil is this request's.
        case goAway(last: Int32? = nil, HTTP2ErrorCode = .noError, debug: String = "")
        /// The graceful form: GOAWAY that refuses nothing, a PING, and the second GOAWAY.
        case drain
        /// The socket closes without another word.
        case hangUp
        /// From now on the connection reads nothing and says nothing.
        case fallSilent
        /// The answer comes when the test says so.
        case hold
    }

    package typealias Script = @Sendable (Request) -> [Step]

    struct State {
        var requests: [Request] = []
        var connections = 0
        var held: [@Sendable (Step) -> Void] = []
        var live: [Int: @Sendable ([Step]) -> Void] = [:]
        var openConnectionsMax = 0
        var openStreamsMax = 0
    }

    package let port: Int
    private let channel: any Channel
    let state: SharedState

    /// The state that the connections share.
    final class SharedState: Sendable {
        let state = Mutex(State())
        let script: Script
        let streamsMax: UInt32

        init(streamsMax: UInt32, script: @escaping Script) {
            self.streamsMax = streamsMax
            self.script = script
        }
    }

    private init(channel: any Channel, state: SharedState) {
        self.channel = channel
        self.port = channel.localAddress?.port ?? 0
        self.state = state
    }

    /// - Parameter streamsMax: the limit of concurrent streams in the first SETTINGS.
    package static func start(
        tls: TLSContext,
        streamsMax: UInt32 = 1000,
        on group: MultiThreadedEventLoopGroup = .singleton,
        script: @escaping Script
    ) async throws -> ScriptedServer {
        let state = SharedState(streamsMax: streamsMax, script: script)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let session = try TLSSession.server(tls)
                    try channel.pipeline.syncOperations.addHandler(ScriptedConnection(session, state))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        return ScriptedServer(channel: channel, state: state)
    }

    package var requests: [Request] { self.state.state.withLock { $0.requests } }
    /// Connections since the start.
    package var connections: Int { self.state.state.withLock { $0.connections } }
    package var openConnections: Int { self.state.state.withLock { $0.live.count } }
    /// The most connections that were open at one time.
    package var openConnectionsMax: Int { self.state.state.withLock { $0.openConnectionsMax } }
    /// The most requests of one connection that were without an answer at one time.
    package var openStreamsMax: Int { self.state.state.withLock { $0.openStreamsMax } }
    package var heldCount: Int { self.state.state.withLock { $0.held.count } }

    /// Does these steps on every open connection; steps about a request do nothing.
    package func onEveryConnection(_ steps: Step...) {
        let live = self.state.state.withLock { Array($0.live.values) }
        for perform in live { perform(steps) }
    }

    /// Takes the step on every request that is held.
    package func release(_ step: Step) {
        let held = self.state.state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for perform in held { perform(step) }
    }

    package func stop() async {
        self.onEveryConnection(.hangUp)
        // It fails only if it has been closed before.
        try? await self.channel.close()
    }
}
