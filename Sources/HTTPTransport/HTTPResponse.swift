/// An answer to an ``HTTPRequest``.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Called after the head was sent; the response ends when it returns, and breaks off when it throws.
        case stream(@Sendable (HTTPBodyWriter) async throws -> Void)
    }

    package var status: Int
    /// `content-length` is added where the length is known.
    package var headers: HTTPFields
    package var body: Body

    package init(status: Int, headers: HTTPFields = [:], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(status: Int, headers: HTTPFields = [:], text: String) {
        self.init(status: status, headers: headers, body: .bytes(Array(text.utf8)))
        if self.headers["content-type"] == nil {
            self.headers["content-type"] = "text/plain; charset=utf-8"
        }
    }
}
