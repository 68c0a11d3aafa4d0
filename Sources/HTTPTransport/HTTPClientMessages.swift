package import NIOCore

/// A request for ``HTTP2ClientConnection``.
package struct HTTPClientRequest: Sendable {
    package var method: String
    /// With the query, percent-encoded.
    package var path: String
    /// Nil takes the host name and port of the connection.
    package var authority: String?
    /// Lower-case names. `authorization` is kept out of HPACK's table.
    package var headers: HTTPFields
    package var body: [UInt8]
    /// From `send` to the whole response. Default 30 s.
    package var timeout: TimeAmount

    package init(
        method: String,
        path: String,
        authority: String? = nil,
        headers: HTTPFields = [:],
        body: [UInt8] = [],
        timeout: TimeAmount = .seconds(30)
    ) {
        self.method = method
        self.path = path
        self.authority = authority
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// A whole response.
package struct HTTPClientResponse: Hashable, Sendable {
    package var status: Int
    package var headers: HTTPFields
    package var body: [UInt8]

    package init(status: Int, headers: HTTPFields, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package var text: String { String(decoding: self.body, as: UTF8.self) }
}
