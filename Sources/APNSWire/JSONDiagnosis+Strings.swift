extension JSONDiagnosis {
    /// Walks over a string, from its opening quote to behind the closing one.
    mutating func string() throws(JSONFault) {
        self.position += 1
        while let byte = self.current {
            switch byte {
            case UInt8(ascii: "\""):
                self.position += 1
                return
            case UInt8(ascii: "\\"): try self.escape()
            case 0..<0x20:
                throw JSONFault(.syntax, "a control character in a string is not escaped", at: self.position)
            case 0x20..<0x80: self.position += 1
            default: try self.multibyteCharacter()
            }
        }
        throw JSONFault(.syntax, "the text ends inside a string", at: self.position)
    }

    private mutating func escape() throws(JSONFault) {
        let start = self.position
        self.position += 1
        guard self.current == UInt8(ascii: "u") else {
            let isKnown =
                switch self.current {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
                    UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                    true
                default: false
                }
            guard isKnown else { throw JSONFault(.syntax, "a backslash starts no known escape", at: start) }
            self.position += 1
            return
        }
        let unit = try self.escapedUnit(from: start)
        guard unit & 0xF800 == 0xD800 else { return }
        let second = self.position
        guard unit < 0xDC00, self.current == UInt8(ascii: "\\"), try self.escapedLowSurrogate(at: second) else {
            throw JSONFault(.invalidUTF8, "a string has half of a surrogate pair", at: start)
        }
    }

    private mutating func escapedLowSurrogate(at start: Int) throws(JSONFault) -> Bool {
        self.position += 1
        guard self.current == UInt8(ascii: "u") else { return false }
        return try self.escapedUnit(from: start) & 0xFC00 == 0xDC00
    }

    /// The UTF-16 unit of an escape whose `u` is the current byte.
    private mutating func escapedUnit(from start: Int) throws(JSONFault) -> UInt32 {
        self.position += 1
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = self.current.flatMap(Base16.digit) else {
                throw JSONFault(.syntax, "\\u needs four hex digits", at: start)
            }
            unit = unit << 4 | UInt32(digit)
            self.position += 1
        }
        return unit
    }

    /// Walks over one character of two to four bytes (RFC 3629, the table of well-formed sequences).
    private mutating func multibyteCharacter() throws(JSONFault) {
        let start = self.position
        let lead = self.text[start]
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch lead {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0x80...0xBF)
            }
        let isValid =
            length > 0 && start + length <= self.text.count && second.contains(self.text[start + 1])
            && self.text[(start + 2)..<(start + length)].allSatisfy { $0 & 0xC0 == 0x80 }
        guard isValid else { throw JSONFault(.invalidUTF8, "the text is not UTF-8", at: start) }
        self.position += length
    }
}
