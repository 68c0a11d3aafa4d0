import COpenSSL

/// Client certificates that are no longer believed, although they verify.
///
/// Read from one text, in which two notations may stand side by side: certificate revocation lists in PEM
/// (`BEGIN X509 CRL`, RFC 5280 section 5), and lines with the SHA-256 fingerprint of a single certificate, in hex with or
/// without colons, as `openssl x509 -fingerprint -sha256` prints it. Lines that begin with `#` are comments.
///
/// A list counts only if an authority that client certificates are believed of has signed it and may sign lists (RFC 5280
/// section 6.3.3): one that was exchanged on its way would give revoked certificates back. A list past its `nextUpdate`
/// stays in force, so that a list that is not renewed locks no client out and lets no revoked one in;
/// ``nextUpdateSeconds`` tells.
package struct RevocationList: Hashable, Sendable {
    /// A certificate as its issuer numbers it.
    private struct Entry: Hashable {
        /// The issuer's name in DER. The issuer writes it alike in certificates and lists (RFC 5280 section 4.1.2.6).
        let issuer: [UInt8]
        let serialNumber: [UInt8]
    }

    private var fingerprints: Set<[UInt8]> = []
    private var entries: Set<Entry> = []
    /// When the first of the lists should have been renewed, in seconds since 1970; nil if none says so.
    package private(set) var nextUpdateSeconds: Int64?

    /// A list that revokes nothing.
    package init() {}

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - source: Its lines and lists.
    ///   - authorities: Certificates of those who may sign lists.
    /// - Throws: ``TLSError`` with the code `configuration`, which names the source and the line.
    package init(_ source: PEMSource, authorities: [PEMSource] = []) throws(TLSError) {
        let text = try source.open("revocation list").contents(max: Self.bytesMax, "revocation list", source)
        var isInBlock = false
        for (number, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let line = String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }
            if line.hasPrefix("-----BEGIN") || line.hasPrefix("-----END") {
                isInBlock = line.hasPrefix("-----BEGIN")
                continue
            }
            guard !isInBlock, !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard let fingerprint = Self.fingerprint(line) else {
                throw TLSError(
                    .configuration,
                    "revocation list \(source.name): line \(number + 1) is not a SHA-256 fingerprint of 64 hex digits"
                )
            }
            self.fingerprints.insert(fingerprint)
        }
        try self.readLists(.bytes(text), named: source.name, authorities)
    }

    /// The longest file. Default 16 MiB, some 400,000 entries.
    package static let bytesMax = 16_777_216

    /// How many certificates are revoked.
    package var count: Int { self.fingerprints.count + self.entries.count }

    /// A digest of the revoked certificates, which does not depend on their order. O(n).
    package var digest: UInt64 {
        let listed = self.fingerprints.map { Digests.short($0.span) }
        let numbered = self.entries.map { Digests.short((Digests.sha256($0.issuer.span) + $0.serialNumber).span) }
        return (listed + numbered).reduce(0, &+)
    }

    /// Whether a certificate is revoked. O(1).
    package func contains(_ certificate: PeerCertificate) -> Bool {
        if self.fingerprints.contains(certificate.sha256Fingerprint) { return true }
        return self.entries.contains(Entry(issuer: certificate.issuer, serialNumber: certificate.serialNumber))
    }

    private mutating func readLists(
        _ text: PEMSource,
        named name: String,
        _ authorities: [PEMSource]
    ) throws(TLSError) {
        // Without a list, its possible signers are not needed.
        var issuers: [CertificateHandle] = []
        let bio = try text.open("revocation list")
        // Sound: the text is open for as long as `bio` lives; each list is freed at the end of its round.
        while let list = unsafe PEM_read_bio_X509_CRL(bio.pointer, nil, refusePassphrase, nil) {
            defer { unsafe X509_CRL_free(list) }
            if issuers.isEmpty { issuers = try Self.certificates(authorities) }
            guard unsafe Self.isSigned(list, by: issuers) else {
                OpenSSLFault.clearQueue()
                throw TLSError(
                    .configuration,
                    "revocation list \(name): no CA of clientCA that may sign lists has signed it"
                )
            }
            unsafe self.read(list)
        }
        let faults = OpenSSLFault.takeQueue()
        guard faults.last?.meansNothingFound == true else {
            let reason = faults.first?.description ?? "damaged"
            throw TLSError(.configuration, "revocation list \(name): \(reason)", faults: faults)
        }
    }

    private static func certificates(_ sources: [PEMSource]) throws(TLSError) -> [CertificateHandle] {
        var certificates: [CertificateHandle] = []
        for source in sources { certificates += try source.certificates("client authorities") }
        return certificates
    }

    /// Whether one of the authorities with the issuer's name has signed a list and may sign lists; there may be several
    /// while an authority changes its key. Sound for a complete list, which the caller keeps alive for the call.
    private static func isSigned(_ list: OpaquePointer, by authorities: [CertificateHandle]) -> Bool {
        let issuer = unsafe X509_CRL_get_issuer(list)
        return authorities.contains { authority in
            // Sound: name and key belong to the certificate, which its handle keeps.
            guard unsafe X509_NAME_cmp(issuer, X509_get_subject_name(authority.pointer)) == 0,
                unsafe X509_get_key_usage(authority.pointer) & UInt32(KU_CRL_SIGN) != 0,
                let key = unsafe X509_get0_pubkey(authority.pointer)
            else { return false }
            return unsafe X509_CRL_verify(list, key) == 1
        }
    }

    /// Takes the entries of one list. Sound for a complete list, which the caller keeps alive for the call.
    private mutating func read(_ list: OpaquePointer) {
        let issuer = unsafe PeerCertificate.der(X509_CRL_get_issuer(list))
        if let next = unsafe X509_CRL_get0_nextUpdate(list) {
            let seconds = unsafe PeerCertificate.seconds(next)
            self.nextUpdateSeconds = min(self.nextUpdateSeconds ?? seconds, seconds)
        }
        // Sound: the stack and its elements belong to the list and are only read; a list without entries has none.
        guard let revoked = unsafe X509_CRL_get_REVOKED(list) else { return }
        for index in unsafe 0..<OPENSSL_sk_num(revoked) {
            guard let entry = unsafe OPENSSL_sk_value(revoked, index) else { continue }
            let number = unsafe X509_REVOKED_get0_serialNumber(OpaquePointer(entry))
            self.entries.insert(Entry(issuer: issuer, serialNumber: unsafe PeerCertificate.bytes(number)))
        }
    }

    /// The bytes of `SHA256 Fingerprint=AA:BB:…`, `AA:BB:…` or `aabb…`.
    private static func fingerprint(_ line: String) -> [UInt8]? {
        let digits = (line.split(separator: "=").last ?? "").filter { $0 != ":" }
        guard digits.utf8.count == 2 * Digests.sha256Bytes else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            guard let value = digit.hexDigitValue.map(UInt8.init), digit.isASCII else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}
