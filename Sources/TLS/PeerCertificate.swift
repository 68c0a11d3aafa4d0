import COpenSSL

/// The facts of a peer's verified certificate.
package struct PeerCertificate: Hashable, Sendable {
    /// Extensions that Apple's push certificates carry, by their object identifiers.
    package enum AppleExtension: String, Hashable, Sendable, CaseIterable {
        /// All topics of the certificate; see ``AppleTopics``.
        case topics = "1.2.840.113635.100.6.3.6"
        /// There if the certificate is for APNs' development environment. Source: Apple's certification practice
        /// statement for its Worldwide Developer Relations, as is the one above.
        case development = "1.2.840.113635.100.6.3.1"
        /// There if the certificate is for APNs' production environment.
        case production = "1.2.840.113635.100.6.3.2"
    }

    /// The subject's CN, the first if there are several.
    package let commonName: String?
    /// The subject's UID (0.9.2342.19200300.100.1.1), which push certificates name their base topic with.
    package let userID: String?
    /// The issuer's number for this certificate, big-endian, without sign.
    package let serialNumber: [UInt8]
    /// The issuer's name in DER.
    package let issuer: [UInt8]
    /// SHA-256 of the whole certificate in DER.
    package let sha256Fingerprint: [UInt8]
    /// Seconds since 1970 before which the certificate is not valid yet.
    package let notBeforeSeconds: Int64
    /// Seconds since 1970 after which the certificate is no longer valid.
    package let notAfterSeconds: Int64
    private let extensions: [AppleExtension: [UInt8]]

    /// APNs' two worlds, each with tokens of its own.
    package enum Environment: Hashable, Sendable {
        case development
        case production
    }

    /// The environments that the certificate is for, as Apple's extensions tell; empty if it has neither of them.
    package var environments: Set<Environment> {
        var environments: Set<Environment> = []
        if self.extensions[.development] != nil { environments.insert(.development) }
        if self.extensions[.production] != nil { environments.insert(.production) }
        return environments
    }

    /// The topics that the certificate lists itself; nil if it has no such list, or one that cannot be read.
    package var topics: [String]? {
        self.extensions[.topics].flatMap { AppleTopics.topics(inExtension: $0) }
    }

    /// The first certificate of a PEM text, believed without verification: for files and tests, never for a peer.
    package init(unverified source: PEMSource) throws(TLSError) {
        let certificate = try source.certificates("certificate")[0]
        // Sound: the handle keeps the certificate alive for the call.
        self = unsafe PeerCertificate(reading: certificate.pointer)
    }

    /// Reads the fields. Sound for any complete certificate, which the caller keeps alive for the call.
    init(reading certificate: OpaquePointer) {
        self.commonName = unsafe Self.subject(certificate, NID_commonName)
        self.userID = unsafe Self.subject(certificate, NID_userId)
        self.serialNumber = unsafe Self.bytes(X509_get0_serialNumber(certificate))
        self.issuer = unsafe Self.der(X509_get_issuer_name(certificate))
        self.sha256Fingerprint = unsafe [UInt8](unsafeUninitializedCapacity: Digests.sha256Bytes) { buffer, count in
            // Sound: the buffer has room for a SHA-256 digest.
            let result = unsafe X509_digest(certificate, EVP_sha256(), buffer.baseAddress, nil)
            count = result == 1 ? Digests.sha256Bytes : 0
        }
        self.notBeforeSeconds = unsafe Self.seconds(X509_get0_notBefore(certificate))
        self.notAfterSeconds = unsafe Self.seconds(X509_get0_notAfter(certificate))
        var extensions: [AppleExtension: [UInt8]] = [:]
        for identifier in AppleExtension.allCases {
            extensions[identifier] = unsafe Self.extensionBytes(certificate, identifier.rawValue)
        }
        self.extensions = extensions
        OpenSSLFault.clearQueue()
    }

    private static func subject(_ certificate: OpaquePointer, _ attribute: Int32) -> String? {
        // Sound: name, entry and data belong to the certificate; the text is allocated here and freed below.
        let name = unsafe X509_get_subject_name(certificate)
        let index = unsafe X509_NAME_get_index_by_NID(name, attribute, -1)
        guard index >= 0, let entry = unsafe X509_NAME_get_entry(name, index) else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let length = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
        guard length >= 0, let text = unsafe text else { return nil }
        defer { unsafe CRYPTO_free(text, #file, #line) }
        return unsafe String(validating: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self)
    }

    private static func extensionBytes(_ certificate: OpaquePointer, _ identifier: String) -> [UInt8]? {
        // Sound: the object is made here and freed below; the extension belongs to the certificate.
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        let index = unsafe X509_get_ext_by_OBJ(certificate, object, -1)
        guard index >= 0 else { return nil }
        return unsafe Self.bytes(X509_EXTENSION_get_data(X509_get_ext(certificate, index)))
    }

    /// A name as it is written in certificates. Sound for any name that lives for the call; empty for none.
    static func der(_ name: OpaquePointer?) -> [UInt8] {
        var start: UnsafePointer<UInt8>?
        var count = 0
        // Sound: the bytes belong to the name, and are copied.
        guard unsafe X509_NAME_get0_der(name, &start, &count) == 1 else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    static func bytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
        // Sound: OpenSSL tells as many bytes as stand at the address.
        guard let string = unsafe string, let start = unsafe ASN1_STRING_get0_data(string) else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
    }

    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        // Sound: the epoch is made here and freed below. A difference in whole days needs no calendar of ours.
        let epoch = unsafe ASN1_TIME_set(nil, 0)
        defer { unsafe ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return 0 }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}

extension TLSSession {
    /// The certificate that the peer has shown and that was verified; nil before the handshake is complete, if the
    /// peer has shown none, or if the context believes any peer.
    package var peerCertificate: PeerCertificate? {
        guard self.state != .handshaking, unsafe SSL_get_verify_mode(self.pointer) != SSL_VERIFY_NONE else {
            return nil
        }
        // Sound: the certificate belongs to the session and is only read.
        guard let certificate = unsafe SSL_get0_peer_certificate(self.pointer) else { return nil }
        return unsafe PeerCertificate(reading: certificate)
    }
}
