@testable import APNSWire
import TestSupport
import Testing
import WidgetModel

@Suite struct JSONReaderTests {
    private let reader = JSONReader()

    private func fault(_ text: [UInt8], _ limits: JSONLimits = JSONLimits()) -> JSONError? {
        do throws(JSONError) {
            _ = try self.reader.parse(text, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("null", JSONValue.null), (" true ", .bool(true)), ("false", .bool(false)), ("0", .int(0)), ("-0", .int(0)),
            ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
            ("9223372036854775808", .unsigned(9_223_372_036_854_775_808)), ("18446744073709551615", .unsigned(.max)),
            ("9007199254740993", .int(9_007_199_254_740_993)), ("1.0", .double(1)), ("1e3", .double(1000)),
            ("2.5e-300", .double(2.5e-300)), ("\"\"", .string("")),
            (#""a\u0000\u00e9\ud83d\ude00\/""#, .string("a\0é😀/")),
            ("[]", .array([])), ("[1,[2]]", .array([.int(1), .array([.int(2)])])), ("{}", .object([])),
            (
                #"{"b":1,"a":{"b":2}}"#,
                .object([
                    JSONValue.Member(name: "b", value: .int(1)),
                    JSONValue.Member(name: "a", value: .object([JSONValue.Member(name: "b", value: .int(2))])),
                ])
            ),
        ]
    )
    func `a text is read exactly`(text: String, value: JSONValue) throws {
        #expect(try self.reader.parse(Array(text.utf8)) == value)
        #expect(try self.reader.parse(value.jsonText) == value)
    }

    @Test(arguments: UInt8(0)..<128)
    func `a character is written as it is or escaped, wherever it stands in a text`(byte: UInt8) throws {
        let character = String(decoding: [byte], as: UTF8.self)
        let escaped =
            switch byte {
            case 0x22: #"\""#
            case 0x5C: #"\\"#
            case 0x0A: #"\n"#
            case 0x0D: #"\r"#
            case 0x09: #"\t"#
            case 0..<0x10: #"\u000\#(String(byte, radix: 16))"#
            case 0x10..<0x20: #"\u00\#(String(byte, radix: 16))"#
            default: character
            }
        for (before, after) in [("", ""), ("é", ""), ("", "東"), ("plain ", " text")] {
            let text = JSONValue.string(before + character + after).jsonText
            #expect(String(decoding: text, as: UTF8.self) == "\"\(before)\(escaped)\(after)\"")
            #expect(try self.reader.parse(text) == .string(before + character + after))
        }
    }

    @Test(
        arguments: [
            ("", JSONError.Code.empty, nil), (" \n", .empty, nil), ("{\"a\":1,}", .syntax, 7), ("[1 , ]", .syntax, 5),
            ("[1 2]", .syntax, 3), ("{\"a\" 1}", .syntax, 5), ("{a:1}", .syntax, 1), ("{'a':1}", .syntax, 1),
            ("{\"a\":}", .syntax, 5), ("[,1]", .syntax, 1), ("[[1],nul]", .syntax, 5), ("[tru]", .syntax, 1),
            ("nul", .syntax, nil), ("nulls", .syntax, nil), ("+1", .syntax, nil), ("NaN", .syntax, nil),
            ("{\"a\":01}", .number, 5), ("[1e400]", .number, 1), ("[-9223372036854775809]", .number, 1),
            ("01", .number, nil), ("1.", .number, nil), ("1x", .number, nil), ("18446744073709551616", .number, nil),
            ("\"a", .syntax, nil), ("[1,\"abc", .syntax, nil), ("\"\u{1}\"", .syntax, nil), ("\"\\x\"", .syntax, nil),
            ("{\"a\":\"x\\q\",\"b\":1}", .syntax, 5), ("[\"\\u12g4\"]", .syntax, 1), ("[\"\\ud800\"]", .syntax, 1),
            ("[1", .syntax, 1), ("{\"a\":1", .syntax, 5), ("{", .syntax, 1), ("{\"a\":[1,2}", .syntax, 9),
            ("\u{FEFF}{}", .syntax, nil), ("{} {}", .trailingText, 3), ("[1,2]]", .trailingText, 5),
            ("1 2", .syntax, nil),
        ]
    )
    func `a text that is wrong is refused, with the place where simdjson tells it`(
        text: String,
        code: JSONError.Code,
        offset: Int?
    ) {
        let fault = self.fault(Array(text.utf8))
        #expect(fault?.code == code, "\(String(describing: fault))")
        #expect(fault?.offset == offset, "\(String(describing: fault))")
    }

    @Test func `a fault says what is wrong where`() {
        #expect(
            self.fault(Array("{\"a\":1,}".utf8))?.description
                == "a comma, colon, bracket or value is missing or out of place at byte 7"
        )
        #expect(self.fault([])?.description == "the text is empty")
    }

    @Test func `half of a surrogate pair is refused either way round`() {
        #expect(self.fault(Array(#""\udc00""#.utf8)) != nil)
        #expect(self.fault(Array(#"{"\udc00":1}"#.utf8)) != nil)
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xFF],
        ] as [[UInt8]]
    )
    func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) {
        #expect(self.fault([0x22] + bytes + [0x22])?.code == .invalidUTF8)
    }

    @Test func `a name may occur once per object`() {
        #expect(self.fault(Array(#"{"a":1,"b":2,"a":3}"#.utf8))?.code == .duplicateMember)
        #expect(self.fault(Array(#"{"a":1,"\u0061":3}"#.utf8))?.code == .duplicateMember)
        #expect(self.fault(Array(#"[{"a":1},{"a":{"a":1}}]"#.utf8)) == nil)
    }

    @Test func `names are compared as bytes, not as characters`() {
        #expect(self.fault(Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8)) == nil)
    }

    @Test(arguments: [1, 15, 16, 17, 18, 100])
    func `a repeated name is found among any number of members`(count: Int) {
        let members = (0..<count).map { "\"m\($0)\":\($0)" }
        #expect(self.fault(Array("{\(members.joined(separator: ","))}".utf8)) == nil)
        for index in [0, count / 2, count - 1] {
            let text = "{\((members + ["\"m\(index)\":0"]).joined(separator: ","))}"
            #expect(self.fault(Array(text.utf8))?.code == .duplicateMember)
        }
    }

    @Test(arguments: [1, 2, 32, JSONReader.depthCeiling])
    func `nesting goes as deep as the limit and no deeper`(depth: Int) {
        func nested(_ depth: Int, _ open: String, _ close: String) -> [UInt8] {
            Array((String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
        }
        let limits = JSONLimits(depthMax: depth)
        #expect(self.fault(nested(depth, "[", "]"), limits) == nil)
        #expect(self.fault(nested(depth + 1, "[", "]"), limits)?.code == .tooDeep)
        #expect(self.fault(nested(depth, "{\"a\":", "}"), limits) == nil)
        #expect(self.fault(nested(depth + 1, "{\"a\":", "}"), limits)?.code == .tooDeep)
        #expect(self.fault(nested(100_000, "[", "]"), limits)?.code == .tooDeep)
    }

    @Test func `a text is as long as the limit and no longer`() {
        #expect(self.fault(Array("[1]".utf8), JSONLimits(bytesMax: 3)) == nil)
        #expect(self.fault(Array("[1 ]".utf8), JSONLimits(bytesMax: 3))?.code == .tooLarge)
    }

    @Test func `a reader grows and is good for another text after a fault`() throws {
        #expect(self.fault([0x7B]) != nil)
        let long = JSONValue.array(Array(repeating: .string("0123456789"), count: 20_000))
        #expect(try self.reader.parse(long.jsonText) == long)
        #expect(self.fault([0x7B]) != nil)
        #expect(try self.reader.parse([0x31]) == .int(1))
    }

    @Test(arguments: UInt64(0)..<8)
    func `a damaged text is refused the same way each time, at a place within it`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let texts = JSONFuzz.texts
        for _ in 0..<4000 {
            let text = JSONFuzz.mutate(texts[Int(random.next() % UInt64(texts.count))], &random)
            let fault = self.fault(text)
            #expect(self.fault(text) == fault, "seed \(seed): \(text)")
            if let offset = fault?.offset { #expect((0...text.count).contains(offset), "seed \(seed): \(text)") }
        }
    }
}
