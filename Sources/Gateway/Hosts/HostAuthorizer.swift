package import APNSWire
package import HTTPTransport
package import WidgetModel

/// Who calls a route of the host listener: a host with its own credential, or an app's back end.
package enum Caller: Sendable {
    /// Holds one push token of one app.
    case host(HostCredentialClaims)
    /// Acts for every host of its apps.
    case sender(Sender)

    /// Whether the caller may act for hosts of an app, and for which token.
    package func mayAct(for token: DeviceToken?, of app: BundleID) -> Bool {
        switch self {
        case .host(let claims): claims.app == app && claims.pushToken == token
        case .sender(let sender): sender.actions.contains(.hosts) && sender.topics.app(bundle: app) != nil
        }
    }

    /// The back end, or nil for a host.
    package var sender: Sender? {
        guard case .sender(let sender) = self else { return nil }
        return sender
    }
}

/// Verifies the `authorization` of requests that are not pushes.
package struct HostAuthorizer: Sendable {
    private let senders: SenderDirectory
    private let clock: LogClock

    package init(senders: SenderDirectory, clock: LogClock) {
        self.senders = senders
        self.clock = clock
    }

    /// The caller of a request.
    ///
    /// - Throws: ``Problem`` with `missing-credential`, `invalid-credential` or `expired-credential`.
    package func caller(of request: HTTPRequest) throws(Problem) -> Caller {
        // Browsers show a client certificate for any page; what a page says of itself is in a header that it has to set.
        if let certificate = request.peerCertificate, request.headers["origin"] == nil {
            switch self.senders.certificates.judge(certificate) {
            case .sender(let sender): return .sender(sender)
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
        let now = self.clock.now()
        let reader = JSONReader()
        if let credential = try? HostCredential.parse(authorization: authorization.span, reader: reader) {
            _ = try self.senders.verify(credential, now: now)
            return .host(credential.claims)
        }
        do throws(ProviderTokenFault) {
            let token = try ProviderToken.parse(authorization: authorization.span, reader: reader)
            return .sender(try self.senders.verify(token, now: now).sender)
        } catch {
            throw Self.problem(error)
        }
    }

    private static func problem(_ fault: ProviderTokenFault) -> Problem {
        switch fault.rejection {
        case .expiredProviderToken:
            Problem(.expiredCredential, "the provider token is older than an hour; mint a new one")
        case .missingProviderToken: Problem(.missingCredential, fault.sentence)
        default: Problem(.invalidCredential, "provider token: \(fault.sentence)")
        }
    }
}
