import APNSWire
import Foundation
import HTTPTransport
import Testing
import WidgetModel
import Yams

/// `docs/openapi.yaml`, and whether an answer is what it says.
///
/// Knows as much of JSON Schema as that document uses. Stricter than JSON Schema in one thing: an object whose members are
/// listed may have no other, unless `additionalProperties` says so, for a member that is not listed is not documented.
struct OpenAPI: Sendable {
    static let document: OpenAPI = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        do {
            let text = try String(contentsOf: root.appending(path: "docs/openapi.yaml"), encoding: .utf8)
            guard let node = try Yams.compose(yaml: text) else { preconditionFailure("docs/openapi.yaml is empty") }
            return OpenAPI(root: Self.value(of: node))
        } catch {
            preconditionFailure("docs/openapi.yaml: \(error)")
        }
    }()

    let root: JSONValue
    /// The document's paths, split once.
    private let paths: [(segments: [Substring], item: JSONValue)]

    private init(root: JSONValue) {
        self.root = root
        guard case .object(let paths) = root["paths"] else { preconditionFailure("docs/openapi.yaml has no paths") }
        self.paths = paths.map { path in
            (path.name.dropFirst().split(separator: "/", omittingEmptySubsequences: false), path.value)
        }
    }

    private static func value(of node: Node) -> JSONValue {
        switch node {
        case .mapping(let mapping):
            return .object(
                mapping.map { pair in
                    JSONValue.Member(name: pair.key.string ?? "", value: Self.value(of: pair.value))
                }
            )
        case .sequence(let sequence): return .array(sequence.map { Self.value(of: $0) })
        case .scalar(let scalar):
            guard scalar.style == .plain || scalar.style == .any else { return .string(scalar.string) }
            if let int = Int64(scalar.string) { return .int(int) }
            switch scalar.string {
            case "true": return .bool(true)
            case "false": return .bool(false)
            default: return .string(scalar.string)
            }
        case .alias: return .null
        }
    }

    // MARK: Answers

    /// Records an issue where an answer to a request is not what the document says.
    func check(_ request: HTTPRequest, _ response: HTTPResponse) {
        let faults = self.faults(request, response)
        #expect(faults == [], "\(request.method) \(request.target) → \(response.status)")
    }

    private func faults(_ request: HTTPRequest, _ response: HTTPResponse) -> [String] {
        guard let item = self.item(of: request) else {
            return [401, 403, 404, 405].contains(response.status) ? [] : ["the route is not documented"]
        }
        guard let operation = item[request.method.lowercased()] else {
            return response.status == 405 || response.status == 401 ? [] : ["the method is not documented"]
        }
        guard let responses = operation["responses"],
            let answer = responses["\(response.status)"] ?? (response.status >= 400 ? responses["default"] : nil)
        else { return ["the status is not documented"] }
        guard let contents = self.resolved(answer)["content"] else { return [] }
        let type = (response.headers["content-type"] ?? "").split(separator: ";").first.map(String.init) ?? ""
        guard let content = contents[type] else { return ["\(type) is not a documented type of content"] }
        guard case .bytes(let bytes) = response.body, type == "application/json" || type == "application/problem+json",
            let schema = content["schema"]
        else {
            return []
        }
        guard let value = try? json(String(decoding: bytes, as: UTF8.self)) else { return ["the body is no JSON"] }
        return self.faults(value, schema, "$")
    }

    /// The path of the document that a request is about: the one with most segments that are no parameters.
    private func item(of request: HTTPRequest) -> JSONValue? {
        var best: (plain: Int, item: JSONValue)?
        for path in self.paths where path.segments.count == request.path.count {
            var plain = 0
            let fits = zip(path.segments, request.path).allSatisfy { segment, part in
                if segment.hasPrefix("{") { return true }
                plain += 1
                return segment == part
            }
            guard fits, path.item[request.method.lowercased()] != nil || best == nil else { continue }
            if plain > best?.plain ?? -1 || best?.item[request.method.lowercased()] == nil {
                best = (plain, path.item)
            }
        }
        return best?.item
    }

    // MARK: Schemas

    func resolved(_ value: JSONValue) -> JSONValue {
        guard case .string(let reference) = value["$ref"] else { return value }
        let names = reference.dropFirst(2).split(separator: "/")
        return names.reduce(self.root) { $0[String($1)] ?? .null }
    }

    private func faults(_ value: JSONValue, _ reference: JSONValue, _ path: String) -> [String] {
        let schema = self.resolved(reference)
        if case .array(let choices) = schema["anyOf"] {
            return choices.contains { self.faults(value, $0, path) == [] } ? [] : ["\(path): none of the choices"]
        }
        if let constant = schema["const"], constant != value { return ["\(path): not the constant"] }
        if case .array(let words) = schema["enum"], !words.contains(value) { return ["\(path): not one of the words"] }
        guard case .string(let type) = schema["type"] else { return [] }
        switch (type, value) {
        case ("object", .object(let members)): return self.faults(members, schema, path)
        case ("array", .array(let elements)):
            guard let items = schema["items"] else { return [] }
            return elements.enumerated().flatMap { self.faults($0.element, items, "\(path)[\($0.offset)]") }
        case ("string", .string(let text)):
            guard schema["format"] == .string("date-time") else { return [] }
            return text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) == nil ? ["\(path): no date"] : []
        case ("integer", .int), ("integer", .unsigned), ("number", .int), ("number", .double), ("number", .unsigned):
            if case .int(let least) = schema["minimum"], case .int(let number) = value, number < least {
                return ["\(path): less than \(least)"]
            }
            return []
        case ("boolean", .bool), ("null", .null): return []
        default: return ["\(path): not of type \(type)"]
        }
    }

    private func faults(_ members: [JSONValue.Member], _ schema: JSONValue, _ path: String) -> [String] {
        var faults: [String] = []
        if case .array(let required) = schema["required"] {
            for case .string(let name) in required where !members.contains(where: { $0.name == name }) {
                faults.append("\(path).\(name) is missing")
            }
        }
        let properties = schema["properties"]
        for member in members {
            let place = "\(path).\(member.name)"
            if let property = properties?[member.name] {
                faults += self.faults(member.value, property, place)
            } else if let others = schema["additionalProperties"] {
                if case .object = others { faults += self.faults(member.value, others, place) }
            } else if properties != nil {
                faults.append("\(place) is not documented")
            }
        }
        return faults
    }
}
