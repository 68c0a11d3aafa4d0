package import WidgetModel

/// A push from a sender's side: the contents of its HTTP/2 request.
package struct PushRequest: Hashable, Sendable {
    package enum Target: Hashable, Sendable {
        case device(DeviceToken)
        case app(BundleID, isDryRun: Bool)
    }

    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var target: Target
    /// Needed for a device.
    package var topic: String?
    package var type: PushType?
    package var id: PushID?
    package var priority: Priority?
    /// UNIX seconds; 0 for "now or never".
    package var expiration: Int64?
    /// UTF-8 here, though APNs takes any bytes.
    package var collapseID: String?
    package var payload: PushPayload

    package init(
        _ target: Target,
        topic: String? = nil,
        type: PushType? = nil,
        id: PushID? = nil,
        priority: Priority? = nil,
        expiration: Int64? = nil,
        collapseID: String? = nil,
        payload: PushPayload = .plain
    ) {
        self.target = target
        self.topic = topic
        self.type = type
        self.id = id
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }

    /// A push to a widget's or control's token, with the topic that goes with the type.
    package static func device(
        _ token: DeviceToken,
        app: BundleID,
        type: PushType = .widgets,
        payload: PushPayload = .plain
    ) -> PushRequest {
        PushRequest(.device(token), topic: Topic.of(app, type: type), type: type, payload: payload)
    }

    package var path: String {
        switch self.target {
        case .device(let token): "/3/device/\(token.hex)"
        case .app(let bundle, let isDryRun): "/v1/apps/\(bundle)/pushes\(isDryRun ? "?dry-run=true" : "")"
        }
    }

    /// The whole header list, pseudo-headers first, as HTTP/2 wants them.
    ///
    /// - Parameters:
    ///   - authority: The server's name, with its port unless it is 443.
    ///   - token: The compact provider token, or nil with a client certificate. Send it without indexing.
    package func headers(authority: String, token: [UInt8]?) -> [Header] {
        var headers = [
            Header(":method", "POST"), Header(":scheme", "https"), Header(":authority", authority),
            Header(":path", self.path),
        ]
        if let token { headers.append(Header("authorization", "bearer \(String(decoding: token, as: UTF8.self))")) }
        if let topic = self.topic { headers.append(Header("apns-topic", topic)) }
        if let type = self.type { headers.append(Header("apns-push-type", type.name)) }
        if let id = self.id { headers.append(Header("apns-id", id.description)) }
        if let priority = self.priority { headers.append(Header("apns-priority", String(priority.rawValue))) }
        if let expiration = self.expiration { headers.append(Header("apns-expiration", String(expiration))) }
        if let collapseID = self.collapseID { headers.append(Header("apns-collapse-id", collapseID)) }
        headers.append(Header("content-type", "application/json"))
        return headers
    }

    package var body: [UInt8] { self.payload.jsonText }
}
