package import WidgetModel

extension KindSchema {
    /// The typed form of a configuration's JSON, defaults filled in.
    ///
    /// An absent or null configuration is an empty one, and a null parameter counts as absent. A nested parameter comes
    /// as nested objects (`{"venue": {"city": …}}`) or by its dotted name.
    ///
    /// - Parameters:
    ///   - json: The configuration of the registration.
    ///   - limits: The bounds of its size.
    package func configuration(
        from json: JSONValue?,
        limits: ConfigurationLimits = ConfigurationLimits()
    ) throws(ConfigurationError) -> Configuration {
        var reader = ConfigurationReader(schema: self, limits: limits)
        switch json ?? .null {
        case .null: break
        case .object(let members): try reader.read(members, prefix: "")
        case let other:
            throw ConfigurationError(.wrongType, "configuration", "expected an object, got \(other.typeName)")
        }
        return try reader.finish()
    }
}

/// Collects the values of one configuration.
private struct ConfigurationReader {
    let schema: KindSchema
    let limits: ConfigurationLimits
    /// The value of each of the schema's parameters, as far as given.
    private var values: [ParameterValue?]
    private var given = 0
    private var bytes = 0

    init(schema: KindSchema, limits: ConfigurationLimits) {
        self.schema = schema
        self.limits = limits
        self.values = Array(repeating: nil, count: schema.parameters.count)
    }

    /// Reads the members of the object at `prefix`, a dotted name with a dot at its end, or empty.
    ///
    /// Goes down only where the schema has a parameter further down, hence no deeper than its names.
    mutating func read(_ members: [JSONValue.Member], prefix: String) throws(ConfigurationError) {
        for member in members {
            let name = prefix + member.name
            let path = "configuration.\(name)"
            if let index = self.schema.parameters.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
                try self.read(member.value, into: index, path: path)
            } else if self.schema.hasParameters(inside: name) {
                switch member.value {
                case .null: break
                case .object(let inner): try self.read(inner, prefix: name + ".")
                case let other:
                    throw ConfigurationError(.wrongType, path, "expected an object, got \(other.typeName)")
                }
            } else {
                throw self.unknown(path)
            }
        }
    }

    private mutating func read(_ json: JSONValue, into index: Int, path: String) throws(ConfigurationError) {
        if json == .null { return }
        guard self.values[index] == nil else {
            throw ConfigurationError(.givenTwice, path, "the parameter is given twice")
        }
        self.given += 1
        guard self.given <= self.limits.parametersMax else {
            let limit = self.limits.parametersMax
            throw ConfigurationError(.limit, path, "more than \(limit) parameters in one configuration")
        }
        let parameter = self.schema.parameters[index]
        guard parameter.isArray else {
            self.values[index] = try self.scalar(json, parameter, path: path)
            return
        }
        guard case .array(let elements) = json else {
            throw ConfigurationError(
                .wrongType,
                path,
                "expected an array, each element \(parameter.type.phrase), got \(json.typeName)"
            )
        }
        guard elements.count <= self.limits.arrayElementsMax else {
            let limit = self.limits.arrayElementsMax
            throw ConfigurationError(.limit, path, "expected at most \(limit) elements, got \(elements.count)")
        }
        var values: [ParameterValue] = []
        values.reserveCapacity(elements.count)
        for (place, element) in elements.enumerated() {
            values.append(try self.scalar(element, parameter, path: "\(path)[\(place)]"))
        }
        self.values[index] = .array(values)
    }

    private mutating func scalar(
        _ json: JSONValue,
        _ parameter: ParameterSchema,
        path: String
    ) throws(ConfigurationError) -> ParameterValue {
        switch (parameter.type, json) {
        case (.string, .string(let string)), (.entity, .string(let string)):
            try self.count(string, path: path)
            return .string(string)
        case (.enumeration, .string(let string)):
            guard parameter.cases.contains(where: { $0.hasSameBytes(as: string) }) else {
                let sentence = "expected one of \(parameter.casesPhrase), got another string"
                throw ConfigurationError(.unknownCase, path, sentence)
            }
            return .string(string)
        case (.bool, .bool(let bool)):
            return .bool(bool)
        case (.int, .int(let int)):
            return .int(int)
        case (.int, .unsigned):
            throw ConfigurationError(.wrongType, path, "expected an integer of 64 bits with sign, got a larger one")
        case (.int, .double(let double)):
            // 5.0 is 5. Beyond 2^53 the reader may have rounded the written number.
            guard case .int(let int) = ExactNumber(double), abs(double) <= 0x1p53 else {
                throw ConfigurationError(.wrongType, path, "expected an integer, got a number that is not one")
            }
            return .int(int)
        case (.double, .double(let double)) where double.isFinite:
            return .double(double)
        case (.double, .int(let int)):
            guard let double = ExactNumber.int(int).exactDouble else { throw self.inexact(path) }
            return .double(double)
        case (.double, .unsigned(let unsigned)):
            guard let double = ExactNumber.unsigned(unsigned).exactDouble else { throw self.inexact(path) }
            return .double(double)
        case (.date, .string(let string)):
            do throws(RFC3339.ParseError) {
                return .date(try RFC3339.parse(string))
            } catch {
                let sentence = "expected an RFC 3339 date with an offset, got a string that \(error.sentence)"
                throw ConfigurationError(.invalidDate, path, sentence)
            }
        default:
            throw ConfigurationError(.wrongType, path, "expected \(parameter.type.phrase), got \(json.typeName)")
        }
    }

    private mutating func count(_ string: String, path: String) throws(ConfigurationError) {
        let count = string.utf8.count
        guard count <= self.limits.stringBytesMax else {
            let limit = self.limits.stringBytesMax
            throw ConfigurationError(.limit, path, "expected at most \(limit) bytes, got a string of \(count)")
        }
        self.bytes += count
        guard self.bytes <= self.limits.totalBytesMax else {
            let limit = self.limits.totalBytesMax
            throw ConfigurationError(.limit, path, "the strings of one configuration take more than \(limit) bytes")
        }
    }

    private func inexact(_ path: String) -> ConfigurationError {
        ConfigurationError(.wrongType, path, "expected a number, got an integer that a double does not hold exactly")
    }

    private func unknown(_ path: String) -> ConfigurationError {
        let names = self.schema.parameters.map(\.name)
        let known = names.isEmpty ? "it has none" : "it has \(names.phrase(limit: 16))"
        return ConfigurationError(.unknownParameter, path, "kind \(self.schema.kind) has no such parameter; \(known)")
    }

    /// Fills in the defaults.
    func finish() throws(ConfigurationError) -> Configuration {
        var parameters: [Configuration.Parameter] = []
        parameters.reserveCapacity(self.values.count)
        for (value, schema) in zip(self.values, self.schema.parameters) {
            if let value = value ?? schema.defaultValue {
                parameters.append(Configuration.Parameter(name: schema.name, value: value))
            } else if schema.isRequired {
                let expected = schema.isArray ? "an array, each element \(schema.type.phrase)" : schema.type.phrase
                let sentence = "the parameter is required; expected \(expected), got nothing"
                throw ConfigurationError(.missingParameter, "configuration.\(schema.name)", sentence)
            }
        }
        return Configuration(parameters)
    }
}

extension KindSchema {
    /// Whether a parameter's dotted name continues `name`.
    func hasParameters(inside name: String) -> Bool {
        self.parameters.contains { parameter in
            let count = name.utf8.count
            return parameter.name.utf8.count > count + 1
                && parameter.name.utf8.starts(with: name.utf8)
                && parameter.name.utf8.dropFirst(count).first == UInt8(ascii: ".")
        }
    }
}
