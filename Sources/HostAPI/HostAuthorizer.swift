import APNSWire
package import HTTPTransport
package import Partitions
package import Serving
package import WidgetModel

/// Verifies the `authorization` of requests that are not pushes.
package struct HostAuthorizer: Sendable {
    private let senders: SenderDirectory
    private let credentials: VerifiedCredentials
    private let clock: LogClock
    /// The log's time.
    var now: Instant { self.clock.now() }

    /// - Parameters:
    ///   - senders: The known senders.
    ///   - credentials: Remembers those that were verified.
    ///   - clock: Judges the age of credentials.
    package init(senders: SenderDirectory, credentials: VerifiedCredentials, clock: LogClock) {
        self.senders = senders
        self.credentials = credentials
        self.clock = clock
    }

    /// The caller of a request.
    ///
    /// - Throws: ``Problem`` with `missing-credential`, `invalid-credential` or `expired-credential`.
    package func caller(of request: HTTPRequest) throws(Problem) -> Caller {
        try request.countingRefusals { (request) throws(Problem) in try self.identify(request) }
    }

    private func identify(_ request: HTTPRequest) throws(Problem) -> Caller {
        // Browsers show a client certificate for any page; a page shows its own right in a header that it has to set.
        if let certificate = request.peerCertificate, request.headers["origin"] == nil {
            switch self.senders.certificates.judge(certificate) {
            case .sender(let sender): return .sender(sender, .certificate(certificate))
            case .revoked: throw Problem(.invalidCredential, "the client certificate has been revoked")
            // A token may still say who asks. A host's app is asked for by name, whatever its environment.
            case .unknown, .wrongEnvironment: break
            }
        }
        guard let value = request.headers["authorization"], !value.isEmpty else {
            throw Problem(
                .missingCredential,
                "send `authorization: bearer <token>` with a host credential or a provider token"
            )
        }
        let authorization = Array(value.utf8)
        let credential = try self.credentials.credential(in: authorization) { () throws(Problem) in
            try self.credential(authorization)
        }
        return credential.caller
    }

    /// The credential in an `authorization` value, whose signature this verifies.
    private func credential(_ authorization: [UInt8]) throws(Problem) -> VerifiedCredential {
        let reader = JSONReader()
        let credential: HostCredential
        do throws(TokenError) {
            credential = try HostCredential.parse(authorization: authorization.span, reader: reader)
        } catch {
            return try self.token(authorization, notAHost: error, reader)
        }
        try self.senders.identify(credential)
        return .host(credential)
    }

    /// - Parameter fault: Why the authorization is no host's credential.
    private func token(
        _ authorization: [UInt8],
        notAHost fault: TokenError,
        _ reader: JSONReader
    ) throws(Problem) -> VerifiedCredential {
        let token: ProviderToken
        do throws(ProviderTokenError) {
            token = try ProviderToken.parse(authorization: authorization.span, reader: reader)
        } catch {
            guard error.rejection == .invalidProviderToken else { throw Problem(error) }
            // A text that is no token at all has the same fault as both.
            let both = "as a host credential: \(fault.sentence); as a provider token: \(error.sentence)"
            throw Problem(.invalidCredential, fault.sentence == error.sentence ? error.sentence : both)
        }
        do throws(ProviderTokenError) {
            return .token(try self.senders.identify(token))
        } catch {
            throw Problem(error)
        }
    }

    /// The sender that a caller, once let in, speaks for by the keys and certificates in force now; nil if its
    /// credential does not hold any more. For a host it is the sender that signed.
    package func present(_ caller: Caller) -> Sender? {
        let now = self.clock.now()
        return switch caller {
        case .host(let credential): try? self.senders.check(credential, now: now)
        case .sender(_, let proof): self.senders.present(proof, now: now)
        }
    }

    /// Whether a caller that was let in may still act for hosts of an app.
    package func stillHolds(_ caller: Caller, actingFor app: BundleID) -> Bool {
        self.present(caller)?.may(.hosts, app) ?? false
    }
}
