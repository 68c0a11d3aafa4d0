import ArgumentParser
import Foundation
import LoadGenerator

/// The scenarios that `freshet bench` has itself.
struct QuickOptions: ParsableArguments {
    @Flag(help: "Run the program's own scenario of that name; without a name, list them.") var quick =
        false
    @Option(help: "With --quick: the number of widgets.") var widgets: Int?
    @Option(help: "With --quick: pushes a second.") var rate: Int?
    @Option(help: "With --quick: the length in seconds.") var seconds: Int?
    @Flag(name: .customLong("print"), help: "With --quick: print the scenario's YAML instead of running it.")
    var isPrinted = false

    func validate() throws {
        try self.check(self.widgets, of: "--widgets", within: QuickScenario.Size.widgetsRange)
        try self.check(self.rate, of: "--rate", within: QuickScenario.Size.rateRange)
        try self.check(self.seconds, of: "--seconds", within: QuickScenario.Size.secondsRange)
        guard self.quick || !self.isPrinted else { throw ValidationError("--print needs --quick") }
    }

    private func check(_ value: Int?, of option: String, within range: ClosedRange<Int>) throws {
        guard let value else { return }
        guard self.quick else {
            throw ValidationError("\(option) needs --quick; a scenario file has its own value")
        }
        guard range.contains(value) else {
            throw ValidationError("\(option) takes \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// The size that the options ask for, or else one that suits the machine.
    private var size: QuickScenario.Size {
        let process = ProcessInfo.processInfo
        var size = QuickScenario.Size(cores: process.activeProcessorCount, memory: process.physicalMemory)
        if let widgets { size.widgets = widgets }
        if let rate { size.rate = rate }
        if let seconds { size.seconds = seconds }
        return size
    }

    /// The YAML of the scenario of a name.
    func yaml(_ name: String) throws -> String {
        guard let scenario = QuickScenario(rawValue: name) else {
            let names = QuickScenario.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--quick takes one of \(names), not \"\(name)\"")
        }
        return scenario.yaml(self.size)
    }

    /// The scenarios, and how large they are here.
    var list: String {
        let width = QuickScenario.allCases.map(\.rawValue.count).max() ?? 0
        let lines = QuickScenario.allCases.map { scenario in
            let space = String(repeating: " ", count: width - scenario.rawValue.count)
            return "  \(scenario.rawValue)\(space)  \(scenario.about)"
        }
        let size = "here: \(self.size.widgets) widgets, \(self.size.rate) pushes a second, \(self.size.seconds) s"
        return (lines + ["", "\(size) (--widgets, --rate, --seconds)"]).joined(separator: "\n")
    }
}
