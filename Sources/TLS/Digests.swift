import COpenSSL

/// SHA-256 and functions that build on it.
package enum Digests {
    /// The length of a SHA-256 digest.
    package static let sha256Bytes = 32

    /// SHA-256 (FIPS 180-4) of `message`.
    package static func sha256(_ message: Span<UInt8>) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.sha256Bytes) { digest, count in
            // Sound: OpenSSL reads the message's bytes and writes exactly 32; it cannot fail with a place to write to.
            _ = unsafe message.withUnsafeBytes {
                unsafe SHA256($0.baseAddress ?? UnsafeRawPointer(digest.baseAddress!), $0.count, digest.baseAddress)
            }
            count = Self.sha256Bytes
        }
    }

    /// The beginning of the SHA-256 of `message`, big endian: enough to see that two differ.
    package static func short(_ message: Span<UInt8>) -> UInt64 {
        Self.sha256(message).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// HMAC-SHA256 (RFC 2104) of `message`.
    package static func hmacSHA256(key: Span<UInt8>, message: Span<UInt8>) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.sha256Bytes) { digest, count in
            // Sound: OpenSSL reads key and message and writes at most 32 bytes, the digest's length.
            let result = unsafe key.withUnsafeBytes { key in
                unsafe message.withUnsafeBytes { message in
                    // A null key would mean "as before", so an empty key needs an address too.
                    unsafe HMAC(
                        EVP_sha256(),
                        key.baseAddress ?? UnsafeRawPointer(digest.baseAddress!),
                        Int32(key.count),
                        message.baseAddress,
                        message.count,
                        digest.baseAddress,
                        nil
                    )
                }
            }
            precondition(unsafe result != nil, "OpenSSL has no SHA-256")
            count = Self.sha256Bytes
        }
    }

    /// True if both are the same bytes; how long that takes tells nothing but the lengths.
    package static func constantTimeEqual(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Bool {
        guard first.count == second.count else { return false }
        // Sound: both are read for their common length.
        return unsafe first.withUnsafeBytes { first in
            unsafe second.withUnsafeBytes { second in
                unsafe CRYPTO_memcmp(first.baseAddress, second.baseAddress, first.count) == 0
            }
        }
    }
}

/// Bytes that cannot be guessed, from OpenSSL's generator, which the operating system seeds.
package func secureRandom(count: Int) -> [UInt8] {
    precondition(count >= 0 && count <= Int(Int32.max))
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        // Sound: OpenSSL writes `count` bytes, which the buffer has room for.
        // Without randomness nothing here is safe to do, so there is nothing to recover to.
        precondition(unsafe count == 0 || RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "no randomness to be had")
        filled = count
    }
}
