package import Partitions
package import WidgetModel

/// A JSON object from a request body, read member by member.
///
/// Every fault names the path of the member and the expected value. ``finish()`` refuses members that no reader asked
/// for, so that a misspelt key is an error and not a silent default.
package struct RequestObject {
    private let members: NamedMembers<JSONValue.Member>
    private let path: String
    /// The names that were asked for; so few that a set would cost more.
    private var taken: [String] = []

    /// An object at a place in the body.
    ///
    /// - Parameters:
    ///   - value: The value there.
    ///   - path: The place, empty for the whole body.
    package init(_ value: JSONValue, at path: String = "") throws(Problem) {
        let members = try value.members(at: path)
        self.members = NamedMembers(members)
        self.path = path
        if let null = members.first(where: { $0.value == .null }) {
            throw self.problem(null.name, "is null, which means nothing here; leave it out")
        }
    }

    /// The path of a member.
    package func path(of name: String) -> String {
        self.path.isEmpty ? name : "\(self.path).\(name)"
    }

    /// A problem with a member's value.
    package func problem(_ name: String, _ sentence: String, code: Problem.Code = .badRequest) -> Problem {
        Problem(code, sentence, path: self.path(of: name))
    }

    /// The member's value, or nil if it is absent.
    package mutating func value(_ name: String) -> JSONValue? {
        self.taken.append(name)
        return self.members.first(named: name)?.value
    }

    package mutating func string(_ name: String, bytesMax: Int = 1024) throws(Problem) -> String? {
        guard let value = self.value(name) else { return nil }
        guard case .string(let string) = value else { throw self.mismatch(name, "a string", value) }
        guard string.utf8.count <= bytesMax else {
            throw self.problem(name, "is \(string.utf8.count) bytes, at most \(bytesMax) are allowed")
        }
        return string
    }

    package mutating func requiredString(_ name: String, bytesMax: Int = 1024) throws(Problem) -> String {
        guard let string = try self.string(name, bytesMax: bytesMax) else {
            throw self.problem(name, "is required: a string")
        }
        guard !string.isEmpty else { throw self.problem(name, "must not be empty") }
        return string
    }

    package mutating func bool(_ name: String) throws(Problem) -> Bool? {
        guard let value = self.value(name) else { return nil }
        guard case .bool(let bool) = value else { throw self.mismatch(name, "true or false", value) }
        return bool
    }

    package mutating func int(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let value = self.value(name) else { return nil }
        switch value {
        case .int(let int) where range.contains(int): return int
        case .int(let int): throw self.outside(name, "\(int)", range)
        case .unsigned(let int): throw self.outside(name, "\(int)", range)
        default: throw self.mismatch(name, "an integer", value)
        }
    }

    package mutating func double(_ name: String) throws(Problem) -> Double? {
        guard let value = self.value(name) else { return nil }
        switch value {
        case .int(let int): return Double(int)
        case .unsigned(let int): return Double(int)
        case .double(let double): return double
        default: throw self.mismatch(name, "a number", value)
        }
    }

    package mutating func array(_ name: String, countMax: Int) throws(Problem) -> [JSONValue]? {
        guard let value = self.value(name) else { return nil }
        guard case .array(let elements) = value else { throw self.mismatch(name, "an array", value) }
        guard elements.count <= countMax else {
            let sentence = "has \(elements.count) elements, at most \(countMax) are allowed"
            throw self.problem(name, sentence, code: .tooLarge)
        }
        return elements
    }

    package mutating func strings(_ name: String, countMax: Int, bytesMax: Int = 256) throws(Problem) -> [String]? {
        guard let elements = try self.array(name, countMax: countMax) else { return nil }
        var strings: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let string) = element else {
                throw self.problem("\(name)[\(index)]", "expected a string, found \(element.typeName)")
            }
            guard string.utf8.count <= bytesMax else {
                throw self.problem("\(name)[\(index)]", "is longer than \(bytesMax) bytes")
            }
            strings.append(string)
        }
        return strings
    }

    package mutating func object(_ name: String) throws(Problem) -> RequestObject? {
        guard let value = self.value(name) else { return nil }
        return try RequestObject(value, at: self.path(of: name))
    }

    /// Refuses members that were not asked for.
    package func finish() throws(Problem) {
        guard let unknown = self.members.all.first(where: { !self.taken.contains($0.name) }) else { return }
        let known = Set(self.taken).sorted().joined(separator: ", ")
        throw self.problem(unknown.name, "is unknown; the members are \(known)")
    }

    private func outside(_ name: String, _ number: String, _ range: ClosedRange<Int64>) -> Problem {
        self.problem(name, "is \(number), expected \(range.lowerBound) to \(range.upperBound)")
    }

    private func mismatch(_ name: String, _ expected: String, _ value: JSONValue) -> Problem {
        self.problem(name, "expected \(expected), found \(value.typeName)")
    }
}

extension RequestObject {
    /// An RFC 3339 date with an offset.
    package mutating func instant(_ name: String) throws(Problem) -> Instant? {
        guard let text = try self.string(name, bytesMax: 64) else { return nil }
        do throws(RFC3339.ParseError) {
            return try RFC3339.parse(text)
        } catch {
            throw self.problem(name, "expected an RFC 3339 date, as in 2026-11-21T12:00:00Z: \(error.sentence)")
        }
    }
}

extension JSONValue {
    /// The members of an object at a place in the body.
    ///
    /// - Throws: `bad-request` if it is none.
    package func members(at path: String = "") throws(Problem) -> [Member] {
        guard case .object(let members) = self else {
            throw Problem(.badRequest, "expected an object, found \(self.typeName)", path: path.isEmpty ? nil : path)
        }
        return members
    }
}
