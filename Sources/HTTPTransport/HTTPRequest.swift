package import TLS

/// A whole request, for handlers that are not on the hot path.
package struct HTTPRequest: Sendable {
    /// As sent: methods are case-sensitive.
    package var method: String
    /// As sent: percent-encoded, with the query.
    package var target: String
    /// The segments between the slashes, percent-decoded. `/` has none; a trailing slash adds an empty last one.
    package var path: [String]
    /// In the order sent; a name may stand there twice.
    package var query: [HTTPQueryItem]
    package var headers: HTTPFields
    package var body: [UInt8]
    /// The host name, and port if given, that the client asked for.
    package var authority: String
    package var peerCertificate: PeerCertificate?
    package var remoteAddress: String
    package var version: HTTPVersion
    /// Those of the connection; nil for a request that came over none.
    package var refusedCredentials: RefusedCredentials?

    package init(
        method: String,
        target: String,
        headers: HTTPFields = [:],
        body: [UInt8] = [],
        authority: String = "",
        peerCertificate: PeerCertificate? = nil,
        remoteAddress: String = "",
        version: HTTPVersion = .http2,
        refusedCredentials: RefusedCredentials? = nil
    ) {
        let parsed = RequestTarget(target)
        self.method = method
        self.target = target
        self.path = parsed.path
        self.query = parsed.query
        self.headers = headers
        self.body = body
        self.authority = authority
        self.peerCertificate = peerCertificate
        self.remoteAddress = remoteAddress
        self.version = version
        self.refusedCredentials = refusedCredentials
    }

    /// The value of the first query item of that name.
    package func query(_ name: String) -> String? {
        self.query.first { $0.name == name }?.value
    }
}

/// One `name=value` of a query, percent-decoded, `+` read as a space.
package struct HTTPQueryItem: Hashable, Sendable {
    package var name: String
    /// Empty for an item without `=`.
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
