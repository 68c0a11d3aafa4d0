import CKernels

/// CRC-32C (Castagnoli), the checksum of every stored entry and output.
///
/// It takes eight bytes a step, by the processor's instruction if it has one, else from eight tables. Sources: Castagnoli, Bräuer,
/// Herrmann, "Optimization of Cyclic Redundancy-Check Codes with 24 and 32 Parity Bits" (1993), test vectors in RFC 3720 appendix B.4;
/// Kounavis, Berry, "A Systematic Approach to Building High Performance Software-Based CRC Generators" (ISCC 2005).
package struct CRC32C: Sendable {
    /// The polynomial 0x1EDC6F41, reflected.
    private static let polynomial: UInt32 = 0x82F6_3B78

    /// `tables[256 * k + b]` is the checksum of byte `b` with `k` zero bytes after it.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var remainder = UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ Self.polynomial }
            tables[byte] = remainder
        }
        for index in 256..<tables.count {
            let shorter = tables[index - 256]
            tables[index] = shorter >> 8 ^ tables[Int(shorter & 0xFF)]
        }
        return tables
    }()

    private var state: UInt32 = .max

    package init() {}

    package var value: UInt32 { ~self.state }

    package mutating func combine(_ bytes: Span<UInt8>) {
        guard Self.hasInstruction else { return self.combineByTables(bytes) }
        // Sound: the span's bytes are read during the call, and no further than it is long.
        self.state = unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return self.state }
            return unsafe ckernels_crc32c(self.state, start, buffer.count)
        }
    }

    private static let hasInstruction = ckernels_has_crc32c() != 0

    /// ``combine(_:)`` for processors without an instruction for it.
    package mutating func combineByTables(_ bytes: Span<UInt8>) {
        let tables = Self.tables.span
        var state = self.state
        var index = 0
        while index + 8 <= bytes.count {
            let low =
                state
                ^ (UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
                    | UInt32(bytes[index + 3]) << 24)
            let first = tables[1792 + Int(low & 0xFF)] ^ tables[1536 + Int(low >> 8 & 0xFF)]
            let second = tables[1280 + Int(low >> 16 & 0xFF)] ^ tables[1024 + Int(low >> 24)]
            let third = tables[768 + Int(bytes[index + 4])] ^ tables[512 + Int(bytes[index + 5])]
            let fourth = tables[256 + Int(bytes[index + 6])] ^ tables[Int(bytes[index + 7])]
            state = first ^ second ^ third ^ fourth
            index += 8
        }
        while index < bytes.count {
            state = state >> 8 ^ tables[Int((state ^ UInt32(bytes[index])) & 0xFF)]
            index += 1
        }
        self.state = state
    }

    /// The value's eight bytes, little-endian.
    package mutating func combine(_ value: UInt64) {
        let bytes = InlineArray<8, UInt8> { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        self.combine(bytes.span)
    }

    /// The checksum of one run of bytes.
    package static func of(_ bytes: Span<UInt8>) -> UInt32 {
        var checksum = CRC32C()
        checksum.combine(bytes)
        return checksum.value
    }
}
