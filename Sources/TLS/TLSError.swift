/// Why TLS, a key or a certificate did not work.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// A file or a PEM text could not be read, or the parts of a configuration do not fit together.
        case configuration
        /// A key is no usable P-256 key, or not the kind of key that was asked for.
        case key
        /// The peer does not speak TLS at all.
        case notTLS
        /// Both sides speak TLS but find no common protocol by ALPN, or the peer offers none where one is required.
        case noApplicationProtocol
        /// The peer's certificate is missing or was not accepted by us.
        case peerCertificate
        /// The peer's certificate is in order but for another name.
        case hostname
        /// The peer ended the conversation with an alert of this number (RFC 8446 section 6).
        case alert(UInt8)
        /// Any other failure before the handshake was complete.
        case handshake
        /// A damaged or unexpected record after the handshake.
        case protocolViolation
        /// The bytes ended without close_notify: the received bytes may not be all.
        case truncated
        /// A call that the session's state does not allow: writing before the handshake or after the end.
        case state
        /// OpenSSL failed where no input can be blamed, such as for want of memory.
        case internalFailure
    }

    package let code: Code
    /// The operation that failed, its object, and OpenSSL's error; never key material.
    package let message: String
    /// OpenSSL's whole error queue at that moment, the cause first; often empty.
    package let faults: [OpenSSLFault]

    package init(_ code: Code, _ message: String, faults: [OpenSSLFault] = []) {
        self.code = code
        self.message = message
        self.faults = faults
    }

    package var description: String { self.message }

    /// An error out of OpenSSL's queue, which is empty afterwards: `doing` names the operation that failed.
    static func taking(_ code: Code, _ doing: String) -> TLSError {
        let faults = OpenSSLFault.takeQueue()
        guard let cause = faults.first else { return TLSError(code, doing) }
        return TLSError(code, "\(doing): \(cause)", faults: faults)
    }
}
