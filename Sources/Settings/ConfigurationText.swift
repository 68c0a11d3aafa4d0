import Yams

/// The text of a configuration file, on its way to a tree of nodes.
///
/// Yams stops at the first mapping that has a key twice. Here every later copy is reported at its line and blanked out,
/// so that one run shows these and all other faults.
struct ConfigurationText {
    private let name: String
    private var lines: [Substring]
    private(set) var faults: [SettingFault] = []

    init(_ text: String, name: String) {
        self.name = name
        // A carriage return and a line feed are one character.
        self.lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if text.contains("\r\n") { self.lines = text.split(omittingEmptySubsequences: false) { $0.isNewline } }
    }

    /// The root node, or nil if the text is empty or cannot be read at all.
    mutating func compose() -> Node? {
        // Each round takes away at least one line.
        for _ in 0...self.lines.count {
            do {
                return try Yams.compose(yaml: self.lines.joined(separator: "\n"))
            } catch let error as YamlError {
                guard case .duplicatedKeysInMapping(let keys, let context) = error else {
                    self.report(error)
                    return nil
                }
                guard self.blankOut(keys, from: context.mark) else { return nil }
            } catch {
                self.faults.append(
                    SettingFault(place: .wholeFile(self.name), path: "", sentence: "is not YAML: \(error)")
                )
                return nil
            }
        }
        return nil
    }

    private mutating func report(_ error: YamlError) {
        var place = SettingFault.Place.wholeFile(self.name)
        let sentence: String
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            place = .file(self.name, line: mark.line, column: mark.column)
            let around = context.map { " \($0.text) in line \($0.mark.line)" } ?? ""
            sentence = "is not YAML: \(problem)\(around)"
        case .reader(let problem, _, _, _): sentence = "is not YAML: \(problem)"
        default: sentence = "is not YAML: \(error)"
        }
        let oneLine = sentence.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.faults.append(SettingFault(place: place, path: "", sentence: oneLine))
    }

    /// Takes the later copies of the keys out of the block mapping whose key is at `mark`; false if none was found.
    private mutating func blankOut(_ keys: [String], from mark: Mark) -> Bool {
        let first = mark.line - 1
        let indentation = mark.column - 1
        var seen: Set<String> = []
        var found = false
        var line = first
        while line < self.lines.count {
            let text = self.lines[line]
            let isFirst = line == first
            let depth = isFirst ? indentation : text.prefix { $0 == " " }.count
            let isEmpty = text.allSatisfy { $0 == " " } || text.dropFirst(depth).first == "#"
            if !isEmpty, depth < indentation { break }
            if !isEmpty, depth == indentation, let key = Self.key(of: text.dropFirst(depth)), keys.contains(key) {
                if seen.insert(key).inserted {
                    line += 1
                    continue
                }
                self.reportTwice(key, line: line + 1, column: depth + 1)
                found = true
                repeat {
                    self.lines[line] = ""
                    line += 1
                } while line < self.lines.count && Self.belongs(self.lines[line], under: indentation)
                continue
            }
            line += 1
        }
        if found { return true }
        self.reportTwice(keys.first ?? "", line: mark.line, column: mark.column)
        // In braces: the line can go as a whole if nothing opens or closes in it that another line closes or opens.
        let text = self.lines[first]
        let isWhole = [("{", "}"), ("[", "]")].allSatisfy { (open: Character, close: Character) in
            text.count { $0 == open } == text.count { $0 == close }
        }
        if isWhole { self.lines[first] = "" }
        return isWhole && !text.isEmpty
    }

    private mutating func reportTwice(_ key: String, line: Int, column: Int) {
        let sentence = "the key \(key.quotedForMessage) is given twice in one section; keep one of them"
        self.faults.append(
            SettingFault(place: .file(self.name, line: line, column: column), path: "", sentence: sentence)
        )
    }

    /// The key that a line begins with, without quotes; a list's element begins with none.
    private static func key(of line: Substring) -> String? {
        guard let colon = line.firstIndex(of: ":"), line.first != "-" else { return nil }
        return String(line[..<colon].filter { !"\"' ".contains($0) })
    }

    /// Whether a line continues the value of a key at that depth: deeper, a list's element, or empty.
    private static func belongs(_ line: Substring, under indentation: Int) -> Bool {
        let depth = line.prefix { $0 == " " }.count
        return line.allSatisfy { $0 == " " } || depth > indentation
            || (depth == indentation && line.dropFirst(depth).first == "-")
    }
}
