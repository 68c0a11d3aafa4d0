package import HTTPTransport
import Settings

/// Which web pages may call the host listener: those of the origins that apps list, and by default none (the CORS
/// protocol of the WHATWG Fetch standard).
///
/// Only the origin counts, neither the app nor the token in a path: an answer to a caller without a credential must not tell which hosts
/// are registered. A browser keeps an answer from a page of any other origin. This is no protection against other callers. Credentials are,
/// and they go in a header, never in an address.
package struct CrossOrigin: Sendable {
    /// Looked up only.
    private let origins: Set<String>

    /// - Parameter origins: As browsers write them: `https://example.com`, `http://127.0.0.1:8000`.
    package init(_ origins: Set<String> = []) {
        self.origins = origins
    }

    /// Whether a page may call.
    package func allows(_ origin: String) -> Bool {
        self.origins.contains(origin)
    }

    /// An answer to a page is another one for a page of another origin. Hosts that are no web pages name no origin.
    package func marked(_ response: HTTPResponse, for request: HTTPRequest) -> HTTPResponse {
        guard let origin = request.headers["origin"] else { return response }
        var response = response
        response.headers.append("vary", "origin")
        if self.allows(origin) { response.headers.append("access-control-allow-origin", origin) }
        return response
    }

    /// The answer to a browser's preflight, which it sends before a page's request; nil if the request is none.
    package func preflight(_ request: HTTPRequest) -> HTTPResponse? {
        guard request.method == "OPTIONS", request.headers["access-control-request-method"] != nil,
            let origin = request.headers["origin"]
        else { return nil }
        guard self.allows(origin) else { return self.marked(HTTPResponse(status: 403), for: request) }
        let answer = HTTPResponse(
            status: 204,
            headers: [
                "access-control-allow-methods": "GET, PUT, POST, DELETE",
                "access-control-allow-headers": "authorization, content-type, last-event-id",
                "access-control-max-age": "600",
            ]
        )
        return self.marked(answer, for: request)
    }
}

extension CrossOrigin {
    init(_ configuration: GatewayConfiguration) {
        self.init(Set(configuration.apps.flatMap(\.origins)))
    }
}
