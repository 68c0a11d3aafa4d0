package import WidgetModel

/// A string as its UTF-8 bytes, compared and hashed as such.
///
/// `String` compares by canonical equivalence, which would make `é` in its two spellings one value; a match pattern
/// distinguishes them, like every other program that reads the same JSON.
package struct UTF8Text: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ string: String) {
        self.bytes = Array(string.utf8)
    }

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    package static func < (left: UTF8Text, right: UTF8Text) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    package var description: String { String(decoding: self.bytes, as: UTF8.self) }
}

extension UTF8Text: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self.bytes) }
    package init(from reader: inout ByteReader) throws(ByteError) { self.init(bytes: try reader.readBytes()) }
}

extension UTF8Text: ExpressibleByStringLiteral {
    package init(stringLiteral: String) {
        self.init(stringLiteral as String)
    }
}
