import APNSWire
import Engine
import HTTPTransport
import WidgetModel

/// What operators change: in the log with who asked for it before it is done, and done whole, whether or not the client waits,
/// unless it says that it ends with its client.
extension OperatorRoutes {
    /// What a request that was understood will do.
    struct Change: Sendable {
        /// Whether it is cancelled when its client goes, because it may take long and may be left at any point.
        var endsWithClient = false
        let carryOut: @Sendable () async throws(Problem) -> HTTPResponse
    }

    /// Carries out a request that changes something; nil if it changes nothing.
    func change(_ request: HTTPRequest, by source: OperatorSource) async throws(Problem) -> HTTPResponse? {
        guard let change = try self.change(of: request, source) else { return nil }
        // A task of its own: the request's ends when the client goes.
        let task = Task { () async -> Result<HTTPResponse, Problem> in
            do throws(Problem) {
                return .success(try await change.carryOut())
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

    private func change(of request: HTTPRequest, _ source: OperatorSource) throws(Problem) -> Change? {
        let path = request.path
        guard path.count >= 2, path[0] == "v1" else { return nil }
        if path == ["v1", "orders"], request.method == "POST" { return try self.order(request, by: source) }
        let change: Change?
        switch (request.method, path[1], path.count) {
        case ("POST", "config", 3) where path[2] == "reload":
            change = Change { () async throws(Problem) in try await self.reloadConfiguration() }
        case ("POST", "try-now", 2): change = try self.tryNow(request)
        case ("PUT", "log-levels", 2): change = try self.setLogLevels(request)
        case ("POST", "clock", 2): change = try self.moveClock(request)
        case ("DELETE", _, _): change = try self.erase(path, request)
        default: change = nil
        }
        guard let change else { return nil }
        return Change(endsWithClient: change.endsWithClient) { () async throws(Problem) in
            try await self.audited(request, by: source, change)
        }
    }

    /// `POST /v1/orders`: pause, resume, cancel or grant. The order is the record that says who gave it.
    private func order(_ request: HTTPRequest, by source: OperatorSource) throws(Problem) -> Change {
        let bytesMax = self.bodyBytesMax
        var order = try OrderBody.order(try HostRoutes.json(request.body, reader: JSONReader(), bytesMax: bytesMax))
        order.source = source
        return Change { [order] () async throws(Problem) in
            try await self.checkThatThereIs(order.scope)
            return HTTPResponse(json: JSONValue.object(of: [("matched", .count(try await self.log.carryOut(order)))]))
        }
    }

    /// Logs what no record of its own says, then does it, then logs how it was answered, also when the client has gone:
    /// what is logged waits for no task that could be cancelled.
    ///
    /// - Throws: `unavailable` if it could not be logged; nothing was done then.
    private func audited(
        _ request: HTTPRequest,
        by source: OperatorSource,
        _ change: Change
    ) async throws(Problem) -> HTTPResponse {
        let asked = AuditedRequest(
            number: .random(in: 0 ... .max),
            source: source,
            method: request.method,
            path: request.target,
            body: request.body
        )
        _ = try await self.log.append(.audit(.request(asked)), to: PartitionID(0))
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
        // What cannot be logged now has been done: the request stays without its answer.
        _ = try? await self.log.append(.audit(.answer(number: asked.number, status: status)), to: PartitionID(0))
        return try result.get()
    }
}
