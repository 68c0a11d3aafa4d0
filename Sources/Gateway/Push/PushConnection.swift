/// What the push listener remembers of one connection. Belongs to the connection's event loop.
package final class PushConnection {
    /// The client certificate, nil without one. If it speaks for a sender, provider tokens are not looked at.
    package let certificate: CertificateStanding?
    /// Whose provider tokens the connection carries.
    package var binding = SenderBinding()
    /// Whether its last push was refused, and its sender's connections are slowed down by that.
    package var isSlowed = false

    package init(certificate: CertificateStanding? = nil) {
        self.certificate = certificate
    }

    /// Whose the connection is; nil before the first good credentials.
    var sender: Sender? {
        if case .sender(let sender)? = self.certificate?.verdict { return sender }
        return self.binding.first
    }
}
