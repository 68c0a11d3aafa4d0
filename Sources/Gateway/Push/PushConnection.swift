/// What the push listener remembers of one connection. Belongs to the connection's event loop.
package final class PushConnection {
    /// The client certificate, nil without one. If it speaks for a sender, provider tokens are not looked at.
    package let certificate: CertificateStanding?
    /// Whose provider tokens the connection carries.
    package var binding = SenderBinding()

    package init(certificate: CertificateStanding? = nil) {
        self.certificate = certificate
    }
}
