import Engine
import HTTPTransport
import WidgetModel

/// Hosts that are taken away at their users' wish: removed like hosts that leave by themselves, so that from now on nothing of
/// them is in any new state. What the log still holds of them, and until when, docs/history.md says.
extension OperatorRoutes {
    /// How many hosts are looked up and removed at a time, so that neither a partition nor memory holds all of an app's.
    private static let batch = 1000

    /// `DELETE /v1/hosts/<host>` and `DELETE /v1/apps/<bundle-id>/hosts`; nil if the request is neither.
    func erase(_ path: [String], _ request: HTTPRequest) async throws(Problem) -> HTTPResponse? {
        guard request.method == "DELETE" else { return nil }
        switch (path[1], path.count) {
        case ("hosts", 3): return try await self.eraseHost(HostID(path[2]))
        case ("apps", 4) where path[3] == "hosts": return try await self.eraseHosts(of: BundleID(path[2]))
        default: return nil
        }
    }

    private func eraseHost(_ host: HostID) async throws(Problem) -> HTTPResponse {
        let answer = try await self.log.append(.unregister(HostRemoval(host: host)), for: host)
        guard case .unregistered = answer else {
            throw Problem(.unknownHost, "there is no host \(host); what history may still hold of it goes with time")
        }
        return HTTPResponse(json: JSONValue.object(of: [("removed", .count(1))]))
    }

    private func eraseHosts(of app: BundleID) async throws(Problem) -> HTTPResponse {
        var (found, removed) = (0, 0)
        for number in 0..<self.log.partitions {
            var next: UInt32? = 0
            while let start = next {
                let page = try await self.log.ask(PartitionID(UInt16(number))) {
                    $0.hosts(from: start, app: app, limit: Self.batch, scanMax: SearchBudget.stepRows)
                }
                next = page.next
                guard !page.rows.isEmpty else { continue }
                found += page.rows.count
                let records = page.rows.map { (record: Record.unregister(HostRemoval(host: $0.host)), host: $0.host) }
                for case .unregistered in try await self.log.append(records) { removed += 1 }
            }
        }
        guard found > 0 else { throw Problem(.unknownHost, "no host is registered for \(app)") }
        return HTTPResponse(json: JSONValue.object(of: [("removed", .count(removed))]))
    }
}
