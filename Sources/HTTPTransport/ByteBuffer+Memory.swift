package import NIOCore
package import TLS

// The one file of this target that touches raw memory: NIO lends its buffers' free room as raw memory only.

extension ByteBuffer {
    /// Appends bytes.
    mutating func write(_ bytes: Span<UInt8>) {
        // Sound: the span's raw view is read during the call, while the span is borrowed.
        unsafe self.writeBytes(bytes.bytes)
    }
}

/// OpenSSL writes right into NIO's buffers, which saves a copy of every byte on the hot path.
extension TLSSession {
    /// Plaintext of one TLS record at most: one read brings no more.
    package static var recordBytesMax: Int { 16_384 }

    /// Appends plaintext to a buffer, one record's at most.
    package func readPlaintext(into buffer: inout ByteBuffer) throws(TLSError) -> TLSProgress {
        var progress = TLSProgress.needsMoreCiphertext
        // Sound: NIO lends at least so many writable bytes for the closure, and learns how many were written.
        try unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.recordBytesMax) {
            (room) throws(TLSError) in
            progress = unsafe try self.readPlaintext(into: room)
            guard case .bytes(let count) = progress else { return 0 }
            return count
        }
        return progress
    }

    /// All ciphertext that waits for the peer, or nil if none does.
    package func takeCiphertext(_ allocator: ByteBufferAllocator) -> ByteBuffer? {
        let pending = self.pendingCiphertextBytes
        guard pending > 0 else { return nil }
        var buffer = allocator.buffer(capacity: pending)
        // Sound: as above; the session writes no more than the room it is given.
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: pending) { unsafe self.drain(into: $0) }
        return buffer
    }
}
