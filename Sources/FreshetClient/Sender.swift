public import Foundation

/// A back end that pushes to the widgets of one app, on a gateway's push listener.
///
/// The host listener takes its pushes, too, with HTTP/1.1, except ``push(_:toDevice:type:kind:matching:)`` and
/// channels.
public struct Sender: Sendable {
    /// The app's bundle id.
    public let app: String
    /// The push listener, with a provider token.
    public let endpoint: Endpoint

    /// Makes a sender.
    ///
    /// - Parameters:
    ///   - app: The app's bundle id.
    ///   - endpoint: Where it pushes, with a provider token.
    public init(app: String, at endpoint: Endpoint) {
        self.app = app
        self.endpoint = endpoint
    }

    /// Pushes to every instance of the app in the target.
    ///
    /// The push is sent again, with the same id, while no answer comes and while the gateway asks for that, as
    /// ``Endpoint/retries`` says.
    ///
    /// - Returns: The gateway's confirmation that the push is on disk.
    /// - Throws: ``FreshetError``, an error of the token source, or `CancellationError`.
    @discardableResult
    public func push(_ push: Push = Push(), to target: Target) async throws -> Receipt {
        var request = try EndpointRequest("POST", ["v1", "apps", self.app, "pushes"], json: push.body(target))
        request.headers = push.headers(id: "apns-id")
        return try await self.receipt(of: push, request)
    }

    /// Pushes to the widgets of one host, or to one control, as to APNs. This needs HTTP/2.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - token: The push token in hex.
    ///   - type: Whether it is about widgets or controls.
    ///   - kind: Only instances of this kind; nil for any.
    ///   - match: Only instances whose configuration matches; nil for any.
    /// - Returns: The gateway's confirmation that the push is on disk.
    /// - Throws: ``FreshetError``: with the code `BadDeviceToken` or `Unregistered`, forget the token.
    @discardableResult
    public func push(
        _ push: Push = Push(),
        toDevice token: String,
        type: PushType = .widgets,
        kind: String? = nil,
        matching match: Pattern? = nil
    ) async throws -> Receipt {
        let target = Target(kind: kind, match: match)
        let body = push.body(target == .all ? nil : target)
        var request = try EndpointRequest("POST", ["3", "device", token], json: body)
        request.headers = push.headers(id: "apns-id")
        request.headers["apns-topic"] = "\(self.app).push-type.\(type.rawValue)"
        request.headers["apns-push-type"] = type.rawValue
        return try await self.receipt(of: push, request)
    }

    private func receipt(of push: Push, _ request: EndpointRequest) async throws -> Receipt {
        let (answer, attempts) = try await self.endpoint.sendRepeatedly(request)
        return Receipt(
            id: push.id,
            uniqueID: answer.headers["apns-unique-id"].flatMap { UUID(uuidString: $0) },
            attempts: attempts
        )
    }

    /// The instances that a push would reach, and the decisions about them. Nothing is pushed.
    public func dryRun(_ push: Push = Push(), to target: Target) async throws -> DryRun {
        var request = try EndpointRequest("POST", ["v1", "apps", self.app, "pushes"], json: push.body(target))
            .with("dry-run", "true")
        request.headers = push.headers(id: "apns-id")
        return try await self.endpoint.send(request).json()
    }

    /// The outcomes of a push so far.
    ///
    /// - Parameter id: The id of a push or of a broadcast.
    public func status(of id: UUID) async throws -> PushStatus {
        try await self.endpoint.send(EndpointRequest("GET", Self.path(id))).json()
    }

    /// The outcomes of a push as they come, until nothing can change any more.
    ///
    /// - Parameter id: The id of a push or of a broadcast.
    public func progress(of id: UUID) -> PushProgress {
        PushProgress(endpoint: self.endpoint, path: Self.path(id) + ["events"])
    }

    /// Cancels a push for all instances where it still waits.
    ///
    /// - Returns: The number of these instances.
    @discardableResult
    public func cancel(_ id: UUID) async throws -> Int {
        struct Cancelled: Decodable { let cancelled: Int }
        return try await self.endpoint.send(EndpointRequest("DELETE", Self.path(id))).json(Cancelled.self).cancelled
    }

    private static func path(_ id: UUID) -> [String] { ["v1", "pushes", id.uuidString.lowercased()] }
}
