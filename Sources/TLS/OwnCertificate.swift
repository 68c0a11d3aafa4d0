import COpenSSL

/// The facts of a context's own certificate: enough to tell it from others and to know when it ends.
package struct OwnCertificate: Hashable, Sendable {
    /// The subject's CN, the first if there are several.
    package let commonName: String?
    /// SHA-256 of the whole certificate in DER.
    package let sha256Fingerprint: [UInt8]
    /// Seconds since 1970 after which the certificate is no longer valid.
    package let notAfterSeconds: Int64
    /// The DNS names that it is for, in lower case; a first label of `*` stands for any one label.
    package let dnsNames: [String]
    /// The IP addresses that it is for, 4 or 16 bytes each.
    package let addresses: [[UInt8]]

    /// Reads the fields. Sound for any complete certificate, which the caller keeps alive for the call.
    init(reading certificate: OpaquePointer) {
        let whole = unsafe PeerCertificate(reading: certificate)
        self.commonName = whole.commonName
        self.sha256Fingerprint = whole.sha256Fingerprint
        self.notAfterSeconds = whole.notAfterSeconds
        (self.dnsNames, self.addresses) = unsafe Self.names(certificate)
        OpenSSLFault.clearQueue()
    }

    /// The certificate's subject alternative names (RFC 5280, 4.2.1.6), in its order.
    private static func names(_ certificate: OpaquePointer) -> (dns: [String], addresses: [[UInt8]]) {
        // Sound: the list is made here and freed below; its names belong to it.
        guard let list = unsafe X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return ([], []) }
        let names = OpaquePointer(list)
        defer { unsafe GENERAL_NAMES_free(names) }
        var found: (dns: [String], addresses: [[UInt8]]) = ([], [])
        for index in 0..<max(0, unsafe freshet_GENERAL_NAMES_count(names)) {
            var kind: Int32 = 0
            let value = unsafe GENERAL_NAME_get0_value(freshet_GENERAL_NAMES_at(names, index), &kind)
            guard kind == GEN_DNS || kind == GEN_IPADD else { continue }
            // Sound: a name of either kind is a string of OpenSSL's.
            let bytes = unsafe PeerCertificate.bytes(value?.assumingMemoryBound(to: ASN1_STRING.self))
            if kind == GEN_IPADD {
                found.addresses.append(bytes)
            } else if let name = String(validating: bytes, as: UTF8.self) {
                found.dns.append(name.lowercased())
            }
        }
        return found
    }
}
