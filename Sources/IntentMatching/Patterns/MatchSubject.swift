package import WidgetModel

/// The subject of a match pattern: one widget instance.
package struct MatchSubject: Hashable, Sendable {
    package let configuration: Configuration
    package let family: WidgetFamily
    package let host: HostID
    package let tags: [String]
    /// The instance's kind; a condition on a parameter that it lacks does not match, not even `{"exists": false}`.
    /// Nil counts every parameter as declared.
    package let schema: KindSchema?

    package init(
        configuration: Configuration,
        family: WidgetFamily,
        host: HostID,
        tags: [String],
        schema: KindSchema? = nil
    ) {
        self.configuration = configuration
        self.family = family
        self.host = host
        self.tags = tags
        self.schema = schema
    }

    enum Value {
        /// The kind has no such parameter.
        case undeclared
        case absent
        case present(ParameterValue)
    }

    func value(of field: MatchField) -> Value {
        switch field {
        case .family: return .present(.string(self.family.name))
        case .host: return .present(.string(self.host.rawValue))
        case .tags: return .present(.array(self.tags.map { .string($0) }))
        case .parameter(let name):
            guard self.schema?.declares(name) ?? true else { return .undeclared }
            // Byte for byte, which `Configuration`'s subscript is not.
            let parameter = self.configuration.parameters.first { $0.name.hasSameBytes(as: name) }
            return parameter.map { .present($0.value) } ?? .absent
        }
    }
}
