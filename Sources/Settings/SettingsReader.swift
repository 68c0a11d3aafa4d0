import WidgetModel
import Yams

/// Reads the values of a parsed configuration file, and notes everything that is wrong with it.
struct SettingsReader: SettingsVisitor {
    /// The section that is being visited.
    private struct Frame {
        let path: String
        let place: SettingFault.Place
        let members: [(key: String, keyNode: Node, value: Node)]
        /// Every key that the section may have, in the order of the visit.
        var known: [String] = []
    }

    private(set) var faults: [SettingFault] = []
    /// Where the value of each key path that was given is.
    private(set) var places: [String: SettingFault.Place] = [:]
    private let name: String
    private var frames: [Frame] = []

    init(name: String) {
        self.name = name
    }

    /// Reads a whole file into a configuration.
    mutating func read(_ root: Node, into configuration: inout GatewayConfiguration) {
        self.read(root) { configuration.visit(&$0) }
    }

    /// Reads a whole file of another kind: `body` visits its keys.
    mutating func read(_ root: Node, _ body: (inout Self) -> Void) {
        if !root.isNull { self.enter("", root, body) }
    }

    // MARK: Places

    private func place(of node: Node) -> SettingFault.Place {
        guard let mark = node.mark else { return .wholeFile(self.name) }
        return .file(self.name, line: mark.line, column: mark.column)
    }

    private mutating func fault(at node: Node, path: String, _ sentence: String) {
        self.faults.append(SettingFault(place: self.place(of: node), path: path, sentence: sentence))
    }

    mutating func fault(_ path: String, _ sentence: String) {
        let full = self.path(path)
        self.faults.append(SettingFault(place: self.places.place(nearest: full), path: full, sentence: sentence))
    }

    private func path(_ key: String) -> String {
        let prefix = self.frames.last?.path ?? ""
        return prefix.isEmpty ? key : key.isEmpty ? prefix : "\(prefix).\(key)"
    }

    // MARK: Sections

    /// Visits the keys of a mapping, then reports those that were not asked for.
    private mutating func enter(_ path: String, _ node: Node, _ body: (inout Self) -> Void) {
        guard let mapping = node.mapping else {
            self.fault(at: node, path: path, "must be a section with keys of its own, not \(node.phrase)")
            return
        }
        var members: [(key: String, keyNode: Node, value: Node)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                self.fault(at: key, path: path, "has a key that is not a name")
                continue
            }
            members.append((name, key, value))
        }
        self.places[path] = self.place(of: node)
        self.frames.append(Frame(path: path, place: self.place(of: node), members: members))
        body(&self)
        let frame = self.frames.removeLast()
        for member in members where !frame.known.contains(member.key) {
            let full = path.isEmpty ? member.key : "\(path).\(member.key)"
            self.fault(at: member.keyNode, path: full, Self.unknown(member.key, among: frame.known))
        }
    }

    private static func unknown(_ key: String, among known: [String]) -> String {
        if let near = known.closest(to: key) { return "there is no such key; did you mean \(near)?" }
        return "there is no such key; the keys here are \(known.phrase(joinedBy: "and"))"
    }

    /// The value of a key, or nil if it is not given; an empty value counts as not given where `mayBeEmpty`.
    private mutating func takeValue(_ key: String, mayBeEmpty: Bool = false) -> Node? {
        let last = self.frames.count - 1
        self.frames[last].known.append(key)
        guard let value = self.frames[last].members.first(where: { $0.key == key })?.value else { return nil }
        let path = self.path(key)
        self.places[path] = self.place(of: value)
        if value.isNull {
            if !mayBeEmpty { self.fault(at: value, path: path, "has no value; give one or remove the line") }
            return nil
        }
        return value
    }

    private func isGiven(_ key: String) -> Bool {
        self.frames.last?.members.contains { $0.key == key } ?? false
    }

    mutating func section(_ key: String, _ body: (inout Self) -> Void) {
        guard let node = self.takeValue(key, mayBeEmpty: true) else { return }
        self.enter(self.path(key), node, body)
    }

    mutating func optionalSection<Value>(
        _ key: String,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        guard let node = self.takeValue(key) else { return }
        var inner = empty
        self.enter(self.path(key), node) { body(&inner, &$0) }
        value = inner
    }

    mutating func nameOrSection<Value>(
        _ key: String,
        _ name: inout String?,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        guard let node = self.takeValue(key) else { return }
        if let scalar = node.scalar {
            (name, value) = (scalar.string, nil)
            return
        }
        var inner = empty
        self.enter(self.path(key), node) { body(&inner, &$0) }
        (name, value) = (nil, inner)
    }

    mutating func records<Value>(
        _ key: String,
        _ values: inout [Value],
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        guard let node = self.takeValue(key, mayBeEmpty: true), let elements = self.elements(of: node, key) else {
            return
        }
        values = []
        for (index, element) in elements.enumerated() {
            var value = empty
            self.enter("\(self.path(key))[\(index)]", element) { body(&value, &$0) }
            values.append(value)
        }
    }

    private mutating func elements(of node: Node, _ key: String) -> [Node]? {
        if let sequence = node.sequence { return Array(sequence) }
        let path = self.path(key)
        self.fault(at: node, path: path, "must be a list (each element after a hyphen), not \(node.phrase)")
        return nil
    }

    // MARK: Values

    mutating func scalar<Value>(_ key: String, _ value: inout Value, _ type: SettingType<Value>, isRequired: Bool) {
        guard let node = self.takeValue(key) else {
            if isRequired, !self.isGiven(key) { self.missing(key, type.phrase) }
            return
        }
        if let read = self.read(node, self.path(key), type) { value = read }
    }

    private mutating func missing(_ key: String, _ phrase: String) {
        let place = self.frames.last?.place ?? .wholeFile(self.name)
        self.faults.append(SettingFault(place: place, path: self.path(key), sentence: "is missing; give \(phrase)"))
    }

    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ type: SettingType<Value>) {
        guard let node = self.takeValue(key) else { return }
        if let read = self.read(node, self.path(key), type) { value = read }
    }

    mutating func file(_ key: String, _ value: inout String, _ purpose: FilePurpose, isRequired: Bool) {
        self.scalar(key, &value, .fileName, isRequired: isRequired)
    }

    mutating func optionalFile(_ key: String, _ value: inout String?, _ purpose: FilePurpose) {
        self.optional(key, &value, .fileName)
    }

    mutating func scalars<Value>(_ key: String, _ values: inout [Value], _ type: SettingType<Value>) {
        guard let node = self.takeValue(key, mayBeEmpty: true), let elements = self.elements(of: node, key) else {
            return
        }
        values = []
        for (index, element) in elements.enumerated() {
            let path = "\(self.path(key))[\(index)]"
            self.places[path] = self.place(of: element)
            if let value = self.read(element, path, type) { values.append(value) }
        }
    }

    mutating func optionalScalars<Value>(
        _ key: String,
        _ values: inout [Value]?,
        _ type: SettingType<Value>,
        mayBeEmpty: Bool
    ) {
        var list: [Value] = []
        let count = self.faults.count
        self.scalars(key, &list, type)
        guard let given = self.frames.last?.members.first(where: { $0.key == key })?.value, !given.isNull else {
            return
        }
        values = list
        if list.isEmpty, !mayBeEmpty, self.faults.count == count {
            self.fault(at: given, path: self.path(key), "is empty; remove the line to allow all")
        }
    }

    mutating func secrets(_ key: String, _ values: inout [Secret]) {
        // Only a key that is there counts as known, so that no message suggests it.
        guard self.isGiven(key), let node = self.takeValue(key) else { return }
        self.fault(
            at: node,
            path: self.path(key),
            "is a secret and must not be in this file; put it into a file of its own and give that file as \(key)File"
        )
    }

    mutating func json(_ key: String, _ value: inout JSONValue?) {
        guard let node = self.takeValue(key) else { return }
        value = node.jsonValue
    }

    private mutating func read<Value>(_ node: Node, _ path: String, _ type: SettingType<Value>) -> Value? {
        guard let scalar = node.scalar else {
            self.fault(at: node, path: path, "must be \(type.phrase), not \(node.phrase)")
            return nil
        }
        if scalar.style == .singleQuoted || scalar.style == .doubleQuoted, !type.isText {
            let remedy = type.value(scalar.string) == nil ? "" : "; remove the quotes"
            self.fault(at: node, path: path, "must be \(type.phrase), not a text in quotes\(remedy)")
            return nil
        }
        guard let value = type.value(scalar.string) else {
            self.fault(at: node, path: path, type.sentence(refusing: scalar.string))
            return nil
        }
        return value
    }
}

extension SettingType<String> {
    static let fileName = SettingType.text("the name of a file") { text in
        (1...4096).contains(text.utf8.count) && !text.utf8.contains(0)
    }
}

extension [String: SettingFault.Place] {
    /// The place of a key path, or of the innermost section around it that has one.
    func place(nearest path: String) -> SettingFault.Place {
        var path = path[...]
        while true {
            if let place = self[String(path)] { return place }
            guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { break }
            path = path[..<end]
        }
        return self[""] ?? .nowhere
    }
}

extension JSONValue {
    /// The value as a configuration file would have it.
    var node: Node {
        func plain(_ text: String) -> Node { .scalar(Node.Scalar(text, Tag(.implicit), .plain)) }
        return switch self {
        case .null: plain("null")
        case .bool(let bool): plain(String(bool))
        case .int(let int): plain(String(int))
        case .unsigned(let int): plain(String(int))
        case .double(let double): plain(String(double))
        case .string(let string): .scalar(Node.Scalar(string, Tag(.str), .doubleQuoted))
        case .array(let elements): .sequence(Node.Sequence(elements.map(\.node)))
        case .object(let members):
            .mapping(Node.Mapping(members.map { (JSONValue.string($0.name).node, $0.value.node) }))
        }
    }
}

extension Node {
    /// Whether it is an empty value, written as nothing, `~` or `null`.
    fileprivate var isNull: Bool {
        guard case .scalar(let scalar) = self, scalar.style == .plain || scalar.style == .any else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// The node in words, for messages.
    fileprivate var phrase: String {
        switch self {
        case .scalar(let scalar): scalar.string.quotedForMessage
        case .mapping: "a section"
        case .sequence: "a list"
        case .alias: "an alias"
        }
    }

    /// The value as JSON has it: plain scalars are numbers or booleans where they look so, by YAML 1.2's JSON schema.
    var jsonValue: JSONValue {
        switch self {
        case .scalar(let scalar):
            guard scalar.style == .plain || scalar.style == .any else { return .string(scalar.string) }
            switch scalar.string {
            case "null": return .null
            case "true": return .bool(true)
            case "false": return .bool(false)
            case let text:
                // One that begins with zeros or a plus is none of JSON's: it may be an id of digits.
                let isNumber =
                    text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
                    && text.prefixMatch(of: /\+|-?0[0-9]/) == nil
                if isNumber, let int = Int64(text) { return .int(int) }
                if isNumber, let double = Double(text) { return .double(double) }
                return .string(text)
            }
        case .sequence(let sequence): return .array(sequence.map(\.jsonValue))
        case .mapping(let mapping):
            return .object(
                mapping.map { JSONValue.Member(name: $0.key.scalar?.string ?? "", value: $0.value.jsonValue) }
            )
        case .alias: return .null
        }
    }
}
