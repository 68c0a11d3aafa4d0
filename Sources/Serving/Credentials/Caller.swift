package import APNSWire
package import Partitions
package import TLS
package import WidgetModel

/// The caller of a route of the host listener: a host with its own credential, or an app's back end.
package enum Caller: Sendable {
    /// Holds one push token of one app.
    case host(HostCredential)
    /// Acts for every host of its apps.
    case sender(Sender, SenderProof)

    /// The proof of a sender's identity.
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

    /// The caller and its right, as text for a caller that is refused. It follows from the caller and its own apps alone, and tells nothing
    /// of the things that were asked for.
    package func phrase(_ apps: ServedApps) -> String {
        let sender: Sender
        let name: String
        switch self {
        case .host(let credential):
            let claims = credential.claims
            let host = claims.host.map { " of the host \"\($0)\"" } ?? ""
            return "a host credential of \(claims.app) for the push token \(claims.pushToken)\(host)"
        case .sender(let found, .token): (sender, name) = (found, "a provider token")
        case .sender(let found, .certificate): (sender, name) = (found, "a client certificate")
        }
        let key = sender.keyID.map { ", key \($0)" } ?? ""
        let may: String
        if sender.actions.contains(.hosts) {
            let bundles = apps.apps.map(\.bundle).filter { self.mayAct(for: nil, of: $0) }
            let shown = bundles.prefix(Self.bundlesShown).map(\.rawValue).joined(separator: ", ")
            let more = bundles.count > Self.bundlesShown ? " and \(bundles.count - Self.bundlesShown) more" : ""
            may = "which may act for hosts of \(bundles.isEmpty ? "no app" : shown)\(more)"
        } else {
            may = "which may not act for hosts (`allows`)"
        }
        return "\(name) of the team \(sender.team)\(key), \(may)"
    }

    /// So many of a caller's apps are named to it.
    private static let bundlesShown = 3

    /// The back end, or nil for a host.
    package var sender: Sender? {
        guard case .sender(let sender, _) = self else { return nil }
        return sender
    }
}

extension Sender {
    /// Whether a sender may do something to an app, by its rights and its topics.
    package func may(_ action: SenderActions, _ app: BundleID) -> Bool {
        self.actions.contains(action) && self.topics.app(bundle: app) != nil
    }
}
