import APNSWire
import ArgumentParser
import Foundation
import LoadGenerator
import WidgetModel

/// `freshet bench compare`
struct BenchCompare: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Show two reports beside each other.",
        discussion: """
            Both are files of `freshet bench --json`. With --at-most the exit code is 1 if a figure has become worse by \
            more than that: `--at-most 100%` lets latencies double.
            """
    )

    @Argument(help: "The report to compare with.") var before: String
    @Argument(help: "The report that is compared.") var after: String
    @Option(help: "How much worse a figure may be, such as 20%.") var atMost: String?
    @Option(help: "Judge only figures whose names end with this, such as \"accepted p99\".") var only: String?

    func run() throws {
        let comparison = try LoadComparison(Self.read(self.before), Self.read(self.after))
        print(comparison.text, terminator: "")
        guard let atMost else { return }
        guard atMost.last == "%", let percent = Double(atMost.dropLast()), percent >= 0 else {
            throw ValidationError("--at-most takes a percentage such as 20%")
        }
        let worse = comparison.worse(than: percent / 100, only: self.only)
        for row in worse { Output.standardError("worse by more than \(atMost): \(row.name)") }
        if !worse.isEmpty { throw ExitCode(1) }
    }

    private static func read(_ file: String) throws -> JSONValue {
        do {
            return try JSONReader().parse(Array(try Data(contentsOf: URL(filePath: file))))
        } catch {
            throw ValidationError("\(file) cannot be read as JSON: \(error)")
        }
    }
}
