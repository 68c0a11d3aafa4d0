package import HTTPTransport
package import Partitions
package import Serving
package import Settings
import TLS
import WidgetModel

/// The callers that may use the operators' routes: holders of a token or certificate, or every caller if the configuration says so; and, to
/// read their team's own data, senders with a key that reads.
///
/// Where no token is configured, the gateway's own counts. Tokens are kept as SHA-256 digests and compared in constant time.
package struct OperatorAccess: Sendable {
    private let known: Shared<Known>
    private let revocations: ClientCertificates
    private let ownToken: OperatorTokenFile?
    private let credentials: VerifiedCredentials?

    /// - Parameters:
    ///   - operators: The configuration's operators.
    ///   - ownToken: Where the gateway's own token is or is to be; nil for a gateway that has none.
    ///   - revocations: Certificates that are no longer believed.
    ///   - credentials: Knows senders by their provider tokens; nil where none is let in.
    /// - Throws: If the own token is needed, and can be neither read nor made.
    package init(
        _ operators: GatewayConfiguration.Operators,
        ownToken: OperatorTokenFile? = nil,
        revocations: ClientCertificates = ClientCertificates(),
        credentials: VerifiedCredentials? = nil
    ) throws(OperatorTokenFile.FileError) {
        self.known = Shared(try Known(operators, ownToken))
        self.ownToken = ownToken
        self.revocations = revocations
        self.credentials = credentials
    }

    /// The file with the gateway's own token, while that counts.
    package var tokenFile: String? { self.known.value.hasOwnToken ? self.ownToken?.path : nil }

    /// The known callers, which change when the configuration is read again.
    private struct Known: Sendable {
        let tokens: [(digest: [UInt8], caller: OperatorCaller)]
        let certificates: [GatewayConfiguration.OperatorCertificate]
        let isOpen: Bool
        let hasOwnToken: Bool

        init(_ operators: GatewayConfiguration.Operators, _ file: OperatorTokenFile?) throws(OperatorTokenFile
            .FileError)
        {
            var lines = operators.tokens.map(\.value)
            self.hasOwnToken = lines.isEmpty && !operators.isOpen && file != nil
            if self.hasOwnToken, let token = try file?.token() { lines = ["\(token) admin \(OperatorTokenFile.name)"] }
            self.tokens = lines.enumerated().compactMap { index, text in
                OperatorToken(text, number: index + 1).map { (Digests.sha256(Array($0.token.utf8).span), $0.caller) }
            }
            self.certificates = operators.certificates
            self.isOpen = operators.isOpen
        }
    }

    /// Knows other callers from now on: the next request of an unknown one is refused.
    ///
    /// - Throws: If the gateway's own token is needed, and can be neither read nor made; the known callers stay the
    ///   same then.
    package func applySettings(_ operators: GatewayConfiguration.Operators) throws(OperatorTokenFile.FileError) {
        self.known.set(try Known(operators, self.ownToken))
    }

    /// The caller, and the data that it may see.
    package struct Visitor: Sendable {
        package let caller: OperatorCaller
        package let reach: Reach

        init(_ caller: OperatorCaller, _ reach: Reach = .everything) {
            self.caller = caller
            self.reach = reach
        }
    }

    /// The visitor behind a request.
    ///
    /// - Throws: `missing-credential`, `invalid-credential` or, of a provider token, `expired-credential`.
    package func visitor(of request: HTTPRequest) throws(Problem) -> Visitor {
        try request.countingRefusals { (request) throws(Problem) in try self.identify(request) }
    }

    /// The data that the request's caller may still see, by the tokens, keys and certificates that are in force now; nil if the scope is
    /// not enough any more. Streams ask again and again; nothing is counted.
    package func present(_ request: HTTPRequest, for needed: OperatorScope) -> Reach? {
        guard let visitor = try? self.identify(request), visitor.caller.scope >= needed else { return nil }
        return visitor.reach
    }

    private func identify(_ request: HTTPRequest) throws(Problem) -> Visitor {
        let known = self.known.value
        if known.isOpen { return Visitor(OperatorCaller(name: "unknown", scope: .admin)) }
        if let peer = request.peerCertificate, let caller = Self.caller(of: peer, known.certificates) {
            guard !self.revocations.isRevoked(peer) else {
                throw Problem(.invalidCredential, "this client certificate has been revoked; use another one")
            }
            return Visitor(caller)
        }
        let authorization = request.headers["authorization"] ?? ""
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer", parts[1].contains(where: { !$0.isWhitespace }) else {
            throw Problem(.missingCredential, "send `authorization: bearer <operator token>`")
        }
        let digest = Digests.sha256(Array(parts[1].utf8).span)
        var found: OperatorCaller?
        for each in known.tokens where Digests.constantTimeEqual(each.digest.span, digest.span) {
            found = each.caller
        }
        if let found { return Visitor(found) }
        // Two dots: a JWT.
        guard let credentials = self.credentials, parts[1].count(where: { $0 == "." }) == 2 else {
            throw Problem(.invalidCredential, "the gateway does not know this operator token")
        }
        return try Self.reader(try credentials.sender(authorization))
    }

    /// A sender whose key reads.
    private static func reader(_ key: Sender) throws(Problem) -> Visitor {
        let id = key.keyID?.rawValue ?? ""
        guard key.actions.contains(.reads) else {
            throw Problem(
                .invalidCredential,
                "the key \(id) of the team \(key.team) has no rights here: set its `reads` in the configuration"
            )
        }
        return Visitor(OperatorCaller(name: "key \(id) of \(key.team)", scope: .read), Reach(of: key))
    }

    private static func caller(
        of peer: PeerCertificate,
        _ certificates: [GatewayConfiguration.OperatorCertificate]
    ) -> OperatorCaller? {
        for certificate in certificates {
            switch certificate.name {
            case .fingerprint(let bytes):
                guard Digests.constantTimeEqual(bytes.span, peer.sha256Fingerprint.span) else { continue }
            case .userID(let text):
                guard text == peer.userID else { continue }
            }
            return OperatorCaller(name: peer.commonName ?? "certificate", scope: certificate.scope)
        }
        return nil
    }

    /// - Throws: `forbidden` if a caller's scope is not enough for something.
    static func check(_ caller: OperatorCaller, needed: OperatorScope, for what: String) throws(Problem) {
        guard caller.scope >= needed else {
            let scope = caller.scope.rawValue
            throw Problem(.forbidden, "\(what) needs the scope \(needed.rawValue); the credential has \(scope)")
        }
    }
}
