package import APNSWire
package import TLS
package import WidgetModel

/// Who calls a route of the host listener: a host with its own credential, or an app's back end.
package enum Caller: Sendable {
    /// Holds one push token of one app.
    case host(HostCredential)
    /// Acts for every host of its apps.
    case sender(Sender, SenderProof)

    /// By what a sender has shown who it is.
    package enum SenderProof: Sendable {
        case token(VerifiedSender)
        case certificate(PeerCertificate)
    }

    /// Whether the caller may act for hosts of an app, and for which token.
    package func mayAct(for token: DeviceToken?, of app: BundleID) -> Bool {
        switch self {
        case .host(let credential): credential.claims.app == app && credential.claims.pushToken == token
        case .sender(let sender, _): sender.may(.hosts, app)
        }
    }

    /// The back end, or nil for a host.
    package var sender: Sender? {
        guard case .sender(let sender, _) = self else { return nil }
        return sender
    }
}

extension Sender {
    /// Whether a sender may do something to an app: by what its key is for, and by its topics.
    package func may(_ action: SenderActions, _ app: BundleID) -> Bool {
        self.actions.contains(action) && self.topics.app(bundle: app) != nil
    }
}
