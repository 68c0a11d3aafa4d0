import Engine
import Ownership
import WidgetModel

/// The decision rules of nodes and partitions, as `GET /v1/cluster` tells of them.
struct ClusterRules {
    struct Partition: Hashable {
        let number: Int
        /// Nil if it was never claimed.
        let rules: Int?
        let state: String
        let owner: String?
    }

    /// The living nodes, and the rules that they have.
    let nodes: [(name: String, rules: Int)]
    let partitions: [Partition]

    init(_ cluster: JSONValue) {
        self.nodes = (cluster["nodes"]?.elements ?? []).compactMap { node in
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
    }

    /// Those that nodes have.
    var there: Set<Int> { Set(self.nodes.map(\.rules)) }

    static func words(_ rules: Int) -> String { "rules \(rules) (\(Engine.program(of: rules)))" }

    /// Partitions without an owner whose rules no node that is there has: nothing of them is decided.
    var stranded: [Partition] {
        self.partitions.filter { partition in
            partition.state == "unowned" && partition.rules.map { !self.there.contains($0) } ?? false
        }
    }

    /// How many nodes and partitions have which, where they have several.
    var lines: [String] {
        let all = self.there.union(self.partitions.compactMap(\.rules)).sorted()
        guard all.count > 1 else { return [] }
        return all.map { rules in
            let (nodes, partitions) = (
                self.nodes.count { $0.rules == rules }, self.partitions.count { $0.rules == rules }
            )
            return "\(Self.words(rules)): nodes \(nodes), partitions \(partitions)"
        }
    }
}
