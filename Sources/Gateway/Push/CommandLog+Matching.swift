package import Engine

/// What a push would match, over all partitions, before it is logged or instead.
extension CommandLog {
    /// Refuses a push that would match more than it may. One that was accepted before was within it then.
    ///
    /// - Parameter max: Nil for any number.
    /// - Returns: How many it matches in each partition.
    /// - Throws: ``Problem``, ``Problem/tooMany(_:over:)`` among others.
    package func matched(_ push: PushRecord, atMost max: Int?) async throws(Problem) -> [Int] {
        let counts = try await self.matchCounts(push)
        let count = Self.sum(counts)
        if let max, count.matched > max, !count.isRepeat { throw .tooMany(count.matched, over: max) }
        return counts.map(\.matched)
    }

    /// Who a push would reach, and what each decision would be.
    ///
    /// - Parameter decidedMax: The most matches that are decided; see ``GatewayConfiguration/DryRun``.
    /// - Throws: ``Problem``, ``Problem/tooManyDecisions(_:over:)`` among others: then none was made.
    package func dryRun(_ push: PushRecord, decidedMax: Int) async throws(Problem) -> DryRunSummary {
        let count = Self.sum(try await self.matchCounts(push))
        if count.matched > decidedMax { throw .tooManyDecisions(count.matched, over: decidedMax) }
        return DryRunSummary(try await self.askAll { $0.dryRun(push) })
    }

    /// What waits to be decided changes no match: nothing is settled for this.
    private func matchCounts(_ push: PushRecord) async throws(Problem) -> [MatchCount] {
        try await self.askAll { $0.matchCount(push) }
    }

    private static func sum(_ counts: [MatchCount]) -> MatchCount {
        counts.reduce(into: MatchCount()) { sum, count in
            sum.matched += count.matched
            if count.isRepeat { sum.isRepeat = true }
        }
    }
}
