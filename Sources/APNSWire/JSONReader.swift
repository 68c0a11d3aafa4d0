import CSimdjson
package import WidgetModel

/// Reads JSON texts into ``JSONValue``, with simdjson underneath.
///
/// Strict: integers are exact or refused, a member name may occur once per object, the text must be one value and
/// UTF-8. Owns its parser and buffers and reuses them, so keep one per event loop. Not Sendable.
@safe
package final class JSONReader {
    /// The deepest nesting that any ``JSONLimits`` can allow.
    package static let depthCeiling = 128

    /// How many members an object has before names are compared through a set instead of pairwise.
    private static let pairwiseMembersMax = 16

    private let parser: OpaquePointer

    package init() {
        // One more than the ceiling, since simdjson counts the document as a level; the walk below enforces the limit.
        guard let parser = unsafe freshet_json_parser_create(Self.depthCeiling + 2) else {
            fatalError("out of memory for a JSON parser")
        }
        unsafe self.parser = parser
    }

    deinit {
        // Sound: the handle is owned by this object alone and not used after this.
        unsafe freshet_json_parser_destroy(self.parser)
    }

    /// The value that a text spells. O(bytes), but for objects with many members O(members) on average.
    package func parse(_ text: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        try self.parse(text.span, limits: limits)
    }

    /// The value that a text spells. O(bytes), but for objects with many members O(members) on average.
    package func parse(_ text: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        guard text.count <= limits.bytesMax else {
            throw JSONError(.tooLarge, "the text has \(text.count) bytes, more than \(limits.bytesMax)")
        }
        var place = 0
        // Sound: the parser copies the bytes before it returns.
        let status = unsafe text.withUnsafeBufferPointer { buffer in
            unsafe freshet_json_parse(self.parser, buffer.baseAddress, buffer.count, &place)
        }
        if status != FRESHET_JSON_OK {
            throw JSONError(status, at: (0...text.count).contains(place) ? place : nil, depthMax: limits.depthMax)
        }
        // Sound: both point into buffers of the parser that stay as they are until the next parse; this object is
        // not Sendable and the walk below does not parse.
        guard let tape = unsafe freshet_json_tape(self.parser), let strings = unsafe freshet_json_strings(self.parser)
        else { throw JSONError(.outOfMemory, "the JSON parser kept no result") }
        var walk = unsafe TapeWalk(tape: tape, strings: strings, limits: limits)
        return try walk.value(depth: 0)
    }

    /// Reads simdjson's tape from front to back.
    ///
    /// Each word has its kind in the top byte and 56 bits of payload; a number's value is the word after its own.
    @safe
    private struct TapeWalk {
        let tape: UnsafePointer<UInt64>
        let strings: UnsafePointer<UInt8>
        let depthMax: Int
        let refusesRepeatedMembers: Bool
        /// The next word. Word 0 is the root.
        var position = 1

        init(tape: UnsafePointer<UInt64>, strings: UnsafePointer<UInt8>, limits: JSONLimits) {
            unsafe self.tape = tape
            unsafe self.strings = strings
            self.depthMax = min(limits.depthMax, JSONReader.depthCeiling)
            self.refusesRepeatedMembers = limits.refusesRepeatedMembers
        }

        mutating func value(depth: Int) throws(JSONError) -> JSONValue {
            let word = self.next()
            switch UInt8(truncatingIfNeeded: word >> 56) {
            case UInt8(ascii: "n"): return .null
            case UInt8(ascii: "t"): return .bool(true)
            case UInt8(ascii: "f"): return .bool(false)
            case UInt8(ascii: "l"): return .int(Int64(bitPattern: self.next()))
            case UInt8(ascii: "u"): return .unsigned(self.next())
            case UInt8(ascii: "d"): return .double(Double(bitPattern: self.next()))
            case UInt8(ascii: "\""): return .string(try self.string(word))
            case UInt8(ascii: "["): return .array(try self.array(word, depth: depth))
            case UInt8(ascii: "{"): return .object(try self.object(word, depth: depth))
            default: throw JSONError(.syntax, "the JSON parser answered with a kind of value that is not known")
            }
        }

        private mutating func next() -> UInt64 {
            // Sound: a tape that parsed well is closed, and the walk follows its grammar.
            defer { self.position += 1 }
            return unsafe self.tape[self.position]
        }

        private func string(_ word: UInt64) throws(JSONError) -> String {
            let offset = Int(word & 0x00FF_FFFF_FFFF_FFFF)
            // Sound: the payload of a string word is the offset of its length, which its bytes follow.
            let start = unsafe UnsafeRawPointer(self.strings) + offset
            let count = unsafe Int(start.loadUnaligned(as: UInt32.self))
            let bytes = unsafe Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(start: start + 4, count: count))
            guard let string = String(utf8: bytes) else {
                throw JSONError(.invalidUTF8, "a string has half of a surrogate pair")
            }
            return string
        }

        private func check(_ depth: Int) throws(JSONError) {
            guard depth < self.depthMax else {
                throw JSONError(.tooDeep, "arrays and objects are nested deeper than \(self.depthMax)")
            }
        }

        /// The count in an opening word, which saturates at 2^24 - 1.
        private func count(_ word: UInt64) -> Int { Int(word >> 32 & 0xFF_FFFF) }

        /// The place after the closing word.
        private func end(_ word: UInt64) -> Int { Int(word & 0xFFFF_FFFF) }

        private mutating func array(_ word: UInt64, depth: Int) throws(JSONError) -> [JSONValue] {
            try self.check(depth)
            var elements: [JSONValue] = []
            elements.reserveCapacity(self.count(word))
            let last = self.end(word) - 1
            while self.position < last { elements.append(try self.value(depth: depth + 1)) }
            self.position = last + 1
            return elements
        }

        private mutating func object(_ word: UInt64, depth: Int) throws(JSONError) -> [JSONValue.Member] {
            try self.check(depth)
            var members: [JSONValue.Member] = []
            members.reserveCapacity(self.count(word))
            var names: Set<[UInt8]> = []
            let last = self.end(word) - 1
            while self.position < last {
                let name = try self.string(self.next())
                if members.count == JSONReader.pairwiseMembersMax {
                    names = Set(members.map { Array($0.name.utf8) })
                }
                let isRepeated =
                    members.count < JSONReader.pairwiseMembersMax
                    ? members.contains { $0.name.utf8.elementsEqual(name.utf8) }
                    : !names.insert(Array(name.utf8)).inserted
                guard !isRepeated || !self.refusesRepeatedMembers else {
                    throw JSONError(.duplicateMember, "the member \"\(name.prefix(64))\" occurs twice in one object")
                }
                members.append(JSONValue.Member(name: name, value: try self.value(depth: depth + 1)))
            }
            self.position = last + 1
            return members
        }
    }
}

extension JSONError {
    /// The fault behind simdjson's refusal of a text.
    fileprivate init(_ status: freshet_json_status, at offset: Int?, depthMax: Int) {
        let (code, sentence): (Code, String) =
            switch status {
            case FRESHET_JSON_EMPTY: (.empty, "the text is empty")
            case FRESHET_JSON_UTF8: (.invalidUTF8, "the text is not UTF-8")
            case FRESHET_JSON_NUMBER: (.number, "a number is malformed or out of range")
            case FRESHET_JSON_STRING: (.syntax, "a string is malformed")
            case FRESHET_JSON_UNCLOSED_STRING: (.syntax, "the text ends inside a string")
            case FRESHET_JSON_CONTROL: (.syntax, "a control character in a string is not escaped")
            case FRESHET_JSON_WORD: (.syntax, "expected true, false or null")
            case FRESHET_JSON_TRAILING: (.trailingText, "something follows the end of the value")
            case FRESHET_JSON_DEPTH:
                (.tooDeep, "arrays and objects are nested deeper than \(min(depthMax, JSONReader.depthCeiling))")
            case FRESHET_JSON_MEMORY: (.outOfMemory, "there is no memory to read the text")
            default: (.syntax, "a comma, colon, bracket or value is missing or out of place")
            }
        self.init(code, sentence, at: offset)
    }
}
