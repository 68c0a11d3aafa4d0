extension Sender {
    private var channelsPath: [String] { ["1", "apps", self.app, "channels"] }

    /// Creates a channel. It lives until it is deleted.
    ///
    /// - Returns: Its id.
    public func create(_ channel: Channel) async throws -> String {
        let request = try EndpointRequest("POST", self.channelsPath, json: channel)
        return try await self.endpoint.send(request).header("apns-channel-id")
    }

    /// A channel, as it was created.
    public func channel(_ id: String) async throws -> Channel {
        try await self.endpoint.send(self.request("GET", channel: id)).json()
    }

    /// Deletes a channel. Broadcasts that were accepted before are delivered.
    public func deleteChannel(_ id: String) async throws {
        _ = try await self.endpoint.send(self.request("DELETE", channel: id))
    }

    /// The ids of the app's channels, in order.
    public func channels() async throws -> [String] {
        struct Channels: Decodable { let channels: [String] }
        let request = EndpointRequest("GET", ["1", "apps", self.app, "all-channels"])
        return try await self.endpoint.send(request).json(Channels.self).channels
    }

    /// Pushes on a channel.
    ///
    /// The push is sent again like any push. On a channel that stores nothing the expiration is
    /// ``Expiration/nowOrNever`` or nil.
    ///
    /// - Parameter push: A push without collapse id and attributes, which a broadcast cannot have.
    /// - Returns: The gateway's confirmation that the broadcast is on disk.
    /// - Throws: ``FreshetError``, an error of the token source, or `CancellationError`.
    @discardableResult
    public func broadcast(_ push: Push = Push(), on channel: String) async throws -> Receipt {
        guard push.collapseID == nil, push.attributes == nil else {
            throw FreshetError.invalidArgument("a broadcast has no collapse id and no attributes")
        }
        var request = try EndpointRequest("POST", ["4", "broadcasts", "apps", self.app], json: push.body(nil))
        request.headers = push.headers(id: "apns-request-id")
        request.headers["apns-channel-id"] = channel
        request.headers["apns-push-type"] = PushType.widgets.rawValue
        let (_, attempts) = try await self.endpoint.sendRepeatedly(request)
        return Receipt(id: push.id, uniqueID: nil, attempts: attempts)
    }

    private func request(_ method: String, channel id: String) -> EndpointRequest {
        var request = EndpointRequest(method, self.channelsPath)
        request.headers["apns-channel-id"] = id
        return request
    }
}
