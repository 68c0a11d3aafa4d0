import APNSWire
import Engine
package import Partitions
package import Serving
package import WidgetModel

/// Call-backs, which come to any gateway. The owner of their partition takes them: it asked for the timelines, and shows their entries.
extension TimelineProviders {
    package func callBack(_ body: JSONValue, of key: KindKey) async throws(Problem) -> CallBack.Result? {
        guard let fetcher = self[key] else { return nil }
        // If something is wrong with it, none of it is taken.
        _ = try await fetcher.read(body)
        var parts: [(partition: PartitionID, callBack: CallBack)] = []
        let answers = self.answers(body)
        for (partition, answers) in answers.away.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for body in try Self.bodies(of: answers) {
                parts.append((partition, CallBack(app: key.app, kind: key.kind, body: body)))
            }
        }
        var result = try await fetcher.callBack(Self.body(of: answers.own))
        for part in parts {
            let taken = try await self.services.log.handOver(part.callBack, to: part.partition, self)
            result.taken += taken.taken
            result.unknown += taken.unknown
        }
        return result
    }

    /// Takes a call-back for partitions of this node.
    package func takeCallBack(_ callBack: CallBack) async throws(Problem) -> CallBack.Result {
        guard let fetcher = self[KindKey(app: callBack.app, kind: callBack.kind)] else {
            throw Problem(
                .notSupported,
                "the kind has no timeline provider at the gateway that has these widgets: give all gateways the same file"
            )
        }
        return try await fetcher.callBack(JSONReader().value(of: callBack.body, bytesMax: callBack.body.count))
    }

    /// The answers about other nodes' partitions, and all others.
    private func answers(_ body: JSONValue) -> (own: [JSONValue], away: [PartitionID: [JSONValue]]) {
        guard case .array(let answers)? = body["answers"] else { return ([], [:]) }
        let log = self.services.log
        var (own, away) = ([JSONValue](), [PartitionID: [JSONValue]]())
        for answer in answers {
            if case .string(let id)? = answer["id"], let partition = ReloadID(id)?.partition,
                Int(partition.rawValue) < log.partitions, !log.isPresent(partition)
            {
                away[partition, default: []].append(answer)
            } else {
                own.append(answer)
            }
        }
        return (own, away)
    }

    /// As many bodies as are needed, since each is handed over as one.
    private static func bodies(of answers: [JSONValue]) throws(Problem) -> [[UInt8]] {
        let room = CallBack.bodyBytesMax - self.body(of: []).jsonText.count
        // With a comma.
        let sized = answers.map { (answer: $0, bytes: $0.jsonText.count + 1) }
        if let tooLong = sized.first(where: { $0.bytes > room }) {
            throw Problem(
                .tooLarge,
                """
                another gateway has the widget, and gateways hand each other timelines of at most \(room) bytes, not \(tooLong.bytes): \
                answer the request itself, by 200
                """
            )
        }
        return sized.runs(upTo: room, \.bytes).map { self.body(of: $0.map(\.answer)).jsonText }
    }

    private static func body(of answers: [JSONValue]) -> JSONValue {
        JSONValue.object(of: [("answers", .array(answers))])
    }
}
