package import HTTPTransport
import TLS

/// Who may use the operators' routes: whoever has one of the tokens, or anybody if none is configured.
///
/// Without tokens the configuration only allows the listener on a loopback address. Tokens are kept as SHA-256 digests
/// and compared in constant time.
package struct OperatorAccess: Sendable {
    private let digests: [[UInt8]]

    package init(tokens: [String]) {
        self.digests = tokens.map { Digests.sha256(Array($0.utf8).span) }
    }

    package func check(_ request: HTTPRequest) throws(Problem) {
        guard !self.digests.isEmpty else { return }
        let parts = (request.headers["authorization"] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Problem(.missingCredential, "send `authorization: bearer <operator token>`")
        }
        let digest = Digests.sha256(Array(parts[1].utf8).span)
        var isKnown = false
        for known in self.digests where Digests.constantTimeEqual(known.span, digest.span) { isKnown = true }
        guard isKnown else { throw Problem(.invalidCredential, "the operator token is not known") }
    }
}
