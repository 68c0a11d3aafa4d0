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
            Both are files of `freshet bench --json`. For each figure there is the difference with its 95 % confidence \
            interval, drawn again from the intervals of both runs, and what it shows: better, worse, or no difference. \
            One figure in twenty is outside by chance, and two runs on a machine that does other things differ by more: \
            repeat what matters.

              freshet bench compare before.json after.json
              freshet bench compare before.json after.json --only "evening accepted p99" --at-most 100%

            Exit codes: 0 done, 1 with --at-most: a figure is shown to be worse by more than that (100% lets latencies \
            double; of a figure that the runs hold too little to say of, the values alone count), 64 wrong usage.
            """
    )

    @Argument(help: "The report to compare with.") var before: String
    @Argument(help: "The report that is compared.") var after: String
    @Option(help: "How much worse a figure may be, such as 20%.") var atMost: String?
    @Option(help: "Judge only figures whose names end with this, such as \"accepted p99\".") var only: String?

    @Option(help: ArgumentHelp("Write the comparison as JSON; - for standard output.", valueName: "file"))
    var json: String?

    func run() throws {
        let comparison = try LoadComparison(Self.read(self.before), Self.read(self.after))
        if let json {
            let text = Data(comparison.jsonText)
            try Output.write(text, to: json)
        }
        if self.json != "-" { print(comparison.text, terminator: "") }
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
            return try JSONReader().parse(Array(try Output.read(file)))
        } catch let error as JSONFault {
            throw ValidationError("\(file) is no JSON: \(error)")
        }
    }
}
