import WidgetModel

/// A change of the decision rules that partitions of a cluster go on by, as `GET /v1/cluster` tells of it.
struct RulesUpgrade {
    /// Why there is nothing that could be changed; says what to do.
    enum UpgradeError: Error, Hashable, CustomStringConvertible {
        case alone
        case nothingToDo
        case severalRules([Int])
        case noNode(rules: Int)

        var description: String {
            switch self {
            case .alone:
                "This gateway does not share its log: freshet upgrade prepares its data directory for another version."
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

    /// The rules to change to.
    let rules: Int
    /// The cluster's faults, with the advice about each, in the gateway's words.
    let troubles: [String]
    private let cluster: ClusterRules
    var partitions: [ClusterRules.Partition] { self.cluster.partitions }

    /// - Parameters:
    ///   - cluster: An answer.
    ///   - wanted: The rules to change to; nil for the only newer ones that a node has.
    init(_ cluster: JSONValue, to wanted: Int?) throws(UpgradeError) {
        self.cluster = ClusterRules(cluster)
        self.troubles = ClusterReading(json: cluster).troubles.map(\.text)
        guard !(cluster["nodes"]?.elements ?? []).isEmpty else { throw .alone }
        let there = self.cluster.there
        let present = Set(self.cluster.partitions.compactMap(\.rules))
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
    var left: [ClusterRules.Partition] { self.partitions.filter { $0.rules != self.rules } }

    /// Those that wait for a node with their rules: without one, the change does not come to its end.
    var waiting: [ClusterRules.Partition] { self.cluster.stranded }

    /// Whether all have the rules, and an owner.
    var isDone: Bool { self.left.isEmpty && self.partitions.allSatisfy { $0.state == "running" } }

    /// The planned changes, for people.
    var plan: [String] {
        var lines = self.left.map { partition in
            let owner = partition.owner.map { "at \($0)" } ?? "without an owner"
            let rules = partition.rules.map { ClusterRules.words($0) } ?? "no rules yet"
            return "partition \(partition.number): \(rules), \(owner)"
        }
        let takers = self.cluster.nodes.filter { $0.rules == self.rules }.map(\.name)
        lines.append("Nodes with \(ClusterRules.words(self.rules)): \(takers.joined(separator: ", ")).")
        if !self.waiting.isEmpty { lines += self.troubles }
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

    /// - Parameter isOrdered: Whether it was ordered, and not only planned.
    func json(isOrdered: Bool) -> JSONValue {
        JSONValue.object(of: [
            ("rules", .count(self.rules)),
            ("ordered", .bool(isOrdered)),
            ("nodes", .strings(self.cluster.nodes.filter { $0.rules == self.rules }.map(\.name))),
            ("partitions", .count(self.partitions.count)),
            ("left", .array(self.left.map { .count($0.number) })),
            ("waiting", .array(self.waiting.map { .count($0.number) })),
        ])
    }
}
