package import NIOCore
import Synchronization

/// Sends requests over pools of HTTP/2 connections, one pool for each target.
///
/// A pool lives on one event loop with all its connections, so nothing in it is locked; targets are spread over the loops.
/// By RFC 9113, 8.7, a request may be sent again if the server surely did not act on it, or if repeating it does no
/// harm in any case. Redirects are answers like others.
package final class HTTPClient: Sendable {
    private let group: any EventLoopGroup
    private let state: Mutex<State>
    private let tally = Mutex(HTTPClientCounters())

    private struct State {
        var configuration: HTTPClientConfiguration
        var targets: [HTTPTarget.Key: Slot] = [:]
        var made: UInt64 = 0
        var isClosed = false
    }

    /// Where a target's pool is; it is made on its own loop, by the first request.
    private struct Slot: Sendable {
        let eventLoop: any EventLoop
        let seed: UInt64
        let box: NIOLoopBoundBox<TargetConnections?>
    }

    package init(_ configuration: HTTPClientConfiguration = HTTPClientConfiguration(), on group: any EventLoopGroup) {
        self.state = Mutex(State(configuration: configuration))
        self.group = group
    }

    package var configuration: HTTPClientConfiguration { self.state.withLock { $0.configuration } }

    /// Keeps another configuration from now on: of pools at once, of connections for those that are made then. Of fewer
    /// connections, those that are too many go on until they end.
    package func applyConfiguration(_ configuration: HTTPClientConfiguration) {
        let slots = self.state.withLock { state in
            state.configuration = configuration
            return Array(state.targets.values)
        }
        for slot in slots { slot.eventLoop.execute { slot.box.value?.applyConfiguration(configuration) } }
    }

    /// Sends a request and waits for the whole response; cancelling the task resets the stream.
    ///
    /// - Throws: ``HTTPTransportError`` only.
    package func send(_ request: HTTPClientRequest, to target: HTTPTarget) async throws -> HTTPClientResponse {
        let cancellation = RequestCancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                self.send(request, to: target, cancellation) { result in
                    continuation.resume(with: result.mapError { $0 as any Error })
                }
            }
        } onCancel: {
            cancellation.cancel()
            guard let slot = self.state.withLock({ $0.targets[target.key] }) else { return }
            slot.eventLoop.execute { slot.box.value?.cancel(cancellation) }
        }
    }

    /// Sends a request; `whenDone` is called once, on an event loop.
    package func send(
        _ request: HTTPClientRequest,
        to target: HTTPTarget,
        whenDone: @escaping @Sendable (Result<HTTPClientResponse, HTTPTransportError>) -> Void
    ) {
        self.send(request, to: target, RequestCancellation(), whenDone)
    }

    private func send(
        _ request: HTTPClientRequest,
        to target: HTTPTarget,
        _ cancellation: RequestCancellation,
        _ whenDone: @escaping @Sendable (Result<HTTPClientResponse, HTTPTransportError>) -> Void
    ) {
        let slot: Slot
        do throws(HTTPTransportError) {
            try request.check()
            slot = try self.slot(of: target)
        } catch {
            return whenDone(.failure(error))
        }
        slot.eventLoop.execute {
            let connections = slot.box.value ?? TargetConnections(target, slot.seed, self, slot.eventLoop)
            guard !connections.isRetired else { return self.send(request, to: target, cancellation, whenDone) }
            slot.box.value = connections
            self.count { $0.requests += 1 }
            connections.send(request, cancellation, whenDone)
        }
    }

    /// The client's counts.
    package func counters() -> HTTPClientCounters {
        var counters = self.tally.withLock { $0 }
        counters.targets = self.state.withLock { $0.targets.count }
        return counters
    }

    /// Takes no more requests, fails those in work, says GOAWAY and waits for the connections' end.
    package func close() async {
        let targets = self.state.withLock { state in
            state.isClosed = true
            return Array(state.targets.values)
        }
        for slot in targets {
            // A loop that is shut down has no connections left.
            try? await slot.eventLoop.flatSubmit {
                slot.box.value?.closeAll() ?? slot.eventLoop.makeSucceededVoidFuture()
            }.get()
        }
    }

    private func slot(of target: HTTPTarget) throws(HTTPTransportError) -> Slot {
        enum Found {
            case slot(Slot)
            case closed
            case tooMany
        }
        let key = target.key
        let found = self.state.withLock { state -> Found in
            guard !state.isClosed else { return .closed }
            if let slot = state.targets[key] { return .slot(slot) }
            guard state.targets.count < state.configuration.targetsMax else { return .tooMany }
            state.made += 1
            let eventLoop = self.group.next()
            let slot = Slot(eventLoop: eventLoop, seed: state.made, box: .makeEmptyBox(eventLoop: eventLoop))
            state.targets[key] = slot
            return .slot(slot)
        }
        switch found {
        case .slot(let slot):
            return slot
        case .closed:
            throw HTTPTransportError(.connectionClosed, "the client has closed", isUnprocessed: true)
        case .tooMany:
            self.count { $0.limits[.maxTargets] += 1 }
            let max = self.configuration.targetsMax
            throw HTTPTransportError(.queueFull, "\(max) targets are already in use, the limit", isUnprocessed: true)
        }
    }

    // MARK: For the pools

    func forget(_ key: HTTPTarget.Key) {
        self.state.withLock { $0.targets[key] = nil }
    }

    func count(_ change: (inout HTTPClientCounters) -> Void) {
        self.tally.withLock { change(&$0) }
    }
}
