import Engine
package import Partitions
package import WidgetModel

/// Which hosts push tokens stand for, whichever node has them.
extension CommandLog {
    /// The binding of a token now.
    ///
    /// - Throws: `partition-away` if no host here has it, and a partition of another node does not say whether it has.
    package func lookup(_ token: DeviceToken, in directory: any TokenDirectory) async throws(Problem) -> TokenLookup {
        if case .bound(let binding) = directory.lookup(token) { return .bound(binding) }
        return try await self.lookups([token], in: directory)[0].get()
    }

    /// What tokens are bound to now, in their order: as the directory has it, and where it does not know them as the partitions have
    /// it that are not in it. Each node with some of those is asked once for all of them, or in pieces if they are many.
    package func lookups(
        _ tokens: [DeviceToken],
        in directory: any TokenDirectory
    ) async -> [Result<TokenLookup, Problem>] {
        let before = directory.isWhole ? [] : self.partitionIDs.filter { !self.isPresent($0) }
        var found = Found(tokens) { directory.lookup($0) }
        guard !before.isEmpty || !directory.isWhole, !found.missing.isEmpty else {
            return found.lookups.map { .success($0) }
        }
        // Another node may have taken over a partition that is still taken for this one's, and have registered a token there.
        var silence = self.partitionIDs.allSatisfy(self.isCurrent) ? nil : Problem.cutOff
        // One may have come meanwhile, or have left.
        let away = self.partitionIDs.filter { before.contains($0) || !self.isPresent($0) }
        for (partition, result) in await self.results(of: away, TokensQuestion(found.missing)) {
            switch result {
            case .success(let changes): for change in changes { found.takeChange(change, of: partition) }
            case .failure(let problem): silence = problem
            }
        }
        return found.lookups.map { lookup in
            if case .bound = lookup { return .success(lookup) }
            return silence.map { .failure($0) } ?? .success(lookup)
        }
    }

    /// The found standing of some tokens: a binding outweighs a removal, and a later removal an earlier one.
    private struct Found {
        private let tokens: [DeviceToken]
        private var known: [DeviceToken: TokenLookup]

        init(_ tokens: [DeviceToken], _ lookup: (DeviceToken) -> TokenLookup) {
            self.tokens = tokens
            self.known = Dictionary(tokens.map { ($0, lookup($0)) }, uniquingKeysWith: { first, _ in first })
        }

        var lookups: [TokenLookup] { self.tokens.map { self.known[$0] ?? .unknown } }

        /// Those that are not known to be bound.
        var missing: [DeviceToken] {
            self.known.compactMap { token, lookup in
                if case .bound = lookup { nil } else { token }
            }
        }

        mutating func takeChange(_ change: DirectoryChange, of partition: PartitionID) {
            switch (change, self.known[change.token] ?? .unknown) {
            case (.bound(let token, let host, let instance), _):
                let binding = TokenBinding(host: host, instance: instance, partition: partition)
                self.known[token] = .bound(binding)
            case (.removed(_, _, _, let at), .removed(_, _, let other)) where other >= at: break
            case (.removed, .bound), (.forgotten, _): break
            case (.removed(let token, let app, let reason, let at), _):
                self.known[token] = .removed(app: app, reason, at: at)
            }
        }
    }
}
