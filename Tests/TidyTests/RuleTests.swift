import Testing

/// Each rule catches a planted fault and lets its neighbour pass.
@Suite struct RuleTests {
    private func lines(_ violations: [Violation]) -> [Int] { violations.map(\.line) }

    @Test(
        arguments: [
            ("import NIOCore", "NIOCore"), ("package import WidgetModel", "WidgetModel"),
            ("@testable import Engine", "Engine"), ("import struct Foundation.Data", "Foundation"),
            ("@preconcurrency internal import Glibc", "Glibc"),
        ]
    )
    func `the module of an import is found`(line: String, module: String) {
        #expect(Rules.module(importedBy: line[...]) == module)
    }

    @Test func `words that only look like an import are none`() {
        #expect(Rules.module(importedBy: "    let import = 3") == nil)
        #expect(Rules.module(importedBy: "func imports() {}") == nil)
    }

    @Test func `an arrow that points up is caught`() {
        let text = SwiftText("// import NIOCore\nimport WidgetModel\npackage import Engine\nimport Foundation\n")
        #expect(self.lines(Rules.imports("Sources/Timelines/A.swift", text)) == [3, 4])
        #expect(Rules.imports("Tests/TimelinesTests/A.swift", text).isEmpty)
    }

    @Test func `a library that has left its folder is caught`() {
        let text = SwiftText("import Glibc\n")
        #expect(self.lines(Rules.imports("Sources/Partitions/A.swift", text)) == [1])
        #expect(Rules.imports("Sources/Partitions/Snapshots/Snapshotter.swift", text).isEmpty)
    }

    @Test func `a script that loses the words of what takes long is caught`() {
        let script = """
            # swift build | tail -1
            swift build 2>&1 | tail -1
            swift build
            step "building" swift build > log
            apt-get install -qq curl
            step "a long one" \\
                pip install --quiet httpx
            pip install httpx >/dev/null
            swift build || exit 1
            echo "apt-get install curl" >&2
            """
        #expect(self.lines(Rules.steps("deploy/a.sh", script)) == [2, 5, 8])
    }

    @Test func `a banned module is caught everywhere but in clients that are not ours`() {
        let text = SwiftText("import NIOSSL\nimport XCTest\n")
        #expect(self.lines(Rules.imports("Tests/EngineTests/A.swift", text)) == [1, 2])
        #expect(self.lines(Rules.imports("Sources/Gateway/A.swift", text)) == [1, 1, 2, 2])
        #expect(Rules.imports("Tests/ForeignClients/A/A.swift", text).isEmpty)
    }

    @Test func `unsafe outside of its places is caught`() {
        let text = SwiftText(
            "let a = unsafe b.pointee\nlet withUnsafe = \"unsafe\" // unsafe\nnonisolated(unsafe) var c = 0\n"
        )
        #expect(self.lines(Rules.unsafe("Sources/Engine/A.swift", text)) == [1, 3])
        for path in ["Sources/TLS/A.swift", "Sources/Storage/Table.swift", "Sources/APNSWire/JSONReader.swift"] {
            #expect(Rules.unsafe(path, text).isEmpty)
        }
        #expect(self.lines(Rules.unsafe("Sources/Engine/Tables/Column.swift", text)) == [1, 3])
        #expect(Rules.unsafe("Tests/EngineTests/A.swift", text).isEmpty)
    }

    @Test func `another part's table is caught`() {
        let table = SwiftText("struct PushTable: ~Copyable, Sendable {\n    struct Row {}\n}\n")
        let user = SwiftText("// PushTable\nlet a: PushTable.Row\nlet b = Ledger()\n")
        let files = [
            ("Sources/Engine/Ledger/PushTable.swift", table), ("Sources/Engine/Ledger/Ledger.swift", user),
            ("Sources/Engine/Snapshot/A.swift", user), ("Sources/Engine/Reloads/A.swift", user),
            ("Sources/Engine/A.swift", user), ("Sources/Gateway/A.swift", user),
        ]
        let found = Rules.parts(files)
        #expect(found.map(\.path) == ["Sources/Engine/Reloads/A.swift", "Sources/Engine/A.swift"])
        #expect(self.lines(found) == [2, 2])
    }

    @Test func `what another part stores is caught, and its verbs are not`() {
        let part = SwiftText("struct Ledger: ~Copyable {\n    var pushes: A\n    var count: Int { 1 }\n}\n")
        let user = SwiftText(
            "let a = self.ledger.pushes.count\nlet b = ledger.pushes(of: 1) + ledger.count\nlet c = oldledger.pushes\n"
        )
        let files = [
            ("Sources/Engine/Ledger/Ledger.swift", part), ("Sources/Engine/Ledger/A.swift", user),
            ("Sources/Engine/Snapshot/A.swift", user), ("Sources/Engine/A.swift", user),
        ]
        let found = Rules.parts(files)
        #expect(found.map(\.path) == ["Sources/Engine/A.swift"])
        #expect(self.lines(found) == [1])
    }

    @Test(arguments: AllowedImports.impureWords.sorted())
    func `a pure target that reaches out is caught`(word: String) {
        let text = SwiftText("/// \(word)\nlet a = \"\(word)\"\nlet b = \(word)(1)\n")
        #expect(self.lines(Rules.purity("Sources/Engine/A.swift", text)) == [3])
        #expect(Rules.purity("Sources/Gateway/A.swift", text).isEmpty)
    }

    @Test(arguments: [
        ("Sources/Gateway/A.swift", 500), ("Sources/Engine/A.swift", 400), ("Tests/EngineTests/A.swift", 700),
    ])
    func `a file that is too long is caught`(path: String, max: Int) {
        func violations(lines: Int) -> [Violation] {
            Rules.length(path, SwiftText(String(repeating: "\n", count: lines)))
        }
        #expect(violations(lines: max).isEmpty)
        #expect(violations(lines: max + 1) == [Violation(path, 0, "has \(max + 1) lines, at most \(max)")])
    }

    @Test func `what is left for later is caught, in comments too`() {
        for word in Rules.unfinished {
            #expect(self.lines(Rules.unfinished("deploy/a.sh", "ok\n# \(word): later\n")) == [2])
        }
        #expect(Rules.unfinished("docs/a.md", "todos and XXXL\n").isEmpty)
    }

    @Test func `a type without a doc comment is caught`() {
        let text = SwiftText(
            """
            /// What it is.
            @frozen
            package struct Explained {}
            package final class Bare {}
            // Not a doc comment.
            package enum Plain {
                package enum Nested {}
            }
            struct Own {}
            package extension Explained { struct Inner {} }
            package func structure(class name: Int) {}
            public struct Open {
                public let bare: Int
                /// What it is.
                public let explained: Int
            }
            public import Module
            """
        )
        #expect(
            Rules.documentation("Sources/Engine/A.swift", text).map(\.description) == [
                "Sources/Engine/A.swift:4: Bare has no doc comment: say what it is",
                "Sources/Engine/A.swift:6: Plain has no doc comment: say what it is",
                "Sources/Engine/A.swift:12: other packages see this: say what it is",
                "Sources/Engine/A.swift:13: other packages see this: say what it is",
            ]
        )
    }

    @Test(arguments: [
        "Sources/Common/A.swift", "Sources/Engine/TimerManager.swift", "Sources/Engine/Engine+Utils.swift",
    ])
    func `a hollow name is caught`(path: String) {
        #expect(Rules.names(path).count == 1)
    }

    @Test func `a folder without a target is caught`() {
        let folders = Set(AllowedImports.ours.keys).union(["Extra"]).subtracting(["TLS"])
        let manifest = AllowedImports.ours.keys.filter { $0 != "Engine" }.map { "\"\($0)\"" }.joined(separator: " ")
        #expect(
            Rules.targets(folders: folders, manifest: manifest).map(\.description) == [
                "Sources/Engine: is not declared in Package.swift",
                "Sources/Extra: is not declared in Package.swift",
                "Sources/Extra: is not in the table of AllowedImports.swift",
                "Sources/TLS: is in the table of AllowedImports.swift, but is no folder",
            ]
        )
    }

    @Test func `the table has no circle`() {
        func reach(_ target: String, _ seen: Set<String>) -> Bool {
            AllowedImports.ours[target, default: []].contains { seen.contains($0) || reach($0, seen.union([$0])) }
        }
        for target in AllowedImports.ours.keys.sorted() { #expect(!reach(target, [target]), "\(target)") }
    }
}

@Suite struct PageRuleTests {
    @Test func `a page with two titles or none is caught`() {
        #expect(PageRules.headings("a.md", "# A\n## B\n```\n# a comment\n```\n").isEmpty)
        #expect(PageRules.headings("a.md", "# A\n# B\n").count == 1)
        #expect(PageRules.headings("a.md", "text\n").count == 1)
    }

    @Test func `a link that leads nowhere is caught`() {
        let pages = ["docs/b.md": "# B\n\n## One more: *thing*\n", "deploy": "", "docs/a.md": ""]
        let text = """
            # A
            [b](b.md) [web](https://example.com/x) [up](../deploy) [here](#a) [there](b.md#one-more-thing)
            `[code](nowhere.md)`
            [c](c.md) and [d](b.md#two)
            [e](#e "title")
            """
        let violations = PageRules.links("docs/a.md", text) { pages[$0] }
        #expect(
            violations.map(\.description) == [
                "docs/a.md:4: the link c.md leads nowhere",
                "docs/a.md:4: the link b.md#two leads to no heading",
                "docs/a.md:5: the link #e leads to no heading",
            ]
        )
    }
}

@Suite struct GlossaryRuleTests {
    @Test func `a type that has gone is caught`() {
        let declared = Set(
            PageRules.types(in: SwiftText("package struct A {\n    enum B { case c }\n}\n// struct C\n"))
        )
        #expect(declared == ["A", "B"])
        let text = "| word | meaning | our type | source |\n|---|---|---|---|\n| a | `z` | `A`, `C.d` | `y` |\n"
        #expect(PageRules.types("g.md", text, declared: declared).map(\.description) == ["g.md:3: there is no type C"])
    }
}

@Suite struct SwiftTextTests {
    @Test(
        arguments: [
            ("a // b", "a     "), ("a /* b /* c */ d */ e", "a                   e"), ("a \"b\" c", "a     c"),
            ("\"a \\\" b\" c", "         c"), ("#\"a \\\" b\"# c".replacing("\\\"", with: "\""), "          c"),
            ("\"\\(f(\"x\")) y\" c", "              c"), ("\"a\nb", "  \nb"), ("\"\"\"\na\n\"\"\" b", "   \n \n    b"),
            ("#if os(Linux)", "#if os(Linux)"),
        ]
    )
    func `comments and literals are blanked out`(text: String, code: String) {
        #expect(SwiftText(text).lines.joined(separator: "\n") == code)
    }
}
