import HTTP2
package import NIOCore

/// A request for ``HTTPClient`` or ``HTTP2ClientConnection``.
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
    /// True if a second one does nothing that the first did not: it may be sent again when its connection breaks.
    ///
    /// True by default for the methods that RFC 9110, 9.2.2, calls idempotent.
    package var isRepeatable: Bool

    package init(
        method: String,
        path: String,
        authority: String? = nil,
        headers: HTTPFields = [:],
        body: [UInt8] = [],
        timeout: TimeAmount = .seconds(30),
        isRepeatable: Bool? = nil
    ) {
        self.method = method
        self.path = path
        self.authority = authority
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.isRepeatable = isRepeatable ?? ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method)
    }
}

extension HTTPClientRequest {
    /// Refuses a request that nghttp2 would send as it is, and the server's parser would rightly refuse.
    func check() throws(HTTPTransportError) {
        guard !self.method.isEmpty, self.method.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw HTTPTransportError(.request, "\"\(self.method)\" is not a method", isUnprocessed: true)
        }
        guard self.path.utf8.first == UInt8(ascii: "/"), self.path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw HTTPTransportError(
                .request,
                "a path must begin with a slash and be percent-encoded",
                isUnprocessed: true
            )
        }
        for field in self.headers.all {
            let isName = !field.name.isEmpty && field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
            guard isName, field.value.utf8.allSatisfy({ $0 != 0x0A && $0 != 0x0D && $0 != 0 }) else {
                throw HTTPTransportError(.request, "header field \"\(field.name)\" is not valid", isUnprocessed: true)
            }
        }
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

extension HTTPClientResponse {
    init(_ response: ResponseBatch.Response, in batch: ResponseBatch) {
        let fields = response.fields.map { index in
            let field = batch.fields[Int(index)]
            return HTTPFields.Field(name: batch.string(field.name), value: batch.string(field.value))
        }
        self.init(status: response.status, headers: HTTPFields(fields), body: Array(batch.bytes[response.body.indices]))
    }
}
