import APNSWire
import HTTP2
import Partitions
import Serving
import WidgetModel

/// A line of a bulk: a targeted push, its headers as members beside its payload.
struct BulkLine {
    /// The headers that a line may have.
    private static let headers = [
        "apns-id", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id",
    ]
    /// The longest text of a header.
    private static let headerBytesMax = 1024

    let fields: [(name: String, value: [UInt8])]
    let payload: [UInt8]

    /// - Throws: The answer in its place.
    init(_ text: [UInt8], bytesMax: Int, reader: JSONReader) throws(Problem) {
        var object = try RequestObject(try reader.value(of: text, bytesMax: bytesMax))
        var fields: [(name: String, value: [UInt8])] = []
        for name in Self.headers {
            guard let value = object.value(name) else { continue }
            fields.append((name, try Self.text(value, of: name, object)))
        }
        guard let payload = object.value("payload") else { throw object.problem("payload", "is required: an object") }
        try object.finish()
        self.fields = fields
        self.payload = payload.jsonText
    }

    /// A header's value, as HTTP would have brought it.
    private static func text(_ value: JSONValue, of name: String, _ object: RequestObject) throws(Problem) -> [UInt8] {
        let text: String
        switch value {
        case .string(let string): text = string
        case .int(let int): text = String(int)
        default: throw object.problem(name, "expected a string or an integer, found \(value.typeName)")
        }
        let bytes = Array(text.utf8)
        let isEdged = bytes.first == UInt8(ascii: " ") || bytes.last == UInt8(ascii: " ")
        guard bytes.count <= Self.headerBytesMax, !isEdged, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw object.problem(
                name,
                "is not a header's value: at most \(Self.headerBytesMax) bytes, no control characters, no white space at its ends"
            )
        }
        return bytes
    }
}

extension RequestBatch {
    /// Adds the push of a line, as a request of its own.
    ///
    /// - Parameters:
    ///   - number: The line's number, in the place of a stream's.
    ///   - path: Where a targeted push goes.
    ///   - common: Header fields that hold for all lines; a line's own count for more.
    mutating func append(_ line: BulkLine, _ number: Int32, to path: [UInt8], common: [(name: String, value: [UInt8])])
    {
        let method = self.add(Array("POST".utf8))
        let path = self.add(path)
        let start = Int32(self.fields.count)
        for field in common where !line.fields.contains(where: { $0.name == field.name }) { self.add(field) }
        for field in line.fields { self.add(field) }
        self.requests.append(
            Request(
                streamID: number,
                method: method,
                path: path,
                fields: start..<Int32(self.fields.count),
                body: self.add(line.payload)
            )
        )
    }

    private mutating func add(_ field: (name: String, value: [UInt8])) {
        self.fields.append(Field(name: self.add(Array(field.name.utf8)), value: self.add(field.value)))
    }

    private mutating func add(_ text: [UInt8]) -> HTTP2.ByteRange {
        let offset = UInt32(self.bytes.count)
        self.bytes += text
        return HTTP2.ByteRange(offset: offset, length: UInt32(text.count))
    }
}
