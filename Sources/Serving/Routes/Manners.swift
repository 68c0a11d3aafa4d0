package import HTTPTransport

/// The parts of every answer of a list of routes, whichever its handler: how long it may be kept, its entity tag, and its content coding.
///
/// Streams are left alone: they are never compressed, and say themselves that they are not to be kept.
package enum Manners {
    /// The shortest answer that is compressed: an answer that fits a packet gains nothing.
    static let compressedBytesMin = 1024
    private static let compressedTypes: Set<String> = [
        "application/json", "application/problem+json", "application/yaml", "text/plain",
    ]

    /// An answer with the parts that it still lacks.
    package static func finished(_ response: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
        guard case .bytes(let body) = response.body else { return response }
        var response = response
        // A strong tag of its own is for these bytes and no other coding of them.
        let own = response.headers["etag"].map { EntityTag($0) }
        let isCompressible = own == nil && body.count >= Self.compressedBytesMin && Self.isCompressible(response)
        if isCompressible { response.headers.append("vary", "accept-encoding") }
        let isKept = response.status == 200 && (request.method == "GET" || request.method == "HEAD")
        if response.headers["cache-control"] == nil {
            response.headers.append("cache-control", isKept ? "private, no-cache" : "no-store")
            // A client may show a kept answer again once it has heard that it is still good.
            if isKept, own == nil { response.headers.append("etag", EntityTag(body, isWeak: true).description) }
        }
        if isKept, let tag = response.headers["etag"], let known = request.headers["if-none-match"],
            EntityTag(tag).isKnown(known)
        {
            return HTTPResponse(status: 304, headers: response.headers)
        }
        guard isCompressible, let accepted = request.headers["accept-encoding"], Gzip.isAccepted(accepted),
            let compressed = Gzip.compressed(body.span)
        else { return response }
        response.headers.append("content-encoding", "gzip")
        response.body = .bytes(compressed)
        return response
    }

    private static func isCompressible(_ response: HTTPResponse) -> Bool {
        guard let type = response.headers["content-type"] else { return false }
        return Self.compressedTypes.contains(String(type.prefix { $0 != ";" }))
    }
}
