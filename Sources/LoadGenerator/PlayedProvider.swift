import APNSWire
import HTTPTransport
import Logging
import NIOCore
import NIOPosix
import Synchronization
import WidgetModel

/// A timeline provider for one run: it answers every question with a timeline of one entry, and fails when its scenario
/// says so. Plain HTTP on the loopback interface, on a port that the system picks.
package final class PlayedProvider: Sendable {
    private let provider: LoadProvider
    private let group: MultiThreadedEventLoopGroup
    private let state = Mutex(State())

    private struct State {
        var server: HTTPServer?
        /// The run's beginning, in nanoseconds of the monotonic clock.
        var beginning: Int64?
        var dice: UInt64 = 0
    }

    private init(_ provider: LoadProvider) {
        self.provider = provider
        self.group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    package static func start(_ provider: LoadProvider) async throws -> PlayedProvider {
        let played = PlayedProvider(provider)
        let configuration = HTTPListenerConfiguration(name: "provider", port: 0, tls: nil)
        var logger = Logger(label: "provider")
        logger.logLevel = .error
        let server = try await HTTPServer.start(configuration, on: played.group, logger: logger) { request in
            await played.answer(request)
        }
        played.state.withLock { $0.server = server }
        return played
    }

    /// Where it is asked.
    package var url: String {
        "http://127.0.0.1:\(self.state.withLock { $0.server?.port ?? 0 })/timelines"
    }

    /// The run begins: its failures count from here.
    package func begin() {
        self.state.withLock { $0.beginning = MonotonicTime.now }
    }

    package func stop() async {
        let server = self.state.withLock { $0.server }
        await server?.drain(within: .milliseconds(100))
        try? await self.group.shutdownGracefully()
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let isFailing = self.state.withLock { state -> Bool in
            guard let beginning = state.beginning else { return false }
            let instant = MonotonicTime.now - beginning
            let end = self.provider.failsAt.addingReportingOverflow(self.provider.failsFor)
            guard instant >= self.provider.failsAt, end.overflow || instant < end.partialValue else { return false }
            state.dice += 1
            return Double(StableHash.mix(state.dice) >> 11) * 0x1p-53 < self.provider.failingShare
        }
        try? await Task.sleep(for: .nanoseconds(self.provider.latency))
        guard !isFailing else { return HTTPResponse(status: 500) }
        guard let question = try? JSONReader().parse(request.body), case .array(let requests)? = question["requests"],
            case .string(let now)? = question["now"]
        else { return HTTPResponse(status: 400) }
        let answers = requests.compactMap { request -> String? in
            guard case .string(let id)? = request["id"] else { return nil }
            // Named in the content, so that the reader of the entry knows how long it took.
            let push = if case .string(let push)? = request["push"] { "\"push\":\"\(push)\"," } else { "" }
            let entry = "{\"date\":\"\(now)\",\"content\":{\(push)\"reload\":\"\(id)\"}}"
            return "{\"id\":\"\(id)\",\"timeline\":{\"entries\":[\(entry)],\"policy\":\"never\"}}"
        }
        let body = "{\"answers\":[\(answers.joined(separator: ","))]}"
        return HTTPResponse(status: 200, headers: ["content-type": "application/json"], body: .bytes(Array(body.utf8)))
    }
}
