import COpenSSL

/// A public key that checks ES256 signatures (RFC 7518 section 3.4): ECDSA over P-256 with SHA-256.
package struct ES256PublicKey: Sendable, Equatable {
    /// Sendable and shared by copies: nothing changes a key once it is read.
    let handle: KeyHandle

    /// Reads a public key (`BEGIN PUBLIC KEY`) or the public half of a private one (`BEGIN PRIVATE KEY`, a `.p8`).
    ///
    /// - Throws: `configuration` if the source cannot be read, `key` if the key is not on P-256.
    package init(pem source: PEMSource, what: String = "public key") throws(TLSError) {
        let bio = try source.open(what)
        // Sound: the text is open for as long as `bio` lives; the key gets its one owner at once.
        if let key = unsafe PEM_read_bio_PUBKEY(bio.pointer, nil, refusePassphrase, nil) {
            let handle = unsafe KeyHandle(owning: key)
            try handle.requireP256(what, source.name)
            self.handle = handle
            return
        }
        let faults = OpenSSLFault.takeQueue()
        if let damage = faults.first(where: { !$0.meansNothingFound }) {
            throw TLSError(.configuration, "\(what) \(source.name): \(damage)", faults: faults)
        }
        let privateKey: ES256PrivateKey
        do {
            privateKey = try ES256PrivateKey(pem: source, what: what)
        } catch let error where error.faults.allSatisfy(\.meansNothingFound) && error.code == .configuration {
            throw TLSError(
                .configuration,
                "\(what) \(source.name): no readable key in it",
                faults: error.faults
            )
        }
        self = privateKey.publicKey
    }

    init(handle: KeyHandle) {
        self.handle = handle
    }

    /// True if `signature` (R and S, 32 bytes each) is this key's for `message`. Takes some 50 µs.
    package func verify(signature: Span<UInt8>, message: Span<UInt8>) -> Bool {
        guard signature.count == ES256Signature.rawBytes else { return false }
        OpenSSLFault.clearQueue()
        defer { OpenSSLFault.clearQueue() }
        let der = [UInt8](capacity: ES256Signature.derBytesMax) {
            ES256Signature.appendDER(ofRaw: signature, to: &$0)
        }
        let digest = Digests.sha256(message)
        guard let context = unsafe EVP_PKEY_CTX_new(self.handle.pointer, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        // Sound: OpenSSL reads both arrays during the call.
        return unsafe EVP_PKEY_verify_init(context) == 1
            && EVP_PKEY_verify(context, der, der.count, digest, digest.count) == 1
    }

    /// The key as `BEGIN PUBLIC KEY`.
    package var pemRepresentation: String {
        get throws(TLSError) {
            OpenSSLFault.clearQueue()
            let bio = try BIOHandle.memory()
            // Sound: both handles live until the end of the scope.
            guard unsafe PEM_write_bio_PUBKEY(bio.pointer, self.handle.pointer) == 1 else {
                throw .taking(.internalFailure, "cannot write the public key")
            }
            return String(decoding: bio.contents, as: UTF8.self)
        }
    }

    package static func == (first: ES256PublicKey, second: ES256PublicKey) -> Bool {
        // Sound: both handles live for the call, which only reads.
        unsafe EVP_PKEY_eq(first.handle.pointer, second.handle.pointer) == 1
    }
}

extension KeyHandle {
    /// Throws unless the key is an elliptic curve key on P-256 (which OpenSSL calls prime256v1).
    func requireP256(_ what: String, _ name: String) throws(TLSError) {
        // Sound: the type's name is a static string of OpenSSL's provider; the group's name is copied to the buffer.
        guard unsafe EVP_PKEY_get_base_id(self.pointer) == EVP_PKEY_EC else {
            let type = unsafe EVP_PKEY_get0_type_name(self.pointer).map { unsafe String(cString: $0) } ?? "unknown"
            throw TLSError(.key, "\(what) \(name): ES256 needs a key on the curve P-256, this one is of type \(type)")
        }
        var length = 0
        let group = unsafe [CChar](unsafeUninitializedCapacity: 80) { buffer, count in
            _ = unsafe EVP_PKEY_get_group_name(self.pointer, buffer.baseAddress, buffer.count, &length)
            count = length
        }
        let curve = String(decoding: group.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        OpenSSLFault.clearQueue()
        guard curve == "prime256v1" else {
            let given = curve.isEmpty ? "an unnamed curve" : "the curve \(curve)"
            throw TLSError(.key, "\(what) \(name): ES256 needs a key on the curve P-256, this one is on \(given)")
        }
    }
}
