import APNSWire
import ArgumentParser
import Foundation
import LoadGenerator
import WidgetModel

/// `freshet bench compare`
struct BenchCompare: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare two reports.",
        discussion: """
            Both are what `freshet bench --json` printed. For each figure you see the difference, its 95 % confidence \
            interval (resampled from the intervals of both runs), and the verdict: better, worse, or no difference. \
            One figure in twenty differs by chance, and more do if the machine is busy. Repeat the runs before you act \
            on a difference.

              freshet bench compare before.json after.json
              freshet bench compare before.json after.json --only "evening accepted p99" \\
                --at-most 100%

            Exit codes: 0 done, 1 with --at-most: a figure is worse by more than that (100% lets latencies double; if \
            the runs have too few samples of a figure, the values alone count), 64 wrong usage.
            """
    )

    @Argument(help: "The report to compare with.") var before: String
    @Argument(help: "The report to judge.") var after: String
    @Option(help: "How much worse a figure may be, as in 20%.") var atMost: String?
    @Option(help: "Judge only figures whose names end with this, as in \"accepted p99\".") var only: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let comparison = try LoadComparison(Self.read(self.before), Self.read(self.after))
        if self.json {
            try Output.write(Data(comparison.jsonText), to: "-")
        } else {
            print(comparison.text, terminator: "")
        }
        guard let atMost else { return }
        guard atMost.last == "%", let percent = Double(atMost.dropLast()), percent >= 0 else {
            throw ValidationError("--at-most takes a percentage, as in 20%")
        }
        let worse = comparison.worse(than: percent / 100, only: self.only)
        for row in worse { Output.standardError("worse by more than \(atMost): \(row.name)") }
        if !worse.isEmpty { throw ExitCode(1) }
    }

    private static func read(_ file: String) throws -> JSONValue {
        do {
            return try JSONReader().parse(Array(try Output.read(file)))
        } catch let error as JSONError {
            throw ValidationError("\(file) is not JSON: \(error)")
        }
    }
}
