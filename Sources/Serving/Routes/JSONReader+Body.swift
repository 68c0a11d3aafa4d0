package import APNSWire
package import Partitions
package import WidgetModel

extension JSONReader {
    /// The value that bytes from outside spell.
    package func value(of bytes: [UInt8], bytesMax: Int) throws(Problem) -> JSONValue {
        do throws(JSONError) {
            return try self.parse(bytes, limits: JSONLimits(bytesMax: bytesMax))
        } catch {
            if error.code == .tooLarge { throw Problem(.tooLarge, "the body may have at most \(bytesMax) bytes") }
            throw Problem(.malformedJSON, error.description)
        }
    }
}

/// A body of JSON values, one a line (NDJSON).
package enum JSONLines {
    /// The lines of a body; blank ones do not count.
    package static func split(_ body: [UInt8]) -> [ArraySlice<UInt8>] {
        body.split(separator: UInt8(ascii: "\n")).filter { $0.contains { $0 > 0x20 } }
    }
}
