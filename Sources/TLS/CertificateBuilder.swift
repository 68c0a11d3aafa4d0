import COpenSSL

/// When a certificate is valid.
package struct CertificateValidity: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        /// Five minutes ago, for peers whose clock is a little behind.
        case now
        /// At so many seconds since 1970.
        case at(seconds: Int64)
    }

    package var start: Start
    /// At least 1. Some clients refuse a server's certificate that is valid for more than 825 days.
    package var days: Int

    package init(start: Start = .now, days: Int) {
        self.start = start
        self.days = days
    }
}

/// Puts one X.509 certificate together and signs it.
///
/// Uses of `unsafe` without a word of their own pass handles that are alive for the call.
///
/// The extensions are those that strict verifiers want (RFC 5280 sections 4.2.1.1, 4.2.1.2, 4.2.1.3 and 4.2.1.9).
struct CertificateBuilder {
    private let certificate: CertificateHandle

    /// An unsigned certificate for `key` with a random serial number.
    init(for key: ES256PrivateKey, validity: CertificateValidity) throws(TLSError) {
        OpenSSLFault.clearQueue()
        guard let pointer = unsafe X509_new() else { throw .taking(.internalFailure, "cannot make a certificate") }
        self.certificate = unsafe CertificateHandle(owning: pointer)
        guard (1...36_500).contains(validity.days) else {
            throw TLSError(.configuration, "a certificate is valid for 1 to 36500 days, not for \(validity.days)")
        }
        // Version 3 is written as 2.
        try self.check(unsafe X509_set_version(pointer, 2), "version")
        try self.check(unsafe X509_set_pubkey(pointer, key.handle.pointer), "key")
        try self.setSerialNumber()
        // Sound in both: the times belong to the certificate.
        let first = unsafe X509_getm_notBefore(pointer)
        let last = unsafe X509_getm_notAfter(pointer)
        switch validity.start {
        case .now:
            let tolerance = 300
            guard unsafe X509_time_adj_ex(first, 0, -tolerance, nil) != nil,
                unsafe X509_time_adj_ex(last, Int32(validity.days), -tolerance, nil) != nil
            else { throw .taking(.configuration, "cannot set the certificate's validity") }
        case .at(let seconds):
            guard unsafe ASN1_TIME_set(first, Int(seconds)) != nil,
                unsafe ASN1_TIME_set(last, Int(seconds) + 86_400 * validity.days) != nil
            else { throw .taking(.configuration, "cannot set the certificate's validity") }
        }
    }

    /// 16 random bytes, positive and not zero (RFC 5280 section 4.1.2.2).
    private func setSerialNumber() throws(TLSError) {
        var bytes = secureRandom(count: 16)
        bytes[0] = bytes[0] & 0x7F | 0x40
        // Sound: the number is made here and freed below; the certificate copies it.
        let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil)
        defer { unsafe BN_free(number) }
        guard unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(self.certificate.pointer)) != nil else {
            throw .taking(.internalFailure, "cannot set the certificate's serial number")
        }
    }

    /// Adds one attribute to the subject.
    func addSubject(_ attribute: Int32, _ value: String) throws(TLSError) {
        let bytes = Array(value.utf8)
        let name = unsafe X509_get_subject_name(self.certificate.pointer)
        // Sound: the name belongs to the certificate, and OpenSSL copies the bytes.
        try self.check(
            unsafe X509_NAME_add_entry_by_NID(name, attribute, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0),
            "subject \"\(value)\""
        )
    }

    /// Adds an extension from OpenSSL's configuration language. Key identifiers look at `issuer`, or at this
    /// certificate itself if that is nil.
    ///
    /// Precondition: `value` holds nothing unchecked from outside, for the language has commas and references.
    func addExtension(_ identifier: Int32, _ value: String, issuer: CertificateHandle? = nil) throws(TLSError) {
        var context = unsafe X509V3_CTX()
        // Sound: the context is zero except for the fields that are set here, and it is used within this function only.
        unsafe X509V3_set_ctx(
            &context,
            issuer?.pointer ?? self.certificate.pointer,
            self.certificate.pointer,
            nil,
            nil,
            0
        )
        guard let made = unsafe X509V3_EXT_nconf_nid(nil, &context, identifier, value) else {
            throw .taking(.configuration, "cannot put \"\(value)\" into a certificate")
        }
        defer { unsafe X509_EXTENSION_free(made) }
        try self.check(unsafe X509_add_ext(self.certificate.pointer, made, -1), "extension \"\(value)\"")
    }

    /// Adds an extension that OpenSSL does not know, not critical.
    func addExtension(_ identifier: String, bytes: [UInt8]) throws(TLSError) {
        // Sound: object, bytes and extension are made here and freed below; each is copied by the next.
        let object = unsafe OBJ_txt2obj(identifier, 1)
        defer { unsafe ASN1_OBJECT_free(object) }
        let data = unsafe ASN1_OCTET_STRING_new()
        defer { unsafe ASN1_OCTET_STRING_free(data) }
        try self.check(unsafe ASN1_OCTET_STRING_set(data, bytes, Int32(bytes.count)), "extension \(identifier)")
        let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object, 0, data)
        defer { unsafe X509_EXTENSION_free(made) }
        try self.check(unsafe X509_add_ext(self.certificate.pointer, made, -1), "extension \(identifier)")
    }

    /// Names the issuer (this certificate itself if nil) and signs.
    consuming func sign(with key: KeyHandle, issuer: CertificateHandle?) throws(TLSError) -> CertificateHandle {
        let name = unsafe X509_get_subject_name(issuer?.pointer ?? self.certificate.pointer)
        // Sound: the certificate copies the name.
        try self.check(unsafe X509_set_issuer_name(self.certificate.pointer, name), "issuer")
        // The result is the signature's length.
        guard unsafe X509_sign(self.certificate.pointer, key.pointer, EVP_sha256()) > 0 else {
            throw .taking(.key, "cannot sign the certificate")
        }
        return self.certificate
    }

    private func check(_ result: Int32, _ what: String) throws(TLSError) {
        guard result == 1 else { throw .taking(.configuration, "cannot set the certificate's \(what)") }
    }
}

extension CertificateHandle {
    /// The certificate as `BEGIN CERTIFICATE`.
    func pem() throws(TLSError) -> String {
        OpenSSLFault.clearQueue()
        let bio = try BIOHandle.memory()
        guard unsafe PEM_write_bio_X509(bio.pointer, self.pointer) == 1 else {
            throw .taking(.internalFailure, "cannot write the certificate")
        }
        return String(decoding: bio.contents, as: UTF8.self)
    }
}
