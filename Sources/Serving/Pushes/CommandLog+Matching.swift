package import Engine
package import Partitions
import WidgetModel

/// The number of instances that a push matches before it is logged.
package struct MatchedInstances: Hashable, Sendable {
    /// How many in each partition.
    package let counts: [Int]
    /// How many there may be in each partition when it applies the push, nil for any number. They add up to the number that the push may
    /// match in all, so that it matches no more whatever is registered before it is applied.
    package let limits: [Int]?
}

/// The matches of a push over all partitions, before it is logged or instead.
extension CommandLog {
    /// Refuses a push that would match more than it may. One that was accepted before was within it then.
    ///
    /// - Parameter max: Nil for any number.
    /// - Throws: ``Problem``, ``Problem/tooMany(_:over:)`` among others.
    package func matched(_ push: PushRecord, atMost max: Int?) async throws(Problem) -> MatchedInstances {
        let answers = try await self.askAll(push, decidedMax: { _ in nil })
        let counts = answers.map(\.matched)
        guard let max else { return MatchedInstances(counts: counts, limits: nil) }
        let sum = counts.reduce(0, +)
        if sum > max, !answers.contains(where: \.isRepeat) { throw .tooMany(sum, over: max) }
        return MatchedInstances(counts: counts, limits: MatchQuota.divide(max, by: counts))
    }

    /// The instances that a push would reach, and the decision for each.
    ///
    /// - Parameter decidedMax: For how many matches over all partitions it is decided at most; see
    ///   ``GatewayConfiguration/DryRun``.
    /// - Throws: ``Problem``.
    package func dryRun(_ push: PushRecord, decidedMax: Int) async throws(Problem) -> DryRunSummary {
        let counts = try await self.askAll(push, decidedMax: { _ in nil }).map(\.matched)
        let quotas = MatchQuota.divide(decidedMax, by: counts)
        return DryRunSummary(try await self.askAll(push) { quotas[Int($0.rawValue)] })
    }
}
