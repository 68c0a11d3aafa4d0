import WidgetModel

/// A field of a kind's instances with all values that some instance has.
struct ValueField: Sendable {
    let field: MatchField
    /// The parameter's name; no parameter has the empty one that family, host and tags have here.
    private let name: [UInt8]
    /// The first bytes of the name.
    private let head: UInt64
    var dictionary = ValueDictionary()

    init(_ field: MatchField) {
        self.field = field
        let name: [UInt8] = if case .parameter(let text) = field { text.bytes } else { [] }
        self.name = name
        self.head = name.span.word(at: 0)
    }

    /// Whether this is the parameter with just this name.
    @inline(__always)
    func isNamed(_ name: Span<UInt8>) -> Bool {
        guard name.count == self.name.count, name.count > 0, name.word(at: 0) == self.head else { return false }
        return name.count <= 8 || self.name.span.equals(name)
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
