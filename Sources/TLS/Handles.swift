import COpenSSL

/// Owns one `EVP_PKEY`.
///
/// Sendable because OpenSSL lets any number of threads use a key that nobody changes (its reference count and its
/// caches are locked inside), and no method here changes one.
@safe final class KeyHandle: Sendable {
    /// Owned; never leaves the module.
    nonisolated(unsafe) let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_PKEY_free(self.pointer)
    }
}

/// Owns one `X509`.
///
/// Sendable because OpenSSL lets any number of threads read a certificate that is complete; the one writer
/// (``CertificateBuilder``) finishes before it hands the certificate out.
@safe final class CertificateHandle: Sendable {
    /// Owned; never leaves the module.
    nonisolated(unsafe) let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe X509_free(self.pointer)
    }
}

/// Owns one `BIO`: a file or a piece of memory that OpenSSL reads or writes.
@safe final class BIOHandle {
    /// Owned; never leaves the module.
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        // The result only tells whether other owners are left; there are none.
        _ = unsafe BIO_free(self.pointer)
    }

    /// An empty piece of memory to write into.
    static func memory() throws(TLSError) -> BIOHandle {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw .taking(.internalFailure, "cannot make a buffer") }
        return unsafe BIOHandle(owning: bio)
    }

    /// Everything written so far.
    var contents: [UInt8] {
        let pending = unsafe BIO_ctrl_pending(self.pointer)
        return unsafe [UInt8](unsafeUninitializedCapacity: pending) { buffer, count in
            // Sound: OpenSSL copies at most `pending` bytes, which the buffer has room for.
            count = Int(max(0, unsafe BIO_read(self.pointer, buffer.baseAddress, Int32(pending))))
        }
    }
}
