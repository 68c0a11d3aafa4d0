import Clustering
import Partitions
import Serving
import WidgetModel

/// The body of `POST /v1/cluster/orders`: `{"action": "drain", "node": …}`, `undrain`, or `{"action": "move", "partition": …, "to": …}`.
enum ClusterOrderBody {
    /// What a body wants changed.
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
        default: throw object.problem("action", "expected \"drain\", \"undrain\" or \"move\"")
        }
        try object.finish()
        return change
    }

    private static func node(_ text: String, in view: ClusterView) throws(Problem) -> NodeName {
        guard let node = view.nodes.first(where: { $0.node.name.rawValue == text }) else { throw Self.unknown(text) }
        return node.node.name
    }

    private static func unknown(_ text: String) -> Problem {
        Problem(.notFound, "there is no node \"\(text)\"; GET /v1/cluster lists the nodes")
    }
}
