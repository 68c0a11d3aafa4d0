import Ownership
import Settings
import WidgetModel

/// A change of the decision rules that partitions of a cluster go on by, as `GET /v1/cluster` tells of it.
struct RulesUpgrade {
    /// Why there is nothing that could be changed; says what to do.
    enum Fault: Error, Hashable, CustomStringConvertible {
        case alone
        case nothingToDo
        case severalRules([Int])
        case noNode(rules: Int)

        var description: String {
            switch self {
            case .alone:
                "This gateway has its log alone: freshet upgrade prepares its data directory for another version."
            case .nothingToDo:
                """
                Nothing to do: no node has newer rules than the partitions. Start a node of the newer version first, or go back \
                with --to
                """
            case .severalRules(let rules):
                "Nodes have rules \(rules.map(String.init).joined(separator: ", ")): give the ones to change to with --to"
            case .noNode(let rules):
                "No node that is there has rules \(rules): start one of that version first"
            }
        }
    }

    struct Partition: Hashable {
        let number: Int
        /// Nil if it was never claimed.
        let rules: Int?
        let state: String
        let owner: String?
    }

    /// The rules to change to.
    let rules: Int
    let partitions: [Partition]
    /// The living nodes, and the rules that they have.
    let nodes: [(name: String, rules: Int)]

    /// - Parameters:
    ///   - cluster: An answer.
    ///   - wanted: The rules to change to; nil for the only newer ones that a node has.
    init(_ cluster: JSONValue, to wanted: Int?) throws(Fault) {
        let nodes = cluster["nodes"]?.elements ?? []
        guard !nodes.isEmpty else { throw .alone }
        self.nodes = nodes.compactMap { node in
            guard ["joining", "member", "leaving"].contains(node["state"]?.text ?? ""), let name = node["name"]?.text,
                let rules = node["rules"]?.whole
            else { return nil }
            return (name, rules)
        }
        self.partitions = (cluster["partitions"]?.elements ?? []).map { partition in
            Partition(
                number: partition["partition"]?.whole ?? 0,
                rules: partition.at("rules")?.whole,
                state: partition["state"]?.text ?? "",
                owner: partition.at("owner")?.text
            )
        }
        let there = Set(self.nodes.map(\.rules))
        let present = Set(self.partitions.compactMap(\.rules))
        if let wanted {
            guard there.contains(wanted) else { throw .noNode(rules: wanted) }
            self.rules = wanted
        } else if let ordered = cluster.at("wishedRules")?.whole, there.contains(ordered), present != [ordered] {
            // It was ordered, and is not over.
            self.rules = ordered
        } else {
            // To go back has to be said.
            let newer = there.filter { $0 > present.max() ?? 0 }
            guard let other = newer.first else {
                guard present.count < 2 else { throw .severalRules(there.sorted()) }
                throw .nothingToDo
            }
            guard newer.count == 1 else { throw .severalRules(there.sorted()) }
            self.rules = other
        }
    }

    /// Those that go on by other rules.
    var left: [Partition] { self.partitions.filter { $0.rules != self.rules } }

    /// Whether all have the rules, and an owner.
    var isDone: Bool { self.left.isEmpty && self.partitions.allSatisfy { $0.state == "running" } }

    /// Partitions whose rules no node that is there has: nothing of them is decided.
    var stranded: [Partition] {
        let there = Set(self.nodes.map(\.rules))
        return self.partitions.filter { partition in partition.rules.map { !there.contains($0) } ?? false }
    }

    static func words(_ rules: Int) -> String { "rules \(rules) (\(RulesStanding.program(of: rules)))" }

    /// What would be changed, for people.
    var plan: [String] {
        var lines = self.left.map { partition in
            let owner = partition.owner.map { "at \($0)" } ?? "without an owner"
            let rules = partition.rules.map { Self.words($0) } ?? "no rules yet"
            return "partition \(partition.number): \(rules), \(owner)"
        }
        let takers = self.nodes.filter { $0.rules == self.rules }.map(\.name)
        lines.append("Nodes with \(Self.words(self.rules)): \(takers.joined(separator: ", ")).")
        lines += self.strandedLines
        if self.left.isEmpty {
            lines.append("All \(self.partitions.count) partitions have these rules.")
        } else {
            lines.append(
                """
                \(self.left.count) of \(self.partitions.count) partitions would pass to them, one after the other at each node. \
                While one passes, its pushes are accepted, and decided behind it.
                """
            )
        }
        return lines
    }

    /// How far it is, in a line.
    var progress: String {
        let done = self.partitions.count - self.left.count
        let moving = self.partitions.count { $0.state != "running" }
        return "\(done) of \(self.partitions.count) partitions have rules \(self.rules), \(moving) on the way"
    }

    /// What an operator has to do, so that it comes to its end.
    var strandedLines: [String] {
        let byRules = Dictionary(grouping: self.stranded) { $0.rules ?? 0 }
        return byRules.sorted { $0.key < $1.key }.map { rules, partitions in
            let numbers = partitions.map { String($0.number) }.joined(separator: ", ")
            return "Partitions \(numbers) wait for a node with \(Self.words(rules)): start one."
        }
    }

    /// - Parameter isOrdered: Whether it was ordered, and not only planned.
    func json(isOrdered: Bool) -> JSONValue {
        JSONValue.object(of: [
            ("rules", .count(self.rules)),
            ("ordered", .bool(isOrdered)),
            ("nodes", .strings(self.nodes.filter { $0.rules == self.rules }.map(\.name))),
            ("partitions", .count(self.partitions.count)),
            ("left", .array(self.left.map { .count($0.number) })),
            ("waiting", .array(self.stranded.map { .count($0.number) })),
        ])
    }
}
