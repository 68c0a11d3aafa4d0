import IntentMatching

/// The measured side of `make bench`'s rows of the index, the engine and the timers; `deploy/bench` runs it beside peers.
///
///     BenchmarkRows data COUNT VERSION     the instances, one a line, for the peers
///     BenchmarkRows index COUNT CLASSES    an index of them, of so many different configurations if that is given; then a
///                                          command a line on standard input
///     BenchmarkRows conditions COUNT       conditions on the instances' side and what pushes bring, one a line
///     BenchmarkRows subscriptions COUNT    the same conditions, indexed and asked
///     BenchmarkRows timers COUNT           a timing wheel
///     BenchmarkRows engine COUNT           an engine; then a command a line on standard input; `engine COUNT resting` for one whose
///                                          hosts acknowledge their first reloads
///     BenchmarkRows worst COUNT            the costliest patterns, asked of so many instances
///
/// Each measurement leaves as one JSON object on a line. Nothing here decides whether a figure is good.
@main struct BenchmarkRows {
    static func main() throws {
        let arguments = CommandLine.arguments
        let count = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
        guard count > 0 else { return Self.explain() }
        switch arguments[1] {
        case "data": InstanceLines.print(count, version: arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0)
        case "index":
            var session = IndexSession(count, classes: arguments.count > 3 ? Int(arguments[3]) : nil)
            try session.run()
        case "conditions":
            var rows = SubscriptionRows(count)
            rows.printLines()
        case "subscriptions":
            var rows = SubscriptionRows(count)
            try rows.run()
        case "timers": TimerRows(count).run()
        case "engine":
            var session = EngineSession(count, acknowledges: arguments.last == "resting")
            try session.run()
        case "worst":
            var rows = WorstRows(count)
            rows.run()
        default: Self.explain()
        }
    }

    private static func explain() {
        print("usage: BenchmarkRows data|index|conditions|subscriptions|timers|engine|worst COUNT")
    }
}
