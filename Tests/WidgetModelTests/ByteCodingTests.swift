import Testing
import WidgetModel

@Suite struct ByteCodingTests {
    @Test(arguments: [0, 1, 127, 128, 300, UInt64(Int64.max), .max] as [UInt64])
    func `a varint comes back as it went in`(value: UInt64) throws {
        var writer = ByteWriter()
        writer.write(varint: value)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.readVarint() == value)
        #expect(reader.isAtEnd)
    }

    @Test(arguments: [0, -1, 1, .min, .max] as [Int64])
    func `a signed number comes back as it went in`(value: Int64) throws {
        var writer = ByteWriter()
        writer.write(signed: value)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.readSigned() == value)
    }

    @Test(arguments: [0, -1, 1, 63, 64, 300, .min, .max] as [Int64], [0, 1, 127, 128, 300])
    func `a span with room gets the bytes that a writer gets`(value: Int64, count: Int) {
        let text = [UInt8](repeating: 7, count: count)
        var writer = ByteWriter()
        writer.write(value < 0)
        writer.write(varint: UInt64(bitPattern: value))
        writer.write(signed: value)
        writer.write(fixed64: UInt64(bitPattern: value))
        writer.write(text)
        writer.bytes.append(copying: text.span)
        let bytes = [UInt8](capacity: writer.bytes.count) { output in
            output.append(value < 0)
            output.append(varint: UInt64(bitPattern: value))
            output.append(signed: value)
            output.append(fixed64: UInt64(bitPattern: value))
            output.append(counted: text.span)
            output.append(copying: text.span)
        }
        #expect(bytes == writer.bytes)
    }

    @Test(
        arguments: [
            ([], ""), ([0x61], "a"), (Array("Zürich, 東京".utf8), "Zürich, 東京"), ([0], "\0"), ([0xC3], nil),
            ([0xED, 0xA0, 0x80], nil),
            ([0x61, 0xFF], nil), ([0xC0, 0x80], nil), ([0xF5, 0x80, 0x80, 0x80], nil),
        ] as [([UInt8], String?)]
    )
    func `bytes are a text where they are UTF-8`(bytes: [UInt8], text: String?) {
        #expect(String(utf8: bytes.span) == text)
    }

    @Test func `every truncation of a configuration is told, none traps`() throws {
        let configuration = Configuration([
            .init(name: "team", value: .string("seahawks")),
            .init(name: "limit", value: .int(-3)),
            .init(name: "ratio", value: .double(0.5)),
            .init(name: "tags", value: .array([.string("a"), .string("b")])),
            .init(name: "since", value: .date(Instant(seconds: 1_700_000_000))),
        ])
        var writer = ByteWriter()
        configuration.encode(into: &writer)
        var whole = ByteReader(writer.bytes)
        #expect(try Configuration(from: &whole) == configuration)
        for length in 0..<writer.bytes.count {
            var reader = ByteReader(Array(writer.bytes.prefix(length)))
            #expect(throws: ByteError.self) { try Configuration(from: &reader) }
        }
    }

    @Test func `an overlong varint is refused`() {
        var reader = ByteReader([UInt8](repeating: 0xFF, count: 10) + [0x01])
        #expect(throws: ByteError.self) { try reader.readVarint() }
    }

    @Test func `zeroes are stepped over where all are`() throws {
        let bytes: [UInt8] = [0, 0, 0, 1, 0, 0]
        for (count, expected) in [(0, true), (2, true), (3, true), (4, false), (6, false), (7, false)] {
            var reader = ByteReader(bytes)
            let isSkipped = reader.skipZeroes(count)
            #expect(isSkipped == expected, "\(count)")
            #expect(reader.offset == (expected ? count : 0), "\(count)")
        }
        // Not beyond the end of the reader's range.
        var reader = ByteReader(bytes, in: 0..<2)
        let isBeyond = reader.skipZeroes(3)
        #expect(!isBeyond)
        let isWhole = reader.skipZeroes(2)
        #expect(isWhole && reader.isAtEnd)
    }
}
