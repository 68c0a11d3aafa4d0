/// The answer of a listener that speaks HTTP/2 only to a client that speaks HTTP/1.1, in a form that the client can
/// read.
///
/// APNs sends HTTP/2 frames to such a client. `curl --http1.1` takes them for "HTTP/0.9", and its user does not see the
/// reason.
enum HTTP1Refusal {
    /// The whole answer: 505 (RFC 9110, 15.6.6) with a problem detail (RFC 9457), and the end of the connection.
    static let bytes: [UInt8] = {
        let body = """
            {"type":"about:blank","title":"HTTP Version Not Supported","status":505,\
            "detail":"this listener speaks HTTP/2 only; offer h2 by ALPN (curl: --http2)"}
            """
        let head = [
            "HTTP/1.1 505 HTTP Version Not Supported", "connection: close", "content-type: application/problem+json",
            "content-length: \(body.utf8.count)",
        ]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }()
}
