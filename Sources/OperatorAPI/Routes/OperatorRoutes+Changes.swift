import Engine
import HTTPTransport
import Partitions
import Serving
import WidgetModel

/// The operators' changes. A change and its caller are in the log before it is carried out. It is carried out whole, whether or not the
/// client waits, unless it says that it ends with its client.
extension OperatorRoutes {
    /// The change that an understood request will make.
    struct Change: Sendable {
        /// Whether it is cancelled when its client goes, because it may take long and may be left at any point.
        var endsWithClient = false
        /// Whether it only tells its effects. The log has nothing of it.
        var isDryRun = false
        let carryOut: @Sendable () async throws(Problem) -> HTTPResponse
    }

    func carryOut(
        _ change: Change,
        for call: OperatorCall,
        _ audit: OperatorEndpoint.Audit
    ) async throws(Problem) -> HTTPResponse {
        // A task of its own: the request's ends when the client goes.
        let task = Task { () async -> Result<HTTPResponse, Problem> in
            do throws(Problem) {
                guard !change.isDryRun else { return .success(try await change.carryOut()) }
                switch audit {
                case .ownRecord: return .success(try await change.carryOut())
                case .notes:
                    return .success(
                        try await self.audited(change, for: call) { (record) throws(Problem) in
                            _ = try await self.log.append(record, to: PartitionID(0))
                        }
                    )
                case .durableNotes:
                    return .success(
                        try await self.audited(change, for: call) { (record) throws(Problem) in
                            try await self.log.store(record, in: PartitionID(0))
                        }
                    )
                }
            } catch {
                return .failure(error)
            }
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            if change.endsWithClient { task.cancel() }
        }
        return try result.get()
    }

    /// `POST /v1/orders`: pause, resume, cancel, grant or reload. The order is the record that says who gave it. A resume ends the pause of
    /// its own scope alone, and says which others hold its app.
    func order(_ call: OperatorCall) throws(Problem) -> Change {
        var order = try OrderBody.order(try call.json())
        order.source = call.asker.source
        return Change { [order] () async throws(Problem) in
            try await self.checkThatThereIs(order.scope)
            // Before it: whether there was one to end.
            let paused = order.action == .resume ? try? await self.standingOrders() : nil
            let matched = try await self.log.carryOut(order)
            let others = paused?.filter { $0.scope != order.scope && $0.scope.isOfApp(of: order.scope) }
            return HTTPResponse(
                json: JSONValue.object(of: [
                    ("matched", .count(matched)),
                    ("resumed", paused.map { .bool($0.contains { $0.scope == order.scope }) }),
                    ("stillPaused", others.map { .array($0.compactMap { self.pause($0) }) }),
                ])
            )
        }
    }

    /// Logs a change that has no record of its own, then does it, then logs its status, also when the client has gone:
    /// logging waits for no task that could be cancelled.
    ///
    /// - Throws: `unavailable` if it could not be logged; nothing was done then.
    private func audited(
        _ change: Change,
        for call: OperatorCall,
        _ log: (Record) async throws(Problem) -> Void
    ) async throws(Problem) -> HTTPResponse {
        let asked = AuditedRequest(
            number: .random(in: 0 ... .max),
            source: call.asker.source,
            method: call.request.method,
            path: call.request.target,
            body: call.request.body
        )
        try await log(.audit(.request(asked)))
        let result: Result<HTTPResponse, Problem>
        do throws(Problem) {
            result = .success(try await change.carryOut())
        } catch {
            result = .failure(error)
        }
        let status =
            switch result {
            case .success(let response): response.status
            case .failure(let problem): problem.code.status
            }
        // If this cannot be logged, the change has been done all the same: the logged request stays without its answer.
        try? await log(.audit(.answer(number: asked.number, status: status)))
        return try result.get()
    }
}

extension OrderScope {
    /// The app of an app or a kind.
    private var app: BundleID? {
        switch self {
        case .app(let app), .kind(let app, _): app
        case .sender, .host, .instance, .push: nil
        }
    }

    /// Whether both are of one app: a pause of either may hold widgets of the other.
    fileprivate func isOfApp(of other: OrderScope) -> Bool { self.app.map { $0 == other.app } ?? false }
}
