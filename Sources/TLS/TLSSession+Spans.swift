/// The same calls without pointers.
extension TLSSession {
    /// Takes bytes that arrived from the peer and goes on with the handshake as far as they allow.
    package func receive(_ ciphertext: Span<UInt8>) throws(TLSError) {
        // Sound: the pointer stays within the closure.
        try unsafe ciphertext.withUnsafeBytes { (bytes) throws(TLSError) in unsafe try self.receive(bytes) }
    }

    /// Encrypts all of `plaintext`; the result is pending then.
    package func write(_ plaintext: Span<UInt8>) throws(TLSError) {
        // Sound: the pointer stays within the closure.
        try unsafe plaintext.withUnsafeBytes { (bytes) throws(TLSError) in unsafe try self.write(bytes) }
    }

    /// Appends plaintext to `output`, as far as it has room. Precondition: it has some.
    package func readPlaintext(into output: inout OutputSpan<UInt8>) throws(TLSError) -> TLSProgress {
        // Sound: the free part lies behind the initialized one, and only bytes that were written are counted.
        try unsafe output.withUnsafeMutableBufferPointer { (buffer, count) throws(TLSError) in
            let free = unsafe UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...]))
            let progress = unsafe try self.readPlaintext(into: free)
            if case .bytes(let written) = progress { count += written }
            return progress
        }
    }

    /// Appends pending ciphertext to `output` as far as it has room, and returns how many bytes that were.
    package func drain(into output: inout OutputSpan<UInt8>) -> Int {
        // Sound: as above.
        unsafe output.withUnsafeMutableBufferPointer { buffer, count in
            let free = unsafe UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...]))
            let written = unsafe self.drain(into: free)
            count += written
            return written
        }
    }

    /// All pending ciphertext in a new array: for tests and for rare messages, not for a busy connection.
    package func drainAll() -> [UInt8] {
        // Without this, a zero count would be written to the one empty array that all threads share.
        guard self.pendingCiphertextBytes > 0 else { return [] }
        // Sound: the buffer has room for all that is pending.
        return unsafe [UInt8](unsafeUninitializedCapacity: self.pendingCiphertextBytes) { buffer, count in
            count = unsafe self.drain(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }
}
