import COpenSSL

/// Owns one `EVP_PKEY`.
///
/// Sendable because OpenSSL lets any number of threads use a key that does not change (its reference count and its
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

    /// How many bytes wait to be read.
    var pendingBytes: Int { unsafe BIO_ctrl_pending(self.pointer) }

    /// How much memory the buffer holds, used or not.
    var heldBytes: Int {
        var memory: UnsafeMutablePointer<BUF_MEM>?
        // Sound: the buffer belongs to the BIO, and only its size is read.
        _ = unsafe BIO_ctrl(self.pointer, BIO_C_GET_BUF_MEM_PTR, 0, &memory)
        return unsafe memory.map { unsafe $0.pointee.max } ?? 0
    }

    /// Gives the memory back that an empty buffer holds, if it is more than `kept` bytes.
    ///
    /// A memory BIO never shrinks by itself: a connection would keep the size of its largest burst for life.
    func releaseMemory(above kept: Int) {
        var memory: UnsafeMutablePointer<BUF_MEM>?
        // Sound: the buffer belongs to the BIO, and only its size is read. Afterwards the BIO frees it and owns the
        // new one, which holds nothing yet. If there is no memory for that, the old one stays.
        _ = unsafe BIO_ctrl(self.pointer, BIO_C_GET_BUF_MEM_PTR, 0, &memory)
        guard let memory = unsafe memory, unsafe memory.pointee.length == 0, unsafe memory.pointee.max > kept,
            let empty = unsafe BUF_MEM_new()
        else { return }
        _ = unsafe BIO_ctrl(self.pointer, BIO_C_SET_BUF_MEM, Int(BIO_CLOSE), empty)
    }

    /// Everything that can be read, which must not be more than `max` bytes.
    func contents(max: Int, _ what: String, _ source: PEMSource) throws(TLSError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                // Sound: OpenSSL writes at most `buffer.count` bytes.
                count = Int(Swift.max(0, unsafe BIO_read(self.pointer, buffer.baseAddress, Int32(buffer.count))))
            }
            guard !piece.isEmpty else { return bytes }
            bytes += piece
            guard bytes.count <= max else {
                throw TLSError(.configuration, "\(what) \(source.name): longer than \(max) bytes")
            }
        }
    }

    /// Everything written so far.
    var contents: [UInt8] {
        let pending = self.pendingBytes
        return unsafe [UInt8](unsafeUninitializedCapacity: pending) { buffer, count in
            // Sound: OpenSSL copies at most `pending` bytes, which the buffer has room for.
            count = Int(max(0, unsafe BIO_read(self.pointer, buffer.baseAddress, Int32(pending))))
        }
    }
}
