package import HTTPTransport
import NIOCore
package import Partitions
package import Settings
package import WidgetModel

/// How one timeline provider is reached.
package struct ProviderConnection: Sendable {
    /// Sends a request to a URL.
    package typealias Send = @Sendable (HTTPClientRequest, ProviderURL) async throws -> HTTPClientResponse

    private let url: ProviderURL
    private let token: Shared<String?>
    private let timeout: Interval
    private let send: Send

    /// - Parameter token: For `authorization: bearer …`; nil sends none.
    package init(url: ProviderURL, token: String?, timeout: Interval, send: @escaping Send) {
        self.url = url
        self.token = Shared(token)
        self.timeout = timeout
        self.send = send
    }

    /// Shows this token from now on; whether it is another one than before.
    package func replace(token: String?) -> Bool {
        let isOther = self.token.value != token
        self.token.set(token)
        return isOther
    }

    /// Posts a question, and waits for the answer.
    ///
    /// - Parameters:
    ///   - findings: The findings about earlier timelines.
    ///   - trace: The request's span, if it is traced.
    ///   - within: The longest wait, if it is shorter than the provider's own.
    package func ask(
        _ body: [UInt8],
        findings: String? = nil,
        trace: TracedSpan? = nil,
        within limit: Interval? = nil
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(
            method: "POST",
            path: self.url.path,
            headers: ["content-type": "application/json", "accept": "application/json"],
            body: body,
            timeout: .milliseconds(min(self.timeout, limit ?? self.timeout).milliseconds)
        )
        if let token = self.token.value { request.headers.append("authorization", "bearer \(token)") }
        if let trace { request.headers.append("traceparent", trace.context.traceparent) }
        if let findings { request.headers.append("freshet-findings", findings) }
        return try await self.send(request, self.url)
    }
}
