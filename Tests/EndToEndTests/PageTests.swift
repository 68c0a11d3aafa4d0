import Foundation
import Glibc
import Testing

/// A newcomer goes through the pages that begin with nothing, command by command: see `Tests/Pages/run.py`.
@Suite struct PageTests {
    /// The README, the guides, and the examples' own pages, as far as they have commands.
    static let pages: [String] = {
        let folders = ["docs/guides", "docs/examples"]
        let found = folders.flatMap { folder in
            let files = FileManager.default.enumerator(atPath: "\(TestGateway.root)/\(folder)")?.allObjects ?? []
            return files.compactMap { ($0 as? String).map { "\(folder)/\($0)" } }.filter { $0.hasSuffix(".md") }
        }
        return ["README.md"] + found.filter(Self.hasCommands).sorted()
    }()

    private static func hasCommands(_ page: String) -> Bool {
        let text = try? String(contentsOfFile: "\(TestGateway.root)/\(page)", encoding: .utf8)
        return text?.contains("\n```sh\n") ?? false
    }

    private static func run(_ page: String) async throws -> Command.Result {
        try await Command.run(
            TestGateway.python,
            ["\(TestGateway.root)/Tests/Pages/run.py", "--program", TestGateway.program, page]
        )
    }

    /// Whether this system gives a page a network of its own; in CI it has to.
    static func isTried() async throws -> Bool {
        if ProcessInfo.processInfo.environment["CI"] == "true" { return true }
        let spaces = ["--mount", "--net", "--pid", "--fork", "true"]
        return try await Command.run("unshare", Self.rootOptions + spaces).status == 0
    }

    /// A user other than root is root in a namespace of its own.
    static let rootOptions = geteuid() == 0 ? [] : ["--map-root-user"]

    @Test(.enabled { try await PageTests.isTried() }, arguments: PageTests.pages)
    func `a newcomer comes to a page's end with what the page says`(_ page: String) async throws {
        let result = try await Self.run("\(TestGateway.root)/\(page)")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test(
        .enabled { try await PageTests.isTried() },
        arguments: [
            ("```sh\ntrue\nfalse\n```\n", "page.md:5: this failed: false"),
            ("```sh\necho one\n```\n\n```text\ntwo\n```\n", "page.md:8: "),
        ]
    )
    func `a page whose command fails, or prints something else, is told by its line`(
        _ block: String,
        _ expected: String
    ) async throws {
        let folder = try TestGateway.makeFolder()
        let page = "\(folder)/page.md"
        try "# A page\n\n\(block)".write(toFile: page, atomically: true, encoding: .utf8)
        let script = [
            "\(TestGateway.root)/Tests/Pages/run.py", "--seconds", "1", "--program", TestGateway.program, page,
        ]
        let result = try await Command.run(TestGateway.python, script)
        #expect(result.status != 0)
        #expect(result.output.contains(expected), "\(result.output)\(result.errors)")
        try FileManager.default.removeItem(atPath: folder)
    }
}
