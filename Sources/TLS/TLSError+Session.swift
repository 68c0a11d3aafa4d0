import COpenSSL

extension TLSError {
    /// The error that ended a session, in words that help to find its cause.
    ///
    /// - Parameters:
    ///   - faults: OpenSSL's error queue, the cause first.
    ///   - verification: OpenSSL's verdict on the peer's certificate (`X509_V_...`).
    ///   - opening: The connection's first bytes, or none if they do not matter any more.
    static func session(
        _ faults: [OpenSSLFault],
        verification: Int32,
        opening: Opening,
        duringHandshake: Bool
    ) -> TLSError {
        let during = duringHandshake ? " during the handshake" : ""
        guard let first = faults.first else {
            return TLSError(.truncated, "peer ended the connection without close_notify\(during)")
        }
        if let foreign = opening.foreignProtocol {
            return TLSError(.notTLS, "peer speaks \(foreign) on a TLS port", faults: faults)
        }
        // Every library of OpenSSL has its own numbers; only those of the protocol are told apart here.
        guard let cause = faults.first(where: { $0.library == "SSL routines" }) else {
            return .unnamed(first, faults, duringHandshake)
        }
        // OpenSSL numbers the alerts that it receives from here on.
        if cause.reasonCode > SSL_AD_REASON_OFFSET, cause.reasonCode <= SSL_AD_REASON_OFFSET + 255 {
            return .alert(UInt8(cause.reasonCode - SSL_AD_REASON_OFFSET), during, faults)
        }
        switch cause.reasonCode {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            return TLSError(.truncated, "peer ended the connection without close_notify\(during)", faults: faults)
        case SSL_R_CALLBACK_FAILED:
            // The only callback of ours that fails a handshake this way is the one that misses the extension.
            return TLSError(.noApplicationProtocol, "peer offers no protocol by ALPN", faults: faults)
        case SSL_R_NO_APPLICATION_PROTOCOL:
            return TLSError(.noApplicationProtocol, "peer offers none of our protocols by ALPN", faults: faults)
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return TLSError(.peerCertificate, "peer shows no certificate, and one is required", faults: faults)
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return .certificate(verification, faults)
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW:
            return TLSError(.handshake, "peer offers no TLS version of ours: \(cause)", faults: faults)
        default: return .unnamed(cause, faults, duringHandshake)
        }
    }

    private static func unnamed(_ cause: OpenSSLFault, _ faults: [OpenSSLFault], _ duringHandshake: Bool) -> TLSError {
        TLSError(
            duringHandshake ? .handshake : .protocolViolation,
            duringHandshake ? "TLS handshake failed: \(cause)" : "damaged TLS record: \(cause)",
            faults: faults
        )
    }

    private static func alert(_ number: UInt8, _ during: String, _ faults: [OpenSSLFault]) -> TLSError {
        // Sound: the descriptions are static strings of OpenSSL.
        let name = unsafe SSL_alert_desc_string_long(Int32(number)).map { unsafe String(cString: $0) } ?? "unknown"
        let code = number == UInt8(SSL_AD_NO_APPLICATION_PROTOCOL) ? Code.noApplicationProtocol : .alert(number)
        return TLSError(code, "peer ended the connection\(during) with the alert \(number), \(name)", faults: faults)
    }

    private static func certificate(_ verification: Int32, _ faults: [OpenSSLFault]) -> TLSError {
        // Sound: the sentences are static strings of OpenSSL.
        let reason = unsafe X509_verify_cert_error_string(Int(verification)).map { unsafe String(cString: $0) } ?? ""
        let isName = verification == X509_V_ERR_HOSTNAME_MISMATCH || verification == X509_V_ERR_IP_ADDRESS_MISMATCH
        return TLSError(isName ? .hostname : .peerCertificate, "peer's certificate refused: \(reason)", faults: faults)
    }
}
