import FoundationEssentials

/// The repository's files as the tests find them.
enum Tree {
    /// The package's folder, found from this file.
    static let root: String = {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath().path
        return "/" + file.split(separator: "/").dropLast(3).joined(separator: "/")
    }()

    static func text(_ path: String) -> String? {
        try? String(contentsOfFile: "\(self.root)/\(path)", encoding: .utf8)
    }

    /// The paths of all files below a folder, relative to the package, sorted; hidden ones left out.
    static func files(in folder: String, ending suffix: String = "") -> [String] {
        var found: [String] = []
        for name in self.names(in: folder) {
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            if self.isFolder(path) {
                found += self.files(in: path, ending: suffix)
            } else if path.hasSuffix(suffix) {
                found.append(path)
            }
        }
        return found
    }

    static func names(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(self.root)/\(folder)")) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: "\(self.root)/\(path)", isDirectory: &isFolder) && isFolder
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(self.root)/\(path)")
    }

    /// Every Swift file of Sources and Tests with its text, read once.
    static let swift: [(path: String, text: String, source: SwiftText)] =
        (Tree.files(in: "Sources", ending: ".swift") + Tree.files(in: "Tests", ending: ".swift")).compactMap { path in
            Tree.text(path).map { (path, $0, SwiftText($0)) }
        }

    /// Every page of Markdown outside of the sources.
    static let pages: [(path: String, text: String)] = {
        let top = Tree.names(in: "").filter { $0.hasSuffix(".md") }
        let below = ["certs-example", "deploy", "docs"].flatMap { Tree.files(in: $0, ending: ".md") }
        return (top + below).compactMap { path in Tree.text(path).map { (path, $0) } }
    }()
}
