import APNSWire
package import HTTPTransport
package import Serving
import WidgetModel

/// The push listener's memory of one connection. Belongs to the connection's event loop.
package final class PushConnection {
    /// The client certificate, nil without one. If it speaks for a sender, provider tokens are not looked at.
    package let certificate: CertificateStanding?
    /// The sender whose provider tokens the connection carries.
    package var binding = SenderBinding()
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

    /// The connection's sender; nil before the first good credentials.
    var sender: Sender? { self.certificate?.verdict.sender ?? self.binding.first }
}
