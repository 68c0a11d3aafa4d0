/// Header fields in the order sent, found by lower-case name.
package struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Field: Hashable, Sendable {
        /// Lower case.
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package var all: [Field]

    package init(_ fields: [Field] = []) {
        self.all = fields
    }

    package init(dictionaryLiteral elements: (String, String)...) {
        self.all = elements.map { Field(name: $0.0.lowercased(), value: $0.1) }
    }

    /// The first value of that name (lower case). Setting replaces every value of the name.
    package subscript(name: String) -> String? {
        get { self.all.first { $0.name == name }?.value }
        set {
            self.all.removeAll { $0.name == name }
            if let newValue {
                self.append(name, newValue)
            }
        }
    }

    package mutating func append(_ name: String, _ value: String) {
        self.all.append(Field(name: name, value: value))
    }
}
