import Foundation
import Testing

/// `deploy/step.sh`, by which scripts run long commands: it shows that a command goes on, and prints a failed command's
/// words.
@Suite struct StepTests {
    private static func run(_ script: String) async throws -> Command.Result {
        try await Command.run("bash", ["-ec", ". '\(TestGateway.root)/deploy/step.sh'\n\(script)"])
    }

    @Test func `a step that fails shows its own words, ends the script, and has its status`() async throws {
        let result = try await Self.run(
            """
            step "building" bash -c 'echo "[3/4] Compiling"; echo "a.c:3: error: no such thing"; echo more >&2; exit 7'
            echo never
            """
        )
        #expect(result.status == 7)
        #expect(result.output.isEmpty, "\(result.output)")
        #expect(result.errors.contains("a.c:3: error: no such thing\nmore\nbuilding: failed with status 7"))
        #expect(!result.errors.contains("[3/4]"))
    }

    @Test(arguments: [("false", 1), ("exit 3", 3), ("(exit 4)", 4)])
    func `a function ends with its first command that fails, and its words are shown`(command: String, status: Int)
        async throws
    {
        let result = try await Self.run(
            "work() { echo because; \(command); echo after; }\nstep working work\necho never"
        )
        #expect(result.status == status)
        #expect(result.output.isEmpty, "\(result.output)")
        #expect(result.errors.contains("because\nworking: failed with status \(status)"))
    }

    @Test func `a step that works says so, and keeps its words to itself`() async throws {
        let result = try await Self.run("step 'building it' echo words\necho after")
        #expect(result.status == 0 && result.output == "after\n")
        #expect(result.errors.contains("building it: done, "))
        #expect(!result.errors.contains("words"))
    }

    @Test func `a terminal sees what a step is at while it works`() async throws {
        let folder = try TestGateway.makeFolder()
        // It ends as soon as the terminal has shown its last line.
        let script = """
            . '\(TestGateway.root)/deploy/step.sh'
            step waiting bash -c 'echo now here; until grep -qs "now here" "\(folder)/shown"; do read -rt 0.1 <> <(:) || true; done'
            """
        try script.write(toFile: "\(folder)/script", atomically: true, encoding: .utf8)
        let result = try await Command.run(
            "script",
            ["--flush", "-qec", "bash \(folder)/script", "\(folder)/shown"]
        )
        #expect(result.status == 0 && result.output.contains("now here"), "\(result.output)")
        try FileManager.default.removeItem(atPath: folder)
    }
}
