/// Rules for pages of Markdown.
enum PageRules {
    /// The lines outside of fenced code, with their numbers from 1.
    static func prose(_ text: String) -> [(number: Int, line: Substring)] {
        var isCode = false
        var prose: [(number: Int, line: Substring)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
            } else if !isCode {
                prose.append((index + 1, line))
            }
        }
        return prose
    }

    static func headings(_ path: String, _ text: String) -> [Violation] {
        let count = self.prose(text).filter { $0.line.hasPrefix("# ") }.count
        return count == 1 ? [] : [Violation(path, 0, "has \(count) headings of the first level, not one")]
    }

    /// Links to files that do not exist, and to headings that the page does not have.
    ///
    /// - Parameters:
    ///   - path: The page.
    ///   - text: Its text.
    ///   - page: The text of a path relative to the package: "" for a folder or a file that is no page, nil if there is
    ///     nothing.
    static func links(_ path: String, _ text: String, page: (String) -> String?) -> [Violation] {
        self.prose(text).flatMap { number, line in
            self.targets(in: line).compactMap { target in
                let sentence = self.fault(in: target, from: path, text: text, page: page)
                return sentence.map { Violation(path, number, $0) }
            }
        }
    }

    private static func fault(
        in target: String,
        from path: String,
        text: String,
        page: (String) -> String?
    ) -> String? {
        if ["http://", "https://", "mailto:"].contains(where: { target.hasPrefix($0) }) { return nil }
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let file = String(parts[0])
        let folder = path.split(separator: "/").dropLast().map(String.init)
        guard let linked = file.isEmpty ? text : page(self.resolve(file, in: folder)) else {
            return "the link \(target) leads nowhere"
        }
        guard parts.count == 2, !linked.isEmpty || file.isEmpty else { return nil }
        return self.hasHeading(parts[1], linked) ? nil : "the link \(target) leads to no heading"
    }

    /// Whether a page has a heading with an anchor.
    static func hasHeading(_ anchor: Substring, _ text: String) -> Bool {
        self.prose(text).contains { $0.line.hasPrefix("#") && self.anchor(of: $0.line) == anchor }
    }

    /// The places that `[text](place)` links to, code spans left out.
    static func targets(in line: Substring) -> [String] {
        var targets: [String] = []
        let outside = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset.isMultiple(of: 2) ? $0.element : "code" }
            .joined()
        var rest = outside[...]
        while let open = rest.firstRange(of: "](") {
            rest = rest[open.upperBound...]
            guard let close = rest.firstIndex(of: ")") else { break }
            targets.append(String(rest[..<close].split(separator: " ").first ?? ""))
            rest = rest[close...]
        }
        return targets
    }

    /// The path relative to the package, `..` taken away.
    static func resolve(_ path: String, in folder: [String]) -> String {
        var parts = path.hasPrefix("/") ? [] : folder
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }

    /// The anchor that GitHub gives a heading.
    static func anchor(of heading: Substring) -> String {
        let title = heading.drop { $0 == "#" }.drop { $0 == " " }
        return String(
            title.lowercased().compactMap { character in
                if character == " " { return "-" }
                return character.isLetter || character.isNumber || character == "-" || character == "_"
                    ? character : nil
            }
        )
    }

    /// Types that a table's third column names and the sources do not declare.
    static func types(_ path: String, _ text: String, declared: Set<String>) -> [Violation] {
        self.prose(text).flatMap { number, line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count > 4 else { return [Violation]() }
            let names = cells[3].split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }
                .map { String($0.element.prefix { $0 != "." }) }
            return names.filter { !declared.contains($0) }.map { Violation(path, number, "there is no type \($0)") }
        }
    }

    /// The types that a source declares, nested ones included.
    static func types(in source: SwiftText) -> [String] {
        source.lines.flatMap { line in
            let words = SwiftText.words(of: line)
            let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
            return zip(words, words.dropFirst()).filter { kinds.contains($0.0) }.map { String($0.1) }
        }
    }
}
