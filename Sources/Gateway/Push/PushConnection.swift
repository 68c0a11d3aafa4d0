/// What the push listener remembers of one connection. Belongs to the connection's event loop.
package final class PushConnection {
    /// Whom the client certificate speaks for, nil without one; provider tokens are then not looked at.
    package let certificateSender: Sender?
    /// Whose provider tokens the connection carries.
    package var binding = SenderBinding()

    package init(certificateSender: Sender? = nil) {
        self.certificateSender = certificateSender
    }
}
