import Histogram

/// HdrHistogram's own interchange format, version 2 compressed, in base 64, as in `.hlog` files.
///
/// Source: the Java implementation's `encodeIntoCompressedByteBuffer`. A 40-byte head, then the counts in the order of their
/// values as ZigZag LEB128 numbers, a run of zeros as one negative number; all of it in the zlib format (RFC 1950). The
/// blocks are stored and not deflated (RFC 1951, 3.2.4): a reader cannot tell, and no compressor is needed.
package enum HistogramEncoding {
    private static let cookie: UInt32 = 0x1C84_9303 | 0x10
    private static let compressedCookie: UInt32 = 0x1C84_9304 | 0x10
    /// Of three significant digits: 2048 values in the first bucket, 1024 in each further one.
    private static let subBuckets = 2048

    /// `HISTFAAAA…`.
    package static func text(_ histogram: LatencyHistogram) -> String {
        let payload = self.payload(histogram)
        let zlib = self.stored(payload)
        var bytes: [UInt8] = []
        self.append(self.compressedCookie, to: &bytes)
        self.append(UInt32(zlib.count), to: &bytes)
        bytes += zlib
        return self.base64(bytes)
    }

    package static func payload(_ histogram: LatencyHistogram) -> [UInt8] {
        let counts = self.counts(histogram)
        var bytes: [UInt8] = []
        self.append(self.cookie, to: &bytes)
        self.append(UInt32(counts.count), to: &bytes)
        self.append(0, to: &bytes)
        self.append(3, to: &bytes)
        self.append(long: 1, to: &bytes)
        self.append(long: max(2, histogram.maxRecorded), to: &bytes)
        self.append(long: (1.0).bitPattern, to: &bytes)
        return bytes + counts
    }

    private static func counts(_ histogram: LatencyHistogram) -> [UInt8] {
        var bytes: [UInt8] = []
        guard histogram.totalCount > 0 else { return bytes }
        var zeros: Int64 = 0
        let largest = histogram.maxRecorded
        var value: UInt64 = 0
        var step: UInt64 = 1
        var left = self.subBuckets
        while value <= largest {
            let count = Int64(histogram.countForValue(value))
            if count == 0 {
                zeros += 1
            } else {
                if zeros > 0 { self.append(zigZag: -zeros, to: &bytes) }
                zeros = 0
                self.append(zigZag: count, to: &bytes)
            }
            value += step
            left -= 1
            if left == 0 {
                left = self.subBuckets / 2
                step *= 2
            }
        }
        return bytes
    }

    private static func append(_ value: UInt32, to bytes: inout [UInt8]) {
        for shift in stride(from: 24, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    private static func append(long value: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    /// Seven bits a byte, the lowest first; the ninth byte holds eight.
    private static func append(zigZag value: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: (value << 1) ^ (value >> 63))
        for _ in 0..<8 {
            guard rest >= 0x80 else { return bytes.append(UInt8(rest)) }
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The zlib format with stored blocks, and Adler-32 behind them.
    package static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x78, 0x01]
        var offset = 0
        repeat {
            let count = min(65_535, bytes.count - offset)
            let isLast: UInt8 = offset + count == bytes.count ? 1 : 0
            let low = UInt8(count & 0xFF)
            let high = UInt8(count >> 8)
            out += [isLast, low, high, ~low, ~high]
            out += bytes[offset..<offset + count]
            offset += count
        } while offset < bytes.count
        var (first, second): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            first = (first + UInt32(byte)) % 65_521
            second = (second + first) % 65_521
        }
        self.append(second << 16 | first, to: &out)
        return out
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group: UInt32 = 0
            for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
            for index in 0..<4 {
                let isPadding = index > count
                text.append(isPadding ? UInt8(ascii: "=") : self.alphabet[Int(group >> (18 - 6 * UInt32(index)) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
