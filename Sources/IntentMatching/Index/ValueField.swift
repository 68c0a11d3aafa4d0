import WidgetModel

/// A field of a kind's instances with all values that some instance has.
struct ValueField: Sendable {
    let field: MatchField
    /// The parameter's name; nil for family, host and tags.
    private let name: String?
    private let isASCII: Bool
    var dictionary = ValueDictionary()

    init(_ field: MatchField) {
        self.field = field
        if case .parameter(let name) = field {
            self.name = name.description
            self.isASCII = name.bytes.allSatisfy { $0 < 0x80 }
        } else {
            self.name = nil
            self.isASCII = true
        }
    }

    /// Whether this is the parameter with just this name.
    @inline(__always)
    func isNamed(_ name: String) -> Bool {
        guard let own = self.name, own.utf8.count == name.utf8.count, own == name else { return false }
        return self.isASCII || own.utf8.elementsEqual(name.utf8)
    }

    /// The codes of a value, each used once more.
    mutating func use(_ value: ParameterValue, into codes: inout FieldCodes) {
        guard case .array(let elements) = value else {
            codes.single = self.dictionary.use(value)
            return
        }
        for element in elements { codes.elements.append(self.dictionary.use(element)) }
        self.makeDistinct(&codes)
    }

    mutating func use(_ strings: [String], into codes: inout FieldCodes) {
        for string in strings { codes.elements.append(self.dictionary.use(string)) }
        self.makeDistinct(&codes)
    }

    private mutating func makeDistinct(_ codes: inout FieldCodes) {
        if codes.elements.count > 1 {
            codes.elements.sort()
            var kept = 1
            for index in 1..<codes.elements.count {
                if codes.elements[index] == codes.elements[kept - 1] {
                    self.dictionary.release(codes.elements[index])
                } else {
                    codes.elements[kept] = codes.elements[index]
                    kept += 1
                }
            }
            codes.elements.removeLast(codes.elements.count - kept)
        }
        codes.isArray = codes.elements.count != 1
        guard !codes.isArray else { return }
        codes.single = codes.elements[0]
        codes.elements.removeAll(keepingCapacity: true)
    }

    mutating func release(_ value: FieldCodes) {
        if value.isArray {
            for code in value.elements { self.dictionary.release(code) }
        } else if value.single != 0 {
            self.dictionary.release(value.single)
        }
    }
}
