import COpenSSL

/// An issuer of certificates for development and tests: one root, P-256, that signs servers and clients directly.
///
/// Its description tells nothing of the key.
package struct CertificateAuthority: Sendable, CustomStringConvertible {
    private let certificate: CertificateHandle
    private let key: KeyHandle
    /// The root's certificate, which others have to trust.
    package let certificatePEM: String
    /// The root's key as PKCS#8, not encrypted.
    package let privateKeyPEM: String

    package var description: String { "CertificateAuthority" }

    /// Makes a new root.
    package static func make(
        commonName: String,
        validity: CertificateValidity = CertificateValidity(days: 3650)
    ) throws(TLSError) -> CertificateAuthority {
        let key = try ES256PrivateKey.generate()
        let builder = try CertificateBuilder(for: key, validity: validity)
        try builder.addSubject(NID_commonName, commonName)
        try builder.addExtension(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        try builder.addExtension(NID_key_usage, "critical,keyCertSign,cRLSign")
        try builder.addExtension(NID_subject_key_identifier, "hash")
        try builder.addExtension(NID_authority_key_identifier, "keyid:always")
        let certificate = try builder.sign(with: key.handle, issuer: nil)
        return CertificateAuthority(
            certificate: certificate,
            key: key.handle,
            certificatePEM: try certificate.pem(),
            privateKeyPEM: try key.pemRepresentation
        )
    }

    /// Reads a root that ``make(commonName:validity:)`` made before.
    package init(certificate: PEMSource, privateKey: PEMSource) throws(TLSError) {
        let root = try certificate.certificates("authority's certificate")[0]
        let key = try ES256PrivateKey(pem: privateKey, what: "authority's key")
        guard unsafe X509_check_private_key(root.pointer, key.handle.pointer) == 1 else {
            OpenSSLFault.clearQueue()
            throw TLSError(
                .configuration,
                "authority's key \(privateKey.name): key does not match certificate \(certificate.name)"
            )
        }
        // 1 is an authority by its basic constraints; the other answers are guesses about old certificates.
        guard unsafe X509_check_ca(root.pointer) == 1 else {
            throw TLSError(
                .configuration,
                "authority's certificate \(certificate.name): it may not sign other certificates"
            )
        }
        self.init(
            certificate: root,
            key: key.handle,
            certificatePEM: try root.pem(),
            privateKeyPEM: try key.pemRepresentation
        )
    }

    private init(certificate: CertificateHandle, key: KeyHandle, certificatePEM: String, privateKeyPEM: String) {
        self.certificate = certificate
        self.key = key
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Judges the names and addresses of a server's certificate.
    ///
    /// - Throws: The first that a certificate cannot have.
    package static func check(dnsNames: [String], ipAddresses: [String]) throws(TLSError) {
        for name in dnsNames where Self.isIPAddress(name) {
            throw TLSError(.configuration, "\"\(name)\" is an IP address, not a host name")
        }
        for name in dnsNames where !Self.isDNSName(name) {
            throw TLSError(.configuration, "\"\(name)\" is not a host name")
        }
        for address in ipAddresses where !Self.isIPAddress(address) {
            throw TLSError(.configuration, "\"\(address)\" is not an IP address")
        }
    }

    /// A certificate for a server that is reached under these names and addresses; at least one of them.
    ///
    /// - Parameter isClient: Whether it is for a client's use, too, as servers need that connect to each other.
    package func issueServer(
        dnsNames: [String],
        ipAddresses: [String] = [],
        isClient: Bool = false,
        validity: CertificateValidity = CertificateValidity(days: 365)
    ) throws(TLSError) -> IssuedCertificate {
        try Self.check(dnsNames: dnsNames, ipAddresses: ipAddresses)
        guard let commonName = dnsNames.first ?? ipAddresses.first else {
            throw TLSError(.configuration, "a server's certificate needs a host name or an IP address")
        }
        let names = dnsNames.map { "DNS:\($0)" } + ipAddresses.map { "IP:\($0)" }
        return try self.issue(validity) { (builder) throws(TLSError) in
            try builder.addSubject(NID_commonName, commonName)
            try builder.addExtension(NID_ext_key_usage, isClient ? "serverAuth,clientAuth" : "serverAuth")
            try builder.addExtension(NID_subject_alt_name, names.joined(separator: ","))
        }
    }

    /// A certificate for a client.
    ///
    /// - Parameters:
    ///   - userID: The subject's UID, which names the base topic in a push certificate.
    ///   - topics: The topics in Apple's extension 1.2.840.113635.100.6.3.6; none leaves the extension out.
    ///   - environments: The environments in Apple's extensions 1.2.840.113635.100.6.3.1 and .2; none leaves both out.
    package func issueClient(
        commonName: String,
        userID: String? = nil,
        topics: [String] = [],
        environments: [PeerCertificate.Environment] = [],
        validity: CertificateValidity = CertificateValidity(days: 365)
    ) throws(TLSError) -> IssuedCertificate {
        try self.issue(validity) { (builder) throws(TLSError) in
            if let userID { try builder.addSubject(NID_userId, userID) }
            try builder.addSubject(NID_commonName, commonName)
            try builder.addExtension(NID_ext_key_usage, "clientAuth")
            if !topics.isEmpty {
                try builder.addExtension(
                    PeerCertificate.AppleExtension.topics.rawValue,
                    bytes: AppleTopics.extensionBytes(topics)
                )
            }
            for environment in environments {
                let identifier: PeerCertificate.AppleExtension =
                    environment == .development ? .development : .production
                // Its presence says it all; the value is an ASN.1 NULL.
                try builder.addExtension(identifier.rawValue, bytes: [0x05, 0x00])
            }
        }
    }

    private func issue(
        _ validity: CertificateValidity,
        _ fill: (CertificateBuilder) throws(TLSError) -> Void
    ) throws(TLSError) -> IssuedCertificate {
        let key = try ES256PrivateKey.generate()
        let builder = try CertificateBuilder(for: key, validity: validity)
        try builder.addExtension(NID_basic_constraints, "critical,CA:FALSE")
        try builder.addExtension(NID_key_usage, "critical,digitalSignature")
        try fill(builder)
        try builder.addExtension(NID_subject_key_identifier, "hash")
        try builder.addExtension(NID_authority_key_identifier, "keyid:always", issuer: self.certificate)
        let certificate = try builder.sign(with: self.key, issuer: self.certificate)
        return IssuedCertificate(certificatePEM: try certificate.pem(), privateKeyPEM: try key.pemRepresentation)
    }

    /// Letters, digits, hyphens, underscores and dots, and a star as the whole first label: nothing that means something
    /// to OpenSSL's configuration language.
    private static func isDNSName(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard !labels.isEmpty, name.utf8.count <= 253 else { return false }
        return labels.enumerated().allSatisfy { index, label in
            if index == 0, label == "*", labels.count > 1 { return true }
            return (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy {
                    switch $0 {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                        return true
                    default: return false
                    }
                }
        }
    }

    private static func isIPAddress(_ address: String) -> Bool {
        // OpenSSL would let anything follow after a space.
        guard address.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") || $0.isHexDigit }) else {
            return false
        }
        // Sound: Swift keeps the string for the call; the result is freed, and freeing NULL is allowed.
        let parsed = unsafe a2i_IPADDRESS(address)
        defer { unsafe ASN1_OCTET_STRING_free(parsed) }
        OpenSSLFault.clearQueue()
        return unsafe parsed != nil
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool { UnicodeScalar(self).properties.isASCIIHexDigit }
}

/// A certificate and its key. Its description tells nothing of the key.
package struct IssuedCertificate: Hashable, Sendable, CustomStringConvertible {
    package let certificatePEM: String
    /// PKCS#8, not encrypted.
    package let privateKeyPEM: String

    package init(certificatePEM: String, privateKeyPEM: String) {
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
    }

    package var description: String { "IssuedCertificate" }

    /// The identity that a context is made with.
    package var identity: TLSIdentity {
        TLSIdentity(certificateChain: .text(self.certificatePEM), privateKey: .text(self.privateKeyPEM))
    }
}
