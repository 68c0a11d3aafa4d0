import CZlib

/// The content coding gzip (RFC 9110, 8.4.1.3).
package enum Gzip {
    /// zlib's fastest: more would cost several times as long for a few percent.
    private static let level: Int32 = 1

    /// Bytes as gzip; nil if that is no shorter.
    package static func compressed(_ bytes: Span<UInt8>) -> [UInt8]? {
        guard bytes.count > 1, let count = UInt32(exactly: bytes.count) else { return nil }
        let room = count - 1
        let result = unsafe [UInt8](unsafeUninitializedCapacity: Int(room)) { place, filled in
            // Sound: zlib reads `count` bytes and writes at most `room`, for which there is a place.
            filled = unsafe bytes.withUnsafeBufferPointer {
                unsafe freshet_gzip($0.baseAddress, count, place.baseAddress, room, Self.level)
            }
        }
        return result.isEmpty ? nil : result
    }

    /// Whether an `accept-encoding` takes it (RFC 9110, 12.5.3): by its name, by its old one, or as one of any.
    package static func isAccepted(_ acceptEncoding: String) -> Bool {
        var isAccepted: Bool?
        for element in acceptEncoding.lowercased().split(separator: ",") {
            let parts = element.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let coding = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch coding {
            case "gzip", "x-gzip": return weight > 0
            case "*": isAccepted = weight > 0
            default: continue
            }
        }
        return isAccepted ?? false
    }
}
