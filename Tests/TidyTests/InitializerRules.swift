/// The number of an initialiser's parameters.
///
/// One with many parameters makes a part of everything at hand. Parameters that belong together are a value of their own. Memberwise ones,
/// which store each parameter under its name, are the list of a value's members and may be as long as that.
enum InitializerRules {
    /// The most parameters.
    static let parametersMax = 8

    /// Those that ask for more still, by file. A file that asks for no more than it may leaves this list, and none comes to it.
    static let known: Set<String> = [
        "Sources/HTTPTransport/HTTPRequest.swift", "Sources/Ingest/Push/BulkExchange.swift",
        "Sources/JournalJetStream/Configuration.swift",
    ]

    /// An initialiser as it stands in a file.
    struct Initializer: Hashable {
        /// From 1.
        let line: Int
        let parameters: Int
        let isMemberwise: Bool
    }

    private static let modifiers: Set<Substring> = [
        "package", "public", "private", "fileprivate", "internal", "convenience", "required", "override", "nonisolated",
    ]

    /// The initialisers that a file declares.
    static func initializers(in source: SwiftText) -> [Initializer] {
        let lines = source.lines
        return lines.indices.compactMap { index in
            let words = lines[index].split(separator: " ").drop { self.modifiers.contains($0) || $0.hasPrefix("@") }
            guard let first = words.first, first.hasPrefix("init("), first != "init()" else { return nil }
            let rest = lines[index...].joined(separator: "\n")
            guard let open = rest.firstIndex(of: "("), let close = self.end(of: rest, from: open) else { return nil }
            let list = rest[rest.index(after: open)..<close]
            var isMemberwise = false
            if let brace = rest[close...].firstIndex(of: "{"), let end = self.end(of: rest, from: brace) {
                isMemberwise = self.isMemberwise(rest[rest.index(after: brace)..<end])
            }
            return Initializer(
                line: index + 1,
                parameters: self.parameters(in: list),
                isMemberwise: isMemberwise
            )
        }
    }

    /// By how much a character opens or closes brackets.
    private static func deepens(_ character: Character) -> Int {
        switch character {
        case "(", "[", "{": 1
        case ")", "]", "}": -1
        default: 0
        }
    }

    /// The bracket that closes the one at a place.
    private static func end(of text: String, from open: String.Index) -> String.Index? {
        var depth = 0
        var place = open
        while place < text.endIndex {
            depth += self.deepens(text[place])
            if depth == 0 { return place }
            place = text.index(after: place)
        }
        return nil
    }

    /// Parameters have a colon each beside the brackets of their types and defaults.
    private static func parameters(in list: Substring) -> Int {
        var depth = 0
        var count = 0
        for character in list {
            depth += self.deepens(character)
            if depth == 0, character == ":" { count += 1 }
        }
        return count
    }

    private static func isMemberwise(_ body: Substring) -> Bool {
        for line in body.split(separator: "\n") {
            let words: [Substring] = line.split(separator: " ")
            if words.isEmpty { continue }
            guard words.count == 3, words[1] == "=", words[0] == "self.\(words[2])" else { return false }
        }
        return true
    }

    static func violations(_ path: String, _ source: SwiftText, known: Set<String>) -> [Violation] {
        guard Rules.target(of: path) != nil else { return [] }
        let large = self.initializers(in: source).filter { $0.parameters > self.parametersMax && !$0.isMemberwise }
        if known.contains(path) {
            return large.isEmpty ? [Violation(path, 0, "take it out of InitializerRules.known")] : []
        }
        return large.map { each in
            let sentence =
                "has \(each.parameters) parameters, at most \(self.parametersMax); make a value of what belongs together"
            return Violation(path, each.line, sentence)
        }
    }
}
