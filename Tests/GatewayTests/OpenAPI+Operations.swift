import WidgetModel

/// The operations of the document, and the places of numbers in it.
extension OpenAPI {
    /// One method of one path.
    struct Operation: Sendable, CustomStringConvertible {
        let id: String
        let method: String
        /// With `{name}` for each path parameter.
        let path: String
        let tags: [String]
        let parameters: [Parameter]
        /// The schema of its JSON body; nil if it has none.
        let body: JSONValue?
        let takesBody: Bool
        /// The schemes that let in, each by its name with the roles that it needs.
        let security: [String: [String]]

        var description: String { self.id }

        func parameters(in place: String) -> [Parameter] { self.parameters.filter { $0.place == place } }
    }

    struct Parameter: Sendable {
        let name: String
        /// `query`, `header` or `path`.
        let place: String
        let schema: JSONValue

        /// Whether it is one of a few words, which no number is.
        var isWord: Bool {
            if case .array(let words) = self.schema["enum"] { return words.contains { $0.typeName == "a string" } }
            return self.schema["type"] == .string("boolean")
        }
    }

    private static let methods = ["get", "put", "post", "delete"]

    var operations: [Operation] {
        guard case .object(let paths) = self.root["paths"] else { return [] }
        return paths.flatMap { path in
            Self.methods.compactMap { method in
                path.value[method].map { self.operation(method.uppercased(), path.name, $0, shared: path.value) }
            }
        }
    }

    private func operation(_ method: String, _ path: String, _ value: JSONValue, shared: JSONValue) -> Operation {
        let content = value["requestBody"]?["content"]
        return Operation(
            id: Self.text(value["operationId"]),
            method: method,
            path: path,
            tags: Self.elements(value["tags"]).map(Self.text),
            parameters: (Self.elements(shared["parameters"]) + Self.elements(value["parameters"])).map { parameter in
                let found = self.resolved(parameter)
                return Parameter(
                    name: Self.text(found["name"]),
                    place: Self.text(found["in"]),
                    schema: self.resolved(found["schema"] ?? .null)
                )
            },
            body: content?["application/json"]?["schema"],
            takesBody: content != nil,
            security: self.security(value)
        )
    }

    private func security(_ operation: JSONValue) -> [String: [String]] {
        var all: [String: [String]] = [:]
        for case .object(let choices) in Self.elements(operation["security"] ?? self.root["security"]) {
            for choice in choices { all[choice.name] = Self.elements(choice.value).map(Self.text) }
        }
        return all
    }

    /// The places of a schema's numbers and dates, as in `of.list[].count`.
    func numbers(of reference: JSONValue, at path: String = "") -> [String] {
        let schema = self.resolved(reference)
        var places: [String] = []
        for choice in Self.elements(schema["anyOf"]) { places += self.numbers(of: choice, at: path) }
        switch schema["type"] {
        case .string("integer")?, .string("number")?: places.append(path)
        case .string("string")? where schema["format"] == .string("date-time"): places.append(path)
        default: break
        }
        if Self.elements(schema["enum"]).contains(where: { $0.typeName == "an integer" }) { places.append(path) }
        if let items = schema["items"] { places += self.numbers(of: items, at: "\(path)[]") }
        guard case .object(let properties) = schema["properties"] else { return places }
        for property in properties {
            places += self.numbers(of: property.value, at: path.isEmpty ? property.name : "\(path).\(property.name)")
        }
        return places
    }

    private static func elements(_ value: JSONValue?) -> [JSONValue] {
        guard case .array(let elements) = value else { return [] }
        return elements
    }

    private static func text(_ value: JSONValue?) -> String {
        guard case .string(let text) = value else { return "" }
        return text
    }
}
