/// How the folders of a target hang together.
///
/// A folder is what a target's sources are divided into; files beside the folders are one more, `.`. One folder depends on
/// another where it names a type that the other declares. In a circle no folder can be read, tested or moved alone.
enum FolderRules {
    /// Circles that there are: folders by target. A folder that is out of its circle leaves this list, and none comes to it.
    static let known: [String: Set<String>] = [
        "Engine": [
            ".", "Catalogue", "Channels", "Deciding", "Ledger", "Records", "Registry", "Reloads", "Results", "Schedule",
            "Work",
        ],
        "FreshetCLI": [".", "Bench", "Connection", "Doctor", "Init", "Operators"],
        "FreshetClient": ["Models", "Transport"],
        "HTTPTransport": [".", "Client"],
        "IntentMatching": ["Patterns", "Schemas"],
        "JournalSQLite": [".", "Inspection"],
        "LoadGenerator": [".", "Connections", "Driving"],
    ]

    /// A use of one folder by another: a type, and the file that names it.
    struct Use: Hashable {
        let type: String
        let path: String
    }

    private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    private static let modifiers: Set<Substring> = ["package", "public", "final", "indirect", "nonisolated"]
    private static let ownModifiers: Set<Substring> = ["private", "fileprivate"]

    /// The folder of a path below its target, `.` for none.
    static func folder(of path: String) -> String {
        let parts = path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : "."
    }

    /// The types that a file declares at the margin: for others of its target, and for itself alone.
    static func declared(in source: SwiftText) -> (forOthers: [String], own: [String]) {
        var declared: (forOthers: [String], own: [String]) = ([], [])
        for line in source.lines {
            guard let first = line.first, first != " " else { continue }
            let words: [Substring] = line.split(separator: " ")
            let rest = words.drop {
                $0.hasPrefix("@") || self.modifiers.contains($0) || self.ownModifiers.contains($0)
            }
            let isOwn = words[..<rest.startIndex].contains { self.ownModifiers.contains($0) }
            guard let kind = rest.first, self.kinds.contains(kind), let word = rest.dropFirst().first else { continue }
            let name = String(word.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            if isOwn { declared.own.append(name) } else { declared.forOthers.append(name) }
        }
        return declared
    }

    /// The words of a file that may name types of others: those of its imports are modules.
    private static func words(of source: SwiftText) -> Set<Substring> {
        Set(
            source.lines.filter { Rules.module(importedBy: $0) == nil }.flatMap { SwiftText.words(of: $0) }
        )
    }

    /// The types that each folder of a target names of each other one.
    static func uses(_ files: [(path: String, source: SwiftText)]) -> [String: [String: Set<Use>]] {
        let declared = files.map { self.declared(in: $0.source) }
        var homes: [String: String] = [:]
        for (file, types) in zip(files, declared) {
            for type in types.forOthers where homes[type] == nil { homes[type] = self.folder(of: file.path) }
        }
        var uses: [String: [String: Set<Use>]] = [:]
        for (file, types) in zip(files, declared) {
            let folder = self.folder(of: file.path)
            for word in self.words(of: file.source) {
                let type = String(word)
                guard let home = homes[type], home != folder, !types.own.contains(type) else { continue }
                uses[folder, default: [:]][home, default: []].insert(Use(type: type, path: file.path))
            }
        }
        return uses
    }

    /// The folders that depend on themselves by way of others.
    static func inCircles(_ uses: [String: [String: Set<Use>]]) -> Set<String> {
        func reached(from folder: String) -> Set<String> {
            var found: Set<String> = []
            var next = Array(uses[folder, default: [:]].keys)
            while let folder = next.popLast() {
                if found.insert(folder).inserted { next += uses[folder, default: [:]].keys }
            }
            return found
        }
        return Set(uses.keys.filter { reached(from: $0).contains($0) })
    }

    /// No folder of a target depends on another that depends on it, but for circles that are known.
    static func circles(_ files: [(path: String, source: SwiftText)], known: [String: Set<String>]) -> [Violation] {
        let targets = Dictionary(grouping: files) { Rules.target(of: $0.path) ?? "" }.filter { $0.key != "" }
        return targets.sorted { $0.key < $1.key }.flatMap { target, files -> [Violation] in
            let uses = self.uses(files)
            let circle = self.inCircles(uses)
            let known = known[target, default: []]
            let mended = known.subtracting(circle).sorted().map {
                Violation("Sources/\(target)/\($0)", 0, "is in no circle any more: take it out of FolderRules.known")
            }
            let fresh = circle.subtracting(known).sorted().map { folder in
                let arrows = uses[folder, default: [:]].filter { circle.contains($0.key) }.sorted { $0.key < $1.key }
                let words = arrows.map { arrow in
                    let use = arrow.value.min { ($0.path, $0.type) < ($1.path, $1.type) }
                    return
                        "\(arrow.key) (\(use.map { "\($0.type) in \($0.path.split(separator: "/").last ?? "")" } ?? ""))"
                }
                return Violation(
                    "Sources/\(target)/\(folder)",
                    0,
                    "depends in a circle; it uses \(words.joined(separator: ", "))"
                )
            }
            return mended + fresh
        }
    }
}
