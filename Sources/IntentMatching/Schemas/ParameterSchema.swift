import Storage
package import WidgetModel

/// One parameter of a kind's configuration: on the device, an `@Parameter` of the configuration intent.
package struct ParameterSchema: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(
        { Self($0, $1, isArray: $2, isRequired: $3, defaultValue: $4, cases: $5) },
        \.name,
        \.type,
        \.isArray,
        \.isRequired,
        \.defaultValue,
        \.cases
    )

    /// The name; a nested parameter's is dotted (`venue.city`).
    package let name: String
    package let type: ParameterType
    /// Whether the value is an array of ``type``.
    package let isArray: Bool
    /// Whether a configuration without the parameter is refused; irrelevant with a default.
    package let isRequired: Bool
    /// The value if a configuration does not have the parameter.
    package let defaultValue: ParameterValue?
    /// The names of the cases; empty unless the type is ``ParameterType/enumeration``.
    package let cases: [String]

    package init(
        _ name: String,
        _ type: ParameterType,
        isArray: Bool = false,
        isRequired: Bool = false,
        defaultValue: ParameterValue? = nil,
        cases: [String] = []
    ) {
        self.name = name
        self.type = type
        self.isArray = isArray
        self.isRequired = isRequired
        self.defaultValue = defaultValue
        self.cases = cases
    }

    /// Whether `value` could be this parameter's, cases and array included.
    package func accepts(_ value: ParameterValue) -> Bool {
        guard case .array(let elements) = value else { return !self.isArray && self.acceptsElement(value) }
        return self.isArray && elements.allSatisfy { self.acceptsElement($0) }
    }

    private func acceptsElement(_ value: ParameterValue) -> Bool {
        guard self.type.holds(value) else { return false }
        guard self.type == .enumeration, case .string(let name) = value else { return true }
        return self.cases.contains { $0.hasSameBytes(as: name) }
    }

    /// Up to eight cases in words, for messages.
    var casesPhrase: String { self.cases.phrase(limit: 8) }
}

extension String {
    /// Whether both are the same bytes: `==` would call composed and decomposed characters equal.
    package func hasSameBytes(as other: String) -> Bool { self.utf8.span.equals(other.utf8.span) }

    /// Whether these are the bytes.
    func hasSameBytes(as other: UTF8Text) -> Bool { self.utf8.span.equals(other.bytes.span) }
}

extension [String] {
    /// The first `limit` names with commas, and how many more there are.
    func phrase(limit: Int) -> String {
        let shown = self.prefix(limit).joined(separator: ", ")
        return self.count > limit ? "\(shown) and \(self.count - limit) more" : shown
    }
}
