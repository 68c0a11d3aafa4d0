import Clustering
import Partitions
import Serving
import WidgetModel

/// The body of `POST /v1/cluster/orders`: `{"action": "drain", "node": …}`, `undrain`, `{"action": "move", "partition": …, "to": …}`, or
/// `{"action": "change-rules", "rules": …}`.
enum ClusterOrderBody {
    /// The change that a body wants.
    ///
    /// - Throws: `bad-request` with what to give, `not-found` if there is no such node or partition.
    static func change(_ value: JSONValue, in view: ClusterView) throws(Problem) -> PlacementWishes.Change {
        var object = try RequestObject(value)
        let change: PlacementWishes.Change
        switch try object.requiredString("action") {
        case "drain": change = .drain(try Self.node(try object.requiredString("node"), in: view))
        case "undrain":
            let text = try object.requiredString("node")
            // One that is gone may be undrained, too.
            guard let name = NodeName(text) else { throw Self.unknown(text) }
            change = .undrain(name)
        case "move":
            guard let number = try object.int("partition", in: 0...Int64(view.partitions.count - 1)) else {
                throw object.problem("partition", "is required: 0 to \(view.partitions.count - 1)")
            }
            let name = try object.string("to")
            let to: NodeName? = if let name { try Self.node(name, in: view) } else { nil }
            if let to, view.nodes.contains(where: { $0.node.name == to && $0.isDrained }) {
                throw object.problem("to", "\(to) is drained; undrain it first")
            }
            change = .place(PartitionID(UInt16(number)), to)
        case "change-rules": change = .changeRules(to: try Self.rules(&object, in: view))
        default:
            throw object.problem("action", "expected \"drain\", \"undrain\", \"move\" or \"change-rules\"")
        }
        try object.finish()
        return change
    }

    /// Only those that a living node has: others would leave partitions without an owner that says so too late.
    private static func rules(_ object: inout RequestObject, in view: ClusterView) throws(Problem) -> UInt32 {
        guard let number = try object.int("rules", in: 1...Int64(UInt32.max)) else {
            throw object.problem("rules", "is required: the version of the decision rules")
        }
        let there = view.livingRules.sorted()
        guard let rules = there.first(where: { Int64($0) == number }) else {
            let words = there.map { "\($0)" }.joined(separator: ", ")
            throw object.problem("rules", "no node that is there has rules \(number), but \(words)")
        }
        return rules
    }

    private static func node(_ text: String, in view: ClusterView) throws(Problem) -> NodeName {
        guard let node = view.nodes.first(where: { $0.node.name.rawValue == text }) else { throw Self.unknown(text) }
        return node.node.name
    }

    private static func unknown(_ text: String) -> Problem {
        Problem(.notFound, "there is no node \"\(text)\"; GET /v1/cluster lists the nodes")
    }
}
