import FoundationEssentials
import IntentMatching
import Settings
import Testing
import WidgetModel

/// `deploy/freshet.example.yaml`.
enum ExampleFile {
    static let text: String = {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath().path
        let root = file.split(separator: "/").dropLast(3).joined(separator: "/")
        return (try? String(contentsOfFile: "/\(root)/deploy/freshet.example.yaml", encoding: .utf8)) ?? ""
    }()

    /// The file with its samples in place: lines on which `#` stands directly before a key.
    static let uncommented: String = text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { line in
            let isSample = line.hasPrefix("#") && (!line.hasPrefix("# ") || line.hasPrefix("#  ")) && line != "#"
            return isSample ? String(line.dropFirst()) : String(line)
        }
        .joined(separator: "\n")
}

/// The example, and the printer that writes the same without words.
@Suite struct ConfigurationExampleTests {
    @Test func `the example states the defaults`() throws {
        #expect(ExampleFile.text.hasPrefix("# Freshet's configuration"))
        #expect(try ConfigurationFile.parse(ExampleFile.text).configuration == GatewayConfiguration())
    }

    @Test func `the example's samples are a configuration too`() throws {
        let configuration = try ConfigurationFile.parse(ExampleFile.uncommented).configuration
        #expect(configuration.apps.map(\.bundleID) == [BundleID("com.example.scores")])
        #expect(configuration.apps.first?.schemas.first?.parameters.map(\.name) == ["leagues", "since", "team"])
    }

    @Test(arguments: ConfigurationFile.keyPaths)
    func `the example explains every key`(path: String) {
        // Sections that one place explains for several: a policy's keys at policies, a listener's certificate at push.
        let isElsewhere =
            path.contains(".budget.") || path.hasPrefix("listeners.host.tls") || path.hasPrefix("listeners.ops.tls")
            || path.hasPrefix("listeners.manage.tls")
        guard !isElsewhere else { return }
        let names = path.replacing("[]", with: "").split(separator: ".")
        let lines = ExampleFile.uncommented.split(separator: "\n").map { line in
            line.drop { $0 == " " || $0 == "-" }
        }
        // The keys of the path occur in this order, each as a key.
        var rest = lines[...]
        for name in names {
            guard let place = rest.firstIndex(where: { $0.hasPrefix("\(name):") }) else {
                Issue.record("\(path) is not in deploy/freshet.example.yaml")
                return
            }
            rest = rest[(place + 1)...]
        }
    }

    @Test func `what is printed reads back as the same`() throws {
        for text in ["", ExampleFile.text, ExampleFile.uncommented, Self.awkward] {
            let configuration = try ConfigurationFile.parse(text).configuration
            let printed = ConfigurationFile.text(of: configuration)
            #expect(try ConfigurationFile.parse(printed).configuration == configuration)
            #expect(ConfigurationFile.text(of: try ConfigurationFile.parse(printed).configuration) == printed)
        }
        #expect(ConfigurationFile.text(of: GatewayConfiguration()) == ConfigurationFile.defaultText)
    }

    /// Texts that YAML would take for something else.
    private static let awkward = """
        dataDirectory: "/srv/my data: #1"
        teams:
          - id: "1234567890"
            keys: [{id: "007", file: "null"}, {id: "1e5", file: "a\\"b\\\\c\\u0001ü"}]
          - {id: "true"}
        policies:
          - {name: "yes", window: 90m, anchor: utc, rare: 1, typical: 2, frequent: 3, minimumInterval: 1500ms}
          - {name: t, window: tuned}
          - {name: n, window: none, rare: 0, typical: 0, frequent: 0}
        apps:
          - bundleID: a.b
            team: "1234567890"
            budget: "yes"
            kinds:
              - {kind: "- x", budget: t}
              - kind: "24h"
                budget: {preset: home-assistant, scope: instance}
                parameters:
                  - {name: a, type: string, default: "5"}
                  - {name: b, type: double, default: 5}
                  - {name: c, type: bool, default: false}
                  - {name: d, type: string, default: "2026-11-21"}
                  - {name: e, type: date, default: "2026-11-21T00:00:00.5Z"}
                  - {name: f, type: int, array: true, default: [-1, 2]}
                  - {name: g, type: string, array: true, default: []}
                  - {name: h.i, type: enumeration, cases: ["on", "off"], default: "on"}
                  - {name: j, type: double, default: 1.0e+300}
        """
}

/// The JSON Schema for editors.
@Suite struct ConfigurationSchemaTests {
    /// The paths of a schema's keys, in its order.
    private static func paths(_ schema: JSONValue, _ prefix: String = "") -> [String] {
        if let items = schema["items"] { return Self.paths(items, "\(prefix)[]") }
        if case .array(let choices)? = schema["anyOf"] { return choices.flatMap { Self.paths($0, prefix) } }
        guard case .object(let members)? = schema["properties"] else { return [] }
        return members.flatMap { member in
            let path = prefix.isEmpty ? member.name : "\(prefix).\(member.name)"
            return [path] + Self.paths(member.value, path)
        }
    }

    @Test func `it has every key of the configuration and no other`() {
        #expect(Self.paths(ConfigurationFile.schema) == ConfigurationFile.keyPaths)
    }

    /// The description of a key by its path.
    private static func description(_ path: String) -> String? {
        var schema = ConfigurationFile.schema
        for name in path.split(separator: ".") {
            schema = schema["properties"]?[String(name).replacing("[]", with: "")] ?? .null
            if name.hasSuffix("[]") { schema = schema["items"] ?? .null }
        }
        guard case .string(let text)? = schema["description"] else { return nil }
        return text
    }

    @Test(arguments: [
        ("partitions", "The number of partitions", "An integer from 1 to 64."),
        ("teams", "The teams that may push.", "No default."),
        ("teams[].id", "The team's id", "An id of 1 to 64 letters, digits, hyphens and underscores."),
        ("teams[].keys[].relatedKey", "The one other key", "letters, digits, hyphens and underscores."),
        ("policies[].learning.days", "An integer", "An integer from 0 to 365."),
        ("apps[].kinds[].usesLocation", "Whether a significant change", "True or false."),
    ])
    func `a key's description is what the example says, and what its value has to be`(
        _ path: String,
        _ beginning: String,
        _ end: String
    ) throws {
        let text = try #require(Self.description(path))
        #expect(text.hasPrefix(beginning) && text.hasSuffix(end), "\(text)")
    }
}
