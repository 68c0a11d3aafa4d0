/// A place that breaks a rule.
struct Violation: Hashable, CustomStringConvertible {
    let path: String
    /// From 1; 0 for the file as a whole.
    let line: Int
    let sentence: String

    init(_ path: String, _ line: Int, _ sentence: String) {
        self.path = path
        self.line = line
        self.sentence = sentence
    }

    var description: String {
        self.line == 0 ? "\(self.path): \(self.sentence)" : "\(self.path):\(self.line): \(self.sentence)"
    }
}

/// The repository's own lint. Each rule is a function of a path, relative to the package, and a text.
enum Rules {
    /// The longest file of Swift in lines.
    static func linesMax(_ path: String) -> Int {
        if ["Engine", "IntentMatching", "Timelines", "Storage"].contains(self.target(of: path)) { return 400 }
        return path.hasPrefix("Sources/") ? 500 : 700
    }

    /// Words that say that something is not done. Spelled in parts, so that this file has none of them.
    static let unfinished: Set<Substring> = Set(["TO" + "DO", "FIX" + "ME", "X" + "XX"].map { Substring($0) })

    /// Names that say nothing about their contents.
    static let hollowNames: Set<String> = ["Core", "Common", "Utils", "Util", "Helpers", "Helper", "Manager"]

    static func target(of path: String) -> String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    /// The module that a line imports, `B` for `package import struct B.C`.
    static func module(importedBy line: Substring) -> String? {
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), place + 1 < words.count else { return nil }
        let modifiers: Set<Substring> = ["package", "public", "internal", "private", "fileprivate"]
        guard words[..<place].allSatisfy({ modifiers.contains($0) || $0.hasPrefix("@") }) else { return nil }
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        let name = kinds.contains(words[place + 1]) && place + 2 < words.count ? words[place + 2] : words[place + 1]
        return name.split { $0 == "." || $0 == ";" }.first.map(String.init)
    }

    static func imports(_ path: String, _ source: SwiftText) -> [Violation] {
        var violations: [Violation] = []
        for (index, line) in source.lines.enumerated() {
            guard let module = self.module(importedBy: line) else { continue }
            if AllowedImports.never.contains(module), !path.hasPrefix(AllowedImports.foreign) {
                violations.append(Violation(path, index + 1, "\(module) is not used in this repository"))
            }
            guard let target = self.target(of: path) else { continue }
            let allowed = AllowedImports.ours[target, default: []].union(AllowedImports.others[target, default: []])
            if !allowed.contains(module) {
                let sentence = "\(target) may not import \(module); see the table in AllowedImports.swift"
                violations.append(Violation(path, index + 1, sentence))
            }
            for (confined, folders) in AllowedImports.confined where confined == module {
                guard !folders.contains(where: { path.hasPrefix($0) }) else { continue }
                violations.append(
                    Violation(path, index + 1, "\(module) stays in \(folders.joined(separator: " and "))")
                )
            }
        }
        return violations
    }

    static func unsafe(_ path: String, _ source: SwiftText) -> [Violation] {
        guard self.target(of: path) != nil, !AllowedImports.allowsUnsafe(path) else { return [] }
        return self.words(path, source, ["unsafe"]) { _ in
            "unsafe stays in the wrappers around C and in Storage"
        }
    }

    /// The engine's parts: folders of `Sources/Engine`, each with the type of its name.
    static let engineParts = ["Catalogue", "Registry", "Schedule", "Reloads", "Ledger"]

    /// The tables that a part owns: the types of its folder that cannot be copied, but for the part itself.
    static func tables(of part: String, _ files: [(path: String, source: SwiftText)]) -> Set<String> {
        var tables: Set<String> = []
        for file in files where file.path.hasPrefix("Sources/Engine/\(part)/") {
            for line in file.source.lines where line.contains("~Copyable") && line.contains("struct ") {
                let words = line.split { !$0.isLetter }
                guard let place = words.firstIndex(of: "struct"), place + 1 < words.count else { continue }
                if words[place + 1] != part { tables.insert(String(words[place + 1])) }
            }
        }
        return tables
    }

    /// The members that a part stores for its own folder: the variables of its type that are not computed. Left out are
    /// those that others may read since only its file can write them.
    static func members(of part: String, _ files: [(path: String, source: SwiftText)]) -> Set<String> {
        let own = files.first { $0.path == "Sources/Engine/\(part)/\(part).swift" }
        let lines = own?.source.lines ?? []
        return Set(
            lines.compactMap { line in
                let words = line.split(separator: " ")
                guard line.hasPrefix("    var "), !line.contains("{"), words.count > 1 else { return nil }
                return String(words[1].prefix { $0 != ":" })
            }
        )
    }

    /// No part of the engine names another's tables, and neither does the loop over records: the part has a verb for each use of them.
    /// Snapshots write tables down and read them back.
    static func parts(_ files: [(path: String, source: SwiftText)]) -> [Violation] {
        self.engineParts.flatMap { part in
            let tables = self.tables(of: part, files)
            let members = self.members(of: part, files)
            return files.flatMap { path, source -> [Violation] in
                let own = ["Sources/Engine/\(part)/", "Sources/Engine/Snapshot/"]
                guard path.hasPrefix("Sources/Engine/"), !own.contains(where: { path.hasPrefix($0) }) else { return [] }
                return self.words(path, source, tables) { "\($0) is a table of \(part); ask \(part) instead" }
                    + self.reaches(path, source, into: part, members)
            }
        }
    }

    /// A violation for each line that reaches through a part, as `registry.hosts`, for what the part stores.
    private static func reaches(
        _ path: String,
        _ source: SwiftText,
        into part: String,
        _ members: Set<String>
    ) -> [Violation] {
        let name = part.lowercased() + "."
        return source.lines.enumerated().compactMap { index, line in
            var rest = line[...]
            while let found = rest.firstRange(of: name) {
                let isWhole = rest[..<found.lowerBound].last.map { !$0.isLetter } ?? true
                rest = rest[found.upperBound...]
                let member = rest.prefix { $0.isLetter }
                guard isWhole, members.contains(String(member)), rest.dropFirst(member.count).first != "(" else {
                    continue
                }
                return Violation(path, index + 1, "\(member) is stored by \(part); ask \(part) instead")
            }
            return nil
        }
    }

    static func purity(_ path: String, _ source: SwiftText) -> [Violation] {
        guard let target = self.target(of: path), AllowedImports.pure.contains(target) else { return [] }
        return self.words(path, source, AllowedImports.impureWords) { word in
            "\(word): \(target) is pure, without clock, dice, I/O and waiting"
        }
    }

    /// A violation for each line that has one of the words outside of comments and literals.
    private static func words(
        _ path: String,
        _ source: SwiftText,
        _ words: Set<String>,
        _ sentence: (Substring) -> String
    ) -> [Violation] {
        source.lines.enumerated().compactMap { index, line in
            let found = SwiftText.words(of: line).first { words.contains(String($0)) }
            return found.map { Violation(path, index + 1, sentence($0)) }
        }
    }

    /// Scripts run long commands by `step`, which shows that a command goes on and prints a failed one's words. The rule finds long
    /// commands that send their words elsewhere or ask for none. It skips lines that continue the one above.
    static func steps(_ path: String, _ text: String) -> [Violation] {
        let long = ["swift build", "swift test", "apt-get ", "pip install"]
        var isContinued = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            defer { isContinued = line.hasSuffix("\\") }
            // A command to run after a failure is no pipe.
            let said = line.replacing("||", with: "")
            guard !isContinued, line.first(where: { $0 != " " }) != "#",
                !["step \"", "echo \""].contains(where: { line.contains($0) }),
                let word = long.first(where: { line.contains($0) }),
                ["|", ">", " -q", " --quiet"].contains(where: { said.contains($0) })
            else { return nil }
            return Violation(path, index + 1, "\(word) loses its words here; do it by step (deploy/step.sh)")
        }
    }

    static func length(_ path: String, _ source: SwiftText) -> [Violation] {
        let count = source.originalLines.last == "" ? source.originalLines.count - 1 : source.originalLines.count
        let max = self.linesMax(path)
        return count > max ? [Violation(path, 0, "has \(count) lines, at most \(max)")] : []
    }

    static func unfinished(_ path: String, _ text: String) -> [Violation] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            let found = SwiftText.words(of: line).first { self.unfinished.contains($0) }
            return found.map { Violation(path, index + 1, "\($0): do it, or write down the decision not to") }
        }
    }

    /// Top-level types that other targets see are explained where they are declared, and everything that other packages see.
    static func documentation(_ path: String, _ source: SwiftText) -> [Violation] {
        guard self.target(of: path) != nil else { return [] }
        let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        return source.lines.enumerated().compactMap { index, line in
            let words = line.split(separator: " ")
            if words.first == "public", words.dropFirst().first != "import", !self.isExplained(index, source) {
                return Violation(path, index + 1, "other packages see this: say what it is")
            }
            guard line.first != " ", let access = words.firstIndex(of: "package"),
                let kind = words.firstIndex(where: { kinds.contains($0) }), access < kind, kind + 1 < words.count,
                words[access..<kind].allSatisfy({ !["func", "var", "let", "init", "import", "extension"].contains($0) })
            else { return nil }
            if self.isExplained(index, source) { return nil }
            let name = words[kind + 1].prefix { $0.isLetter || $0.isNumber }
            return Violation(path, index + 1, "\(name) has no doc comment: say what it is")
        }
    }

    /// Whether a doc comment stands above a line. Attributes may stand on lines of their own in between.
    private static func isExplained(_ index: Int, _ source: SwiftText) -> Bool {
        let above = source.originalLines[..<index].reversed().map { $0.drop { $0 == " " } }
        return above.first { !$0.hasPrefix("@") }?.hasPrefix("///") ?? false
    }

    static func names(_ path: String) -> [Violation] {
        let parts = path.split(separator: "/").flatMap { $0.split { $0 == "." || $0 == "+" } }.map(String.init)
        let isHollow = parts.contains { part in
            self.hollowNames.contains(part) || part.hasSuffix("Manager") || part.hasSuffix("Helper")
                || part.hasSuffix("Utils")
        }
        return isHollow ? [Violation(path, 0, "the name says nothing about what is inside")] : []
    }

    /// Every folder of Sources is a target of the manifest and a row of the table, and the other way round.
    static func targets(folders: Set<String>, manifest: String) -> [Violation] {
        let declared = Set(folders.union(AllowedImports.ours.keys).filter { manifest.contains("\"\($0)\"") })
        let undeclared = folders.subtracting(declared).sorted().map {
            Violation("Sources/\($0)", 0, "is not declared in Package.swift")
        }
        let unlisted = folders.subtracting(AllowedImports.ours.keys).sorted().map {
            Violation("Sources/\($0)", 0, "is not in the table of AllowedImports.swift")
        }
        let missing = Set(AllowedImports.ours.keys).subtracting(folders).sorted().map {
            Violation("Sources/\($0)", 0, "is in the table of AllowedImports.swift, but is no folder")
        }
        return undeclared + unlisted + missing
    }
}
