/// The explanation of each key in `deploy/freshet.example.yaml`: the comment above it.
enum SettingExplanations {
    /// By key path, list elements with `[]`.
    static let all = Self.read(EmbeddedText.freshet_example_yaml)

    /// A key whose value may go on in the lines below.
    private struct Key {
        let column: Int
        /// The path of its section, with a dot.
        let prefix: String
        let name: String
    }

    /// - Parameter text: YAML in blocks. Samples are lines on which `#` stands directly before a key.
    static func read(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        var comment: [Substring] = []
        var open: [Key] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.drop { $0 == " " }
            let isSample = line.hasPrefix("#") && (!line.hasPrefix("# ") || line.hasPrefix("#  ")) && line != "#"
            if words.hasPrefix("#"), !isSample {
                comment.append(words.dropFirst(2))
                continue
            }
            defer { comment = [] }
            let code = isSample ? line.dropFirst() : line
            let isElement = code.drop { $0 == " " }.hasPrefix("- ")
            let rest = code.drop { $0 == " " || $0 == "-" }
            let name = rest.prefix { $0.isLetter }
            guard !name.isEmpty, rest.dropFirst(name.count).first == ":" else { continue }
            let column = code.count - rest.count
            var sibling: Key?
            while let last = open.last, last.column >= column { sibling = open.removeLast() }
            let outer = open.last.map { "\($0.prefix)\($0.name)\(isElement ? "[]" : "")." } ?? ""
            let key = Key(column: column, prefix: sibling?.prefix ?? outer, name: String(name))
            open.append(key)
            if !comment.isEmpty { found[key.prefix + key.name] = comment.joined(separator: " ") }
        }
        return found
    }
}
