package import Engine
import WidgetModel

extension CommandLog {
    /// Logs an order for the partitions that it is about; for how many instances, or of how many waiting pushes, it was
    /// carried out.
    package func carryOut(_ order: OperatorOrder) async throws(Problem) -> Int {
        let answers: [RecordAnswer.Result]
        switch order.scope {
        case .host(let host): answers = [try await self.append(.order(order), for: host)]
        case .instance(let address): answers = [try await self.append(.order(order), for: address.host)]
        case .app, .kind, .sender, .push: answers = try await self.appendToAll(.order(order))
        }
        var matched = 0
        for case .order(let count) in answers { matched += count }
        return matched
    }
}
