import ArgumentParser
import Foundation
import Testing

@testable import FreshetCLI

/// The program's help on its verbs, and the pages that name them.
@Suite struct VerbHelpTests {
    /// A verb with the words that it is called by.
    struct Verb: Sendable, CustomStringConvertible {
        let words: [String]
        let type: any ParsableCommand.Type

        var description: String { self.words.joined(separator: " ") }
    }

    /// Every verb, groups of verbs among them.
    static let verbs: [Verb] = Self.verbs(below: Verb(words: ["freshet"], type: Freshet.self))

    private static func verbs(below verb: Verb) -> [Verb] {
        verb.type.configuration.subcommands.flatMap { type in
            let name = type.configuration.commandName ?? Self.name(of: type)
            let inner = Verb(words: verb.words + [name], type: type)
            return [inner] + Self.verbs(below: inner)
        }
    }

    /// As ArgumentParser makes one of a type's.
    private static func name(of type: any ParsableCommand.Type) -> String {
        "\(type)".enumerated().map { index, letter in
            letter.isUppercase && index > 0 ? "-\(letter.lowercased())" : letter.lowercased()
        }.joined()
    }

    /// The command lines of a text, which are indented, as a shell splits them: up to a pipe or a file.
    private static func examples(in text: String) -> [[String]] {
        text.replacing(/\\\n\s*/, with: "").split(separator: "\n").compactMap { line in
            line.hasPrefix("  freshet ") ? Self.words(line.drop { $0 == " " }) : nil
        }
    }

    private static func words(_ line: Substring) -> [String] {
        var (words, word, quote) = ([String](), String?.none, Character?.none)
        for character in line + " " {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " {
                if word == "|" || word == ">" { return words }
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words
    }

    @Test func `there are the verbs that there are`() {
        let names = Self.verbs.map(\.description)
        for name in ["freshet serve", "freshet pushes show", "freshet context set", "freshet token inspect"] {
            #expect(names.contains(name), "\(names)")
        }
    }

    @Test(arguments: VerbHelpTests.verbs)
    func `a verb has a discussion with an example of it that parses`(verb: Verb) throws {
        let configuration = verb.type.configuration
        #expect(!configuration.abstract.isEmpty)
        let examples = Self.examples(in: configuration.discussion)
        #expect(examples.contains { $0.starts(with: verb.words) }, "no example in: \(configuration.discussion)")
        for example in examples {
            #expect(throws: Never.self, "\(example)") { _ = try Freshet.parseAsRoot(Array(example.dropFirst())) }
        }
    }

    @Test(arguments: VerbHelpTests.verbs)
    func `help fits a terminal of 80 columns: examples in a line each, abstracts in two of the list`(verb: Verb) {
        #expect(verb.type.configuration.abstract.count <= 104)
        for line in verb.type.configuration.discussion.split(separator: "\n") where line.hasPrefix("  ") {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test(arguments: [
        ("pause", ["app", "kind", "sender"]), ("resume", ["app", "kind", "sender"]),
        ("cancel", ["app", "kind", "host", "instance", "sender", "push"]),
        ("grant", ["app", "kind", "host", "instance"]), ("reload-widgets", ["app", "kind", "host", "instance"]),
    ])
    func `an order's verb offers what its order can be about, and nothing else`(name: String, places: [String]) throws {
        let verb = try #require(Self.verbs.first { $0.words == ["freshet", name] })
        let options = Freshet.helpMessage(for: verb.type).split(separator: "\n").compactMap { line in
            line.hasPrefix("  --") ? line.dropFirst(4).prefix { $0 != " " } : nil
        }
        let all: Set<Substring> = ["app", "kind", "host", "sender", "instance", "push"]
        #expect(options.filter { all.contains($0) } == places.map { $0[...] })
    }

    /// The verbs without the switch --json, and why.
    private static let withoutSwitch = [
        "freshet default-config": "it prints a file, which is YAML",
        "freshet schema": "it prints JSON alone",
        "freshet serve": "it has a log and no answer; log.format is for that",
        "freshet export": "it writes NDJSON alone",
        "freshet log export": "it prints NDJSON alone",
        "freshet log outputs": "it prints NDJSON alone",
        "freshet api": "it prints what the route answers, which is JSON where it is not a text",
    ]

    @Test func `every verb that answers has the switch for JSON`() {
        let leaves = Self.verbs.filter { $0.type.configuration.subcommands.isEmpty }
        let without = leaves.filter { verb in
            let lines = Freshet.helpMessage(for: verb.type).split(separator: "\n")
            return !lines.contains { $0.hasPrefix("  --json ") && !$0.hasPrefix("  --json <") }
        }
        #expect(Set(without.map(\.description)) == Set(Self.withoutSwitch.keys))
    }

    @Test func `every verb is on a page`() throws {
        let root = URL(filePath: TestGateway.root)
        var text = ""
        for folder in ["docs", "deploy"] {
            let names = try #require(FileManager.default.enumerator(atPath: root.appending(path: folder).path))
            for case let name as String in names where name.hasSuffix(".md") {
                text += try String(contentsOf: root.appending(path: folder).appending(path: name), encoding: .utf8)
            }
        }
        // `freshet hosts show`, or in a table of verbs `hosts show`.
        for verb in Self.verbs {
            let name = verb.words.dropFirst().joined(separator: " ")
            #expect(text.contains("freshet \(name)") || text.contains("`\(name)"), "no page names freshet \(name)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a shell is told how to complete verbs`(shell: String) async throws {
        let script = try await Command.run(TestGateway.program, ["--generate-completion-script", shell])
        #expect(script.status == 0, "\(script.errors)")
        for verb in ["log-level", "instances"] { #expect(script.output.contains(verb)) }
        if shell == "bash" {
            let check = try await Command.run("bash", ["-n"], input: script.output)
            #expect(check.status == 0, "\(check.errors)")
        }
    }
}
