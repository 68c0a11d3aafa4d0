import TLS

extension HTTPTransportError {
    /// Why TLS with a server failed, and what to pass for it to work.
    init(_ error: TLSError, with peer: String) {
        switch error.code {
        case .peerCertificate:
            self.init(
                .tls,
                "the certificate of \(peer) is not trusted: \(error.message); "
                    + "pass the certificate file of the authority that issued it"
            )
        case .hostname:
            self.init(
                .tls,
                "the certificate of \(peer) is for another name: \(error.message); pass the name it is for"
            )
        case .noApplicationProtocol, .alert(120):
            self.init(
                .applicationProtocol,
                "\(peer) speaks TLS but does not offer HTTP/2 (ALPN h2)"
            )
        case .notTLS:
            self.init(.tls, "\(peer) does not speak TLS: \(error.message)")
        default:
            self.init(.tls, "TLS with \(peer) failed: \(error.message)")
        }
    }
}
