import Engine
import HTTPTransport
import WidgetModel

/// Hosts that are taken away at their users' wish: removed like hosts that leave by themselves, so that from now on nothing of
/// them is in any new state. What the log still holds of them, and until when, docs/history.md says.
extension OperatorRoutes {
    /// How many hosts are removed with one look at the partitions' answers.
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
        let pages = try await self.log.askAll { $0.hosts(app: app, from: nil, limit: .max) }
        let hosts = pages.flatMap(\.hosts)
        guard !hosts.isEmpty else { throw Problem(.unknownHost, "no host is registered for \(app)") }
        var removed = 0
        for first in stride(from: 0, to: hosts.count, by: Self.batch) {
            let batch = hosts[first..<min(first + Self.batch, hosts.count)]
            let records = batch.map { (record: Record.unregister(HostRemoval(host: $0)), host: $0) }
            for case .unregistered in try await self.log.append(records) { removed += 1 }
        }
        return HTTPResponse(json: JSONValue.object(of: [("removed", .count(removed))]))
    }
}
