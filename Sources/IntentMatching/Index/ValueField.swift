import WidgetModel

/// A field of a kind's instances with all values that some instance has.
struct ValueField: Sendable {
    let field: MatchField
    /// The parameter's name; nil for family, host and tags.
    private let name: String?
    private let isASCII: Bool
    var dictionary = ValueDictionary()
    /// Codes of the elements of one array.
    private var scratch: [UInt32] = []

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
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - guess: The code that it may well have; 0 for none.
    mutating func use(_ value: ParameterValue, guess: UInt32) -> FieldCodes {
        guard case .array(let elements) = value else {
            return FieldCodes(single: self.dictionary.use(value, guess: guess))
        }
        self.scratch.removeAll(keepingCapacity: true)
        for element in elements { self.scratch.append(self.dictionary.use(element)) }
        return self.distinctScratch()
    }

    mutating func use(_ strings: [String]) -> FieldCodes {
        self.scratch.removeAll(keepingCapacity: true)
        for string in strings { self.scratch.append(self.dictionary.use(string)) }
        return self.distinctScratch()
    }

    private mutating func distinctScratch() -> FieldCodes {
        if self.scratch.count == 1 { return FieldCodes(single: self.scratch[0]) }
        self.scratch.sort()
        var elements: [UInt32] = []
        elements.reserveCapacity(self.scratch.count)
        for code in self.scratch {
            if elements.last == code { self.dictionary.release(code) } else { elements.append(code) }
        }
        return elements.count == 1
            ? FieldCodes(single: elements[0]) : FieldCodes(elements: elements, isArray: true)
    }

    mutating func release(_ value: FieldCodes) {
        if value.isArray {
            for code in value.elements { self.dictionary.release(code) }
        } else if value.single != 0 {
            self.dictionary.release(value.single)
        }
    }
}
