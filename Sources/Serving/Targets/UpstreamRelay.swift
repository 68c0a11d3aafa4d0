package import APNSWire
package import HTTPTransport
package import WidgetModel

/// Passes pushes of types that are not handled here on to their app's upstream.
package protocol UpstreamRelay: Sendable {
    /// Sends a push on.
    ///
    /// - Parameters:
    ///   - headers: As they came; the credentials among them are replaced if the app says so.
    ///   - whenDone: Called once, on any loop, with the upstream's answer, or the gateway's answer in its place.
    func send(
        path: String,
        headers: HTTPFields,
        body: [UInt8],
        from sender: Sender,
        app: BundleID,
        whenDone: @escaping @Sendable (Result<HTTPClientResponse, RejectionAnswer>) -> Void
    )
}
