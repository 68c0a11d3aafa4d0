package import TLS

/// Where a load goes, and as whom.
package struct LoadTarget: Sendable {
    /// A numeric address or a name.
    package var address: String
    package var pushPort: Int
    /// Nil for a server that is no gateway: only pushes can be sent to it.
    package var hostPort: Int?
    /// The name in the server's certificate.
    package var serverName: String
    /// A client's context that offers `h2`.
    package var tls: TLSContext
    /// The provider token, without `bearer`.
    package var token: String
    /// Operations a second that are never passed, whatever the scenario says; nil on this machine.
    package var rateCap: Double?

    package init(
        address: String,
        pushPort: Int,
        hostPort: Int?,
        serverName: String,
        tls: TLSContext,
        token: String,
        rateCap: Double? = nil
    ) {
        self.address = address
        self.pushPort = pushPort
        self.hostPort = hostPort
        self.serverName = serverName
        self.tls = tls
        self.token = token
        self.rateCap = rateCap
    }
}
