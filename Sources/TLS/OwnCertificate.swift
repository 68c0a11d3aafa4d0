import COpenSSL

/// What a context's own certificate says: enough to tell it from others and to know when it ends.
package struct OwnCertificate: Hashable, Sendable {
    /// The subject's CN, the first if there are several.
    package let commonName: String?
    /// SHA-256 of the whole certificate in DER.
    package let sha256Fingerprint: [UInt8]
    /// Seconds since 1970 after which the certificate is no longer valid.
    package let notAfterSeconds: Int64

    /// Reads what is needed. Sound for any complete certificate, which the caller keeps alive for the call.
    init(reading certificate: OpaquePointer) {
        let whole = unsafe PeerCertificate(reading: certificate)
        self.commonName = whole.commonName
        self.sha256Fingerprint = whole.sha256Fingerprint
        self.notAfterSeconds = whole.notAfterSeconds
    }
}
