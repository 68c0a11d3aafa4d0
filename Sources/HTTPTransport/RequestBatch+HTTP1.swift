import HTTP2
import NIOHTTP1

extension RequestBatch {
    /// Adds a request that came over HTTP/1.1, in the form that HTTP/2 requests have.
    mutating func append(_ head: HTTPRequestHead, body: [UInt8], streamID: Int32, flags: Flags) {
        let method = self.append(head.method.rawValue)
        let path = self.append(head.uri)
        let firstField = Int32(truncatingIfNeeded: self.fields.count)
        var authority = ByteRange.empty
        // Of an oversized header list only the kind of answer matters.
        if !flags.contains(.headersTooLarge) {
            for (name, value) in head.headers {
                let name = name.lowercased()
                let field = Field(name: self.append(name), value: self.append(value))
                self.fields.append(field)
                if name == "host", authority.isEmpty {
                    authority = field.value
                }
            }
        }
        let bodyPlace = ByteRange(offset: UInt32(self.bytes.count), length: UInt32(body.count))
        self.bytes.append(contentsOf: body)
        self.requests.append(
            Request(
                streamID: streamID,
                flags: flags,
                method: method,
                path: path,
                authority: authority,
                fields: firstField..<Int32(truncatingIfNeeded: self.fields.count),
                body: bodyPlace
            )
        )
    }

    private mutating func append(_ text: String) -> ByteRange {
        let offset = self.bytes.count
        self.bytes.append(contentsOf: text.utf8)
        return ByteRange(offset: UInt32(offset), length: UInt32(self.bytes.count - offset))
    }
}
