import APNSWire
package import Serving
package import TLS

/// The verdict on one connection's client certificate: made when it connects, and again when the table has changed.
///
/// Belongs to the connection's event loop.
package final class CertificateStanding {
    private let certificate: PeerCertificate
    private let certificates: ClientCertificates
    /// Of the table that it was judged under; 0 before the first time.
    private var generation: UInt64 = 0
    private var judged = ClientCertificateTable.Verdict.unknown

    package init(_ certificate: PeerCertificate, _ certificates: ClientCertificates) {
        self.certificate = certificate
        self.certificates = certificates
    }

    /// The verdict on the certificate, under the table in force.
    package var verdict: ClientCertificateTable.Verdict {
        let generation = self.certificates.generation
        if generation != self.generation {
            self.generation = generation
            self.judged = self.certificates.judge(self.certificate)
        }
        return self.judged
    }
}

extension ClientCertificateTable.Verdict {
    /// Why a connection with such a certificate is ended; nil if it may stay.
    var refusal: Rejection? {
        switch self {
        case .sender, .unknown: nil
        case .revoked: .badCertificate
        case .wrongEnvironment: .badCertificateEnvironment
        }
    }
}

extension Rejection {
    /// `{"reason":"…"}`, as in an answer's body and in the debug data of a GOAWAY.
    var json: String { "{\"reason\":\"\(self.rawValue)\"}" }
}
