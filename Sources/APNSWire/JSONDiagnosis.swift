import WidgetModel

/// Finds the first fault in a text that simdjson refused, and says it so that its author can mend it.
///
/// simdjson only knows that a text is wrong. This second, slow look runs for refused texts alone, is linear in the
/// text and follows RFC 8259. It must refuse what simdjson refuses and nothing else; a differential test holds it to
/// that.
struct JSONDiagnosis {
    let text: [UInt8]
    let depthMax: Int
    var position = 0

    /// The first fault of `text`, or nil if it is valid JSON.
    static func fault(of text: Span<UInt8>, depthMax: Int) -> JSONFault? {
        var diagnosis = JSONDiagnosis(text: Array(copying: text), depthMax: min(depthMax, JSONReader.depthCeiling))
        do throws(JSONFault) {
            try diagnosis.document()
            return nil
        } catch {
            return error
        }
    }

    private init(text: [UInt8], depthMax: Int) {
        self.text = text
        self.depthMax = depthMax
    }

    private mutating func document() throws(JSONFault) {
        guard !self.text.starts(with: [0xEF, 0xBB, 0xBF]) else {
            throw JSONFault(.syntax, "the text starts with a byte order mark", at: 0)
        }
        self.skipSpace()
        guard self.position < self.text.count else { throw JSONFault(.empty, "the text is empty", at: self.position) }
        try self.value(depth: 0)
        self.skipSpace()
        guard self.position == self.text.count else {
            throw JSONFault(.trailingText, "something follows the end of the value", at: self.position)
        }
    }

    var current: UInt8? { self.position < self.text.count ? self.text[self.position] : nil }

    private mutating func skipSpace() {
        while let byte = self.current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            self.position += 1
        }
    }

    private func syntax(_ sentence: String) -> JSONFault { JSONFault(.syntax, sentence, at: self.position) }

    private mutating func value(depth: Int) throws(JSONFault) {
        switch self.current {
        case UInt8(ascii: "{"): try self.object(depth: depth)
        case UInt8(ascii: "["): try self.array(depth: depth)
        case UInt8(ascii: "\""): try self.string()
        case UInt8(ascii: "t"): try self.word("true")
        case UInt8(ascii: "f"): try self.word("false")
        case UInt8(ascii: "n"): try self.word("null")
        case UInt8(ascii: "-"): try self.number()
        case .some(0x30...0x39): try self.number()
        case UInt8(ascii: "'"): throw self.syntax("strings take double quotes, not single ones")
        case nil: throw self.syntax("the text ends where a value should be")
        default: throw self.syntax("expected a value")
        }
    }

    private mutating func word(_ word: StaticString) throws(JSONFault) {
        let end = self.position + word.utf8CodeUnitCount
        let isThere = end <= self.text.count && self.text[self.position..<end].span.spells(word)
        guard isThere else { throw self.syntax("expected true, false or null") }
        self.position = end
        if let next = self.current, Self.isWordByte(next) { throw self.syntax("expected the value to end here") }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "{"), UInt8(ascii: "}"):
            false
        default: true
        }
    }

    private func checkDepth(_ depth: Int) throws(JSONFault) {
        guard depth < self.depthMax else {
            throw JSONFault(
                .tooDeep,
                "arrays and objects are nested deeper than \(self.depthMax)",
                at: self.position
            )
        }
    }

    private mutating func array(depth: Int) throws(JSONFault) {
        try self.checkDepth(depth)
        self.position += 1
        self.skipSpace()
        if self.current == UInt8(ascii: "]") {
            self.position += 1
            return
        }
        while true {
            try self.value(depth: depth + 1)
            self.skipSpace()
            switch self.current {
            case UInt8(ascii: "]"):
                self.position += 1
                return
            case UInt8(ascii: ","):
                let comma = self.position
                self.position += 1
                self.skipSpace()
                if self.current == UInt8(ascii: "]") {
                    throw JSONFault(.syntax, "a comma before ] has no element after it", at: comma)
                }
            case nil: throw self.syntax("the text ends inside an array")
            default: throw self.syntax("expected a comma or ] after an element")
            }
        }
    }

    private mutating func object(depth: Int) throws(JSONFault) {
        try self.checkDepth(depth)
        self.position += 1
        self.skipSpace()
        if self.current == UInt8(ascii: "}") {
            self.position += 1
            return
        }
        while true {
            try self.member(depth: depth)
            switch self.current {
            case UInt8(ascii: "}"):
                self.position += 1
                return
            case UInt8(ascii: ","):
                let comma = self.position
                self.position += 1
                self.skipSpace()
                if self.current == UInt8(ascii: "}") {
                    throw JSONFault(.syntax, "a comma before } has no member after it", at: comma)
                }
            case nil: throw self.syntax("the text ends inside an object")
            default: throw self.syntax("expected a comma or } after a member")
            }
        }
    }

    private mutating func member(depth: Int) throws(JSONFault) {
        switch self.current {
        case UInt8(ascii: "\""): try self.string()
        case nil: throw self.syntax("the text ends inside an object")
        default: throw self.syntax("expected a member name in double quotes")
        }
        self.skipSpace()
        guard self.current == UInt8(ascii: ":") else { throw self.syntax("expected a colon after a member name") }
        self.position += 1
        self.skipSpace()
        try self.value(depth: depth + 1)
        self.skipSpace()
    }

    private mutating func number() throws(JSONFault) {
        let start = self.position
        if self.current == UInt8(ascii: "-") { self.position += 1 }
        let isLeadingZero = self.current == UInt8(ascii: "0")
        guard self.skipDigits() > 0 else { throw self.syntax("expected a digit") }
        let integerEnd = self.position
        let firstDigit = self.text[start] == UInt8(ascii: "-") ? start + 1 : start
        guard !isLeadingZero || integerEnd == firstDigit + 1 else {
            throw JSONFault(.syntax, "a number starts with a needless zero", at: start)
        }
        if self.current == UInt8(ascii: ".") {
            self.position += 1
            guard self.skipDigits() > 0 else { throw self.syntax("expected a digit after the point") }
        }
        if self.current == UInt8(ascii: "e") || self.current == UInt8(ascii: "E") {
            self.position += 1
            if self.current == UInt8(ascii: "+") || self.current == UInt8(ascii: "-") { self.position += 1 }
            guard self.skipDigits() > 0 else { throw self.syntax("expected a digit in the exponent") }
        }
        if let next = self.current, Self.isWordByte(next) { throw self.syntax("expected the number to end here") }
        let spelling = String(decoding: self.text[start..<self.position], as: UTF8.self)
        let isInRange: Bool
        if self.position == integerEnd {
            isInRange = Int64(spelling) != nil || UInt64(spelling) != nil
        } else {
            isInRange = Double(spelling)?.isFinite ?? false
        }
        guard isInRange else { throw JSONFault(.numberOutOfRange, "a number is out of range", at: start) }
    }

    private mutating func skipDigits() -> Int {
        let start = self.position
        while let byte = self.current, byte >= 0x30, byte <= 0x39 { self.position += 1 }
        return self.position - start
    }
}
