import COpenSSL

/// A private key that makes ES256 signatures (RFC 7518 section 3.4): ECDSA over P-256 with SHA-256.
///
/// Its description tells nothing of the key.
package struct ES256PrivateKey: Sendable, CustomStringConvertible {
    /// Sendable and shared by copies: nothing changes a key once it is read or made.
    let handle: KeyHandle
    package let publicKey: ES256PublicKey

    package var description: String { "ES256PrivateKey" }

    /// Reads a PKCS#8 key as Apple's `.p8` files hold it; a SEC 1 key (`BEGIN EC PRIVATE KEY`) will do too.
    ///
    /// - Throws: `configuration` if the source cannot be read, `key` if the key is not on P-256.
    package init(pem source: PEMSource, what: String = "private key") throws(TLSError) {
        let handle = try source.privateKey(what)
        try handle.requireP256(what, source.name)
        try self.init(handle: handle)
    }

    /// Makes a new key.
    package static func generate() throws(TLSError) -> ES256PrivateKey {
        OpenSSLFault.clearQueue()
        guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else {
            throw .taking(.internalFailure, "cannot make a key")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        // Sound: the out-pointer lives for the call, and the key gets its one owner at once.
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
            unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key
        else { throw .taking(.internalFailure, "cannot make a key") }
        return try unsafe ES256PrivateKey(handle: KeyHandle(owning: key))
    }

    private init(handle: KeyHandle) throws(TLSError) {
        self.handle = handle
        self.publicKey = try ES256PublicKey(handle: handle.publicHalf())
    }

    /// The signature (R and S, 32 bytes each) of `message`; every one is different. Takes some 20 µs.
    package func sign(_ message: Span<UInt8>) throws(TLSError) -> [UInt8] {
        OpenSSLFault.clearQueue()
        let digest = Digests.sha256(message)
        guard let context = unsafe EVP_PKEY_CTX_new(self.handle.pointer, nil) else {
            throw .taking(.internalFailure, "cannot sign")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var succeeded = unsafe EVP_PKEY_sign_init(context) == 1
        let der = unsafe [UInt8](unsafeUninitializedCapacity: ES256Signature.derBytesMax) { buffer, count in
            count = buffer.count
            // Sound: `count` tells OpenSSL the room, and comes back as the number of bytes written.
            succeeded =
                unsafe succeeded && EVP_PKEY_sign(context, buffer.baseAddress, &count, digest, digest.count) == 1
            if !succeeded { count = 0 }
        }
        guard succeeded, let raw = ES256Signature.raw(fromDER: der.span) else {
            throw .taking(.internalFailure, "cannot sign")
        }
        return raw
    }

    /// The key as PKCS#8 (`BEGIN PRIVATE KEY`), not encrypted.
    package var pemRepresentation: String {
        get throws(TLSError) {
            OpenSSLFault.clearQueue()
            let bio = try BIOHandle.memory()
            // Sound: both handles live until the end of the scope.
            guard unsafe PEM_write_bio_PKCS8PrivateKey(bio.pointer, self.handle.pointer, nil, nil, 0, nil, nil) == 1
            else { throw .taking(.internalFailure, "cannot write the private key") }
            return String(decoding: bio.contents, as: UTF8.self)
        }
    }
}

extension KeyHandle {
    /// A key of its own that has no private half, so that handing it on hands on no secret.
    fileprivate func publicHalf() throws(TLSError) -> KeyHandle {
        OpenSSLFault.clearQueue()
        var der: UnsafeMutablePointer<UInt8>?
        // Sound: OpenSSL allocates the bytes, which are freed below, and `cursor` only walks over them.
        let length = unsafe i2d_PUBKEY(self.pointer, &der)
        guard length > 0, let der = unsafe der else { throw .taking(.key, "cannot take a key's public half") }
        defer { unsafe CRYPTO_free(der, #file, #line) }
        var cursor: UnsafePointer<UInt8>? = unsafe UnsafePointer(der)
        guard let key = unsafe d2i_PUBKEY(nil, &cursor, Int(length)) else {
            throw .taking(.key, "cannot take a key's public half")
        }
        return unsafe KeyHandle(owning: key)
    }
}
