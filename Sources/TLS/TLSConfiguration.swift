/// A certificate with the certificates that vouch for it, and its private key.
package struct TLSIdentity: Hashable, Sendable {
    /// The own certificate first, then its issuers; the root may be left out.
    package var certificateChain: PEMSource
    package var privateKey: PEMSource

    package init(certificateChain: PEMSource, privateKey: PEMSource) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}

/// The versions of TLS that are spoken here; older ones are refused (RFC 8996).
package enum TLSVersion: Hashable, Sendable, Comparable, CaseIterable {
    case v1_2
    case v1_3
}

/// A server's identity, and its demands on its clients.
package struct TLSServerConfiguration: Hashable, Sendable {
    /// The treatment of a client whose first message has no ALPN extension (RFC 7301).
    package enum MissingALPN: Hashable, Sendable {
        /// End the handshake with the alert `no_application_protocol`.
        case refuse
        /// Let it in with no protocol chosen: the client knows the protocol of this listener by other means.
        case acceptAsPriorKnowledge
    }

    package enum ClientCertificate: Hashable, Sendable {
        /// Never ask.
        case none
        /// Ask; a client may have none, but one that it shows must verify against these roots.
        case optional(trustRoots: PEMSource)
        /// Ask, and end the handshake without one that verifies against these roots.
        case required(trustRoots: PEMSource)
    }

    package var identity: TLSIdentity
    /// Protocols offered by ALPN, best first, such as `["h2", "http/1.1"]`; each 1 to 255 bytes.
    package var alpn: [String]
    package var missingALPN: MissingALPN
    package var clientCertificate: ClientCertificate
    package var versions: ClosedRange<TLSVersion>

    package init(
        identity: TLSIdentity,
        alpn: [String],
        missingALPN: MissingALPN = .refuse,
        clientCertificate: ClientCertificate = .none,
        versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3
    ) {
        self.identity = identity
        self.alpn = alpn
        self.missingALPN = missingALPN
        self.clientCertificate = clientCertificate
        self.versions = versions
    }
}

/// The servers that a client trusts, and the identity that it shows.
package struct TLSClientConfiguration: Hashable, Sendable {
    /// How a client verifies a server's identity.
    package enum Trust: Hashable, Sendable {
        /// The machine's own roots.
        case system
        /// These roots and no others.
        case roots(PEMSource)
        /// Any server, under any name. For tests and measurements only: the connection is open to an interceptor.
        case insecure
    }

    package var trust: Trust
    /// Shown to a server that asks for a client certificate.
    package var identity: TLSIdentity?
    /// Protocols offered by ALPN, best first; none offers no ALPN at all.
    package var alpn: [String]
    package var versions: ClosedRange<TLSVersion>

    package init(
        trust: Trust,
        identity: TLSIdentity? = nil,
        alpn: [String],
        versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3
    ) {
        self.trust = trust
        self.identity = identity
        self.alpn = alpn
        self.versions = versions
    }
}
