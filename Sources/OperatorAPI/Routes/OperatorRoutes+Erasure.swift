import Engine
import HTTPTransport
import Partitions
import Serving
import WidgetModel

/// Hosts that are taken away at their users' wish: removed like hosts that leave by themselves, so that from now on nothing of
/// them is in any new state. docs/history.md says what the log still holds of them, and until when. With `history=true` the log and the
/// older states of all hosts go at once, and no partition remembers the hosts' tokens as removed.
extension OperatorRoutes {
    /// How many hosts are looked up and removed at a time, so that neither a partition nor memory holds all of an app's.
    private static let batch = 1000

    /// `DELETE /v1/hosts/<app>/<host>`
    func eraseHost(_ call: OperatorCall) throws(Problem) -> Change {
        try self.erase(call) { (takesHistory) async throws(Problem) in try await self.erase(call.host, takesHistory) }
    }

    /// `DELETE /v1/apps/<bundle-id>/hosts`
    func eraseHosts(_ call: OperatorCall) throws(Problem) -> Change {
        let app = BundleID(call["app"])
        return try self.erase(call) { (takesHistory) async throws(Problem) in
            try await self.eraseHosts(of: app, takesHistory)
        }
    }

    private func erase(
        _ call: OperatorCall,
        _ remove: @escaping @Sendable (_ takesHistory: Bool) async throws(Problem) -> Int
    ) throws(Problem) -> Change {
        let takesHistory = try call.flag("history") ?? false
        let forgetHistory = takesHistory ? self.store.forgetHistory : nil
        if takesHistory, forgetHistory == nil {
            let reason =
                "this gateway keeps its log in memory and makes no snapshots, so no history can go; leave out `history`"
            throw Problem(.notSupported, reason)
        }
        return Change { () async throws(Problem) in
            let removed = try await remove(takesHistory)
            guard let forgetHistory else {
                return HTTPResponse(json: JSONValue.object(of: [("removed", .count(removed))]))
            }
            let files = try await self.erase(by: forgetHistory)
            return HTTPResponse(json: JSONValue.object(of: [("removed", .count(removed)), ("files", .count(files))]))
        }
    }

    /// - Returns: How many files of the log went.
    private func erase(by forgetHistory: @Sendable () async throws(Problem) -> Int) async throws(Problem) -> Int {
        // The audit tells of changes for longer than the log has them.
        await self.doors.audit.reach(self.log)
        do {
            return try await forgetHistory()
        } catch {
            let sentence =
                "the hosts are removed, but their history may still be there; send the request again: \(error.detail)"
            throw Problem(error.code, sentence, retryAfter: error.retryAfter)
        }
    }

    /// - Returns: How many hosts were removed: with the history none need be there any more.
    private func erase(_ host: HostKey, _ takesHistory: Bool) async throws(Problem) -> Int {
        if takesHistory { try await self.forgetMoves(to: [host], of: self.log.partition(of: host)) }
        let removal = HostRemoval(host: host, purpose: takesHistory ? .erasure : .unregistration)
        let answer = try await self.log.append(.unregister(removal), for: host)
        if case .unregistered = answer { return 1 }
        guard takesHistory else {
            throw Problem(
                .unknownHost,
                "there is no host \(host); the history may still have it, until the log is trimmed"
            )
        }
        return 0
    }

    private func eraseHosts(of app: BundleID, _ takesHistory: Bool) async throws(Problem) -> Int {
        var (found, removed) = (0, 0)
        for partition in self.log.partitionIDs {
            var next: UInt64? = 0
            while let start = next {
                let question = PageQuestion(HostList(of: app), from: start, limit: Self.batch)
                let page = try await self.log.ask(partition, question)
                next = page.next
                guard !page.rows.isEmpty else { continue }
                found += page.rows.count
                if takesHistory { try await self.forgetMoves(to: page.rows.map(\.host), of: partition) }
                let records = page.rows.map { row in
                    let removal = HostRemoval(host: row.host, purpose: takesHistory ? .erasure : .unregistration)
                    return (record: Record.unregister(removal), host: row.host)
                }
                for case .unregistered in try await self.log.append(records) { removed += 1 }
            }
        }
        guard found > 0 || takesHistory else { throw Problem(.unknownHost, "no host is registered for \(app)") }
        return removed
    }

    /// Has the other partitions forget that tokens of hosts were removed there, because they moved to these hosts. The hosts go after that: if
    /// this fails midway, they are still there to name the tokens.
    private func forgetMoves(to hosts: [HostKey], of home: PartitionID) async throws(Problem) {
        let others = self.log.partitionIDs.filter { $0 != home }
        let bound = try await self.log.ask(home, HostTokensQuestion(hosts))
        var owners: [DeviceToken: HostKey] = [:]
        for case .bound(let token, let host, _) in bound { owners[token] = host }
        var records: [(record: Record, partition: PartitionID)] = []
        for (partition, result) in await self.log.results(of: others, TokensQuestion(bound.map(\.token))) {
            for case .removed(let token, _, _, _) in try result.get() {
                guard let host = owners[token] else { continue }
                records.append((.unregister(HostRemoval(host: host, token: token, purpose: .erasure)), partition))
            }
        }
        _ = try await self.log.append(placed: records)
    }
}
