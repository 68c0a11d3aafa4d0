import APNSWire
package import HTTPTransport
package import Serving
import WidgetModel

/// The push listener's memory of one connection. Belongs to the connection's event loop.
package final class PushConnection {
    /// The client certificate, nil without one. If it speaks for a sender, provider tokens are not looked at.
    package let certificate: CertificateStanding?
    /// The sender whose provider tokens the connection carries.
    package private(set) var binding = SenderBinding()
    /// Whether its last push was refused, and its sender's connections are slowed down by that.
    package var isSlowed = false
    /// How many provider tokens were refused.
    package let refusedCredentials: RefusedCredentials
    /// The provider token that was refused last, and under which keys: a sender that shows it again is told the same.
    private var refused: (authorization: [UInt8], fault: ProviderTokenError, generation: UInt64)?

    package init(
        certificate: CertificateStanding? = nil,
        refusedCredentials: RefusedCredentials = RefusedCredentials()
    ) {
        self.certificate = certificate
        self.refusedCredentials = refusedCredentials
    }

    /// Notes that a provider token was refused.
    ///
    /// - Parameter generation: Of the keys that it was judged by.
    func refuse(_ authorization: Span<UInt8>, _ fault: ProviderTokenError, generation: UInt64) {
        self.refusedCredentials.count()
        self.refused = (Array(copying: authorization), fault, generation)
    }

    /// Why a provider token was refused a moment ago; nil if another one was, or there are other keys by now.
    func refusal(of authorization: Span<UInt8>, generation: UInt64) -> ProviderTokenError? {
        guard let refused, refused.generation == generation, refused.authorization.count == authorization.count else {
            return nil
        }
        for index in authorization.indices where refused.authorization[index] != authorization[index] { return nil }
        return refused.fault
    }

    /// Refuses a token for its own faults, or because of earlier tokens on the connection; remembers it for the requests that follow.
    ///
    /// - Parameter isOfOtherEnvironment: Whether its key is for the other environment than the app of the request.
    func admit(
        _ token: VerifiedSender,
        isOfOtherEnvironment: Bool,
        by senders: SenderDirectory,
        at now: Instant
    ) throws(ProviderTokenError) {
        let isLatest = self.binding.isLatest(token)
        do throws(Rejection) {
            if !isLatest, senders.bindsConnections { try self.binding.check(token.sender) }
            guard !isOfOtherEnvironment else { throw .badEnvironmentKeyInToken }
        } catch {
            throw ProviderTokenError(error, Self.sentence(error))
        }
        try senders.check(token, now: now)
        guard !isLatest else { return }
        do throws(Rejection) {
            try self.binding.admit(token, now: now, updates: senders.updates)
        } catch {
            throw ProviderTokenError(error, Self.sentence(error))
        }
    }

    /// The explanation for a token that is refused though it is in order by itself.
    private static func sentence(_ rejection: Rejection) -> String {
        switch rejection {
        case .invalidProviderToken: "this connection is used by another team; open another connection"
        case .unrelatedKeyIDInToken: "this connection is used by another key; open another connection"
        case .badEnvironmentKeyInToken: "the key is not for the environment of the app"
        case .tooManyProviderTokenUpdates: "the token was renewed too soon; use each token for at least 20 minutes"
        default: ""
        }
    }

    /// The connection's sender; nil before the first good credentials.
    var sender: Sender? { self.certificate?.verdict.sender ?? self.binding.first }
}
