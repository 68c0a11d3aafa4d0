package import WidgetModel

extension MatchPattern {
    /// The condition that an instance's `when` states: a pattern over the attributes that a push brings.
    ///
    /// The same language as `match`, but for `$family`, `$host` and `$tags`, which are the instance's own. `{}` holds for
    /// every push.
    package static func condition(
        from json: JSONValue,
        limits: PatternLimits = .conditions
    ) throws(PatternError) -> MatchPattern {
        let pattern = try Self.parse(json, at: "when", limits: limits)
        if let field = pattern.instanceField {
            throw PatternError(
                .malformed,
                "when.\(field)",
                "a condition can only be about the push, not about the instance"
            )
        }
        return pattern
    }

    /// A field that only instances have.
    private var instanceField: MatchField? {
        switch self {
        case .all(let parts), .any(let parts):
            for part in parts { if let field = part.instanceField { return field } }
            return nil
        case .field(.parameter, _): return nil
        case .field(let field, _): return field
        }
    }

    /// Whether a push's attributes fulfil this condition.
    package func holds(for attributes: Configuration) -> Bool {
        self.matches(
            MatchSubject(configuration: attributes, family: .systemSmall, host: HostID(""), tags: [])
        )
    }
}

extension Configuration {
    /// The attributes that a push brings: `{"health": 20, "league": "nfl"}`, nested ones by dotted names.
    ///
    /// - Parameters:
    ///   - json: An object of strings, numbers, booleans, nulls, which count as absent, arrays of those, and objects.
    ///   - limits: The bounds of its size.
    package static func attributes(
        from json: JSONValue,
        limits: ConfigurationLimits = ConfigurationLimits()
    ) throws(ConfigurationError) -> Configuration {
        guard case .object(let members) = json else {
            throw ConfigurationError(.wrongType, "attributes", "expected an object, got \(json.typeName)")
        }
        var reader = AttributesReader(limits: limits)
        try reader.read(members, prefix: "")
        return Configuration(reader.parameters)
    }
}

/// Collects the attributes of one push.
private struct AttributesReader {
    let limits: ConfigurationLimits
    private(set) var parameters: [Configuration.Parameter] = []
    private var bytes = 0
    private var valueCount = 0

    init(limits: ConfigurationLimits) {
        self.limits = limits
    }

    mutating func read(_ members: [JSONValue.Member], prefix: String) throws(ConfigurationError) {
        for member in members {
            let name = prefix + member.name
            let path = "attributes.\(name)"
            guard !member.name.isEmpty, name.utf8.count <= KindSchema.nameBytesMax else {
                let sentence = "expected a name of 1 to \(KindSchema.nameBytesMax) bytes"
                throw ConfigurationError(.limit, path, sentence)
            }
            if case .object(let inner) = member.value {
                try self.read(inner, prefix: name + ".")
            } else if let value = try self.value(member.value, path: path) {
                // Names that differ in normalisation only are one key to a dictionary of strings: refused with `==`.
                guard !self.parameters.contains(where: { $0.name == name }) else {
                    throw ConfigurationError(.givenTwice, path, "the attribute is given twice")
                }
                guard self.parameters.count < self.limits.parametersMax else {
                    let limit = self.limits.parametersMax
                    throw ConfigurationError(.limit, path, "more than \(limit) attributes")
                }
                self.parameters.append(Configuration.Parameter(name: name, value: value))
            }
        }
    }

    private mutating func value(_ json: JSONValue, path: String) throws(ConfigurationError) -> ParameterValue? {
        guard case .array(let elements) = json else { return try self.scalar(json, path: path) }
        guard elements.count <= self.limits.arrayElementsMax else {
            let limit = self.limits.arrayElementsMax
            throw ConfigurationError(.limit, path, "expected at most \(limit) elements, got \(elements.count)")
        }
        var values: [ParameterValue] = []
        for (place, element) in elements.enumerated() {
            if let value = try self.scalar(element, path: "\(path)[\(place)]") { values.append(value) }
        }
        return .array(values)
    }

    private mutating func scalar(_ json: JSONValue, path: String) throws(ConfigurationError) -> ParameterValue? {
        if json != .null { self.valueCount += 1 }
        guard self.valueCount <= self.limits.attributeValuesMax else {
            let limit = self.limits.attributeValuesMax
            throw ConfigurationError(.limit, path, "more than \(limit) values, elements of arrays counted each")
        }
        switch json {
        case .null: return nil
        case .bool(let bool): return .bool(bool)
        case .int(let int): return .int(int)
        case .double(let double) where double.isFinite: return .double(double)
        case .string(let string):
            let count = string.utf8.count
            self.bytes += count
            guard count <= self.limits.stringBytesMax, self.bytes <= self.limits.totalBytesMax else {
                throw ConfigurationError(.limit, path, "the strings of the attributes are too long")
            }
            return .string(string)
        case .unsigned, .double:
            throw ConfigurationError(.wrongType, path, "expected a finite number of 64 bits with sign")
        case .array, .object:
            let sentence = "expected a string, a number or a boolean, got \(json.typeName)"
            throw ConfigurationError(.wrongType, path, sentence)
        }
    }
}
