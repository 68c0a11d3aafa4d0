package import WidgetModel

/// A decision about any instance, as an observer reads it after each record.
package struct TracedDecision: Hashable, Sendable {
    /// Counts the partition's decisions.
    package let number: UInt64
    package let instance: InstanceAddress
    package let kind: WidgetKind
    package let decision: DecisionView
}

/// One of the pushes that a reload serves.
package struct ServedPush: Hashable, Sendable {
    package let id: PushID
    package let team: TeamID
    /// Tells pushes apart that share an id.
    package let contentHash: UInt64
    package let position: LogPosition
    package let acceptedAt: Instant
    /// Whether the reload is on this push's account: it ends `reloaded` or `exempt`, the others `coalesced`.
    package let isPrimary: Bool
}

extension Engine {
    /// How many decisions were ever noted: the number of the next one.
    package var decisionCount: UInt64 { self.ledger.decisions.count }

    /// The decisions from a number on, in the order in which they were made.
    ///
    /// If an instance was removed for good and another one took its place, the decision names the new one. So read the
    /// decisions after each record if you need all of them.
    ///
    /// - Parameters:
    ///   - number: The first requested number.
    ///   - body: Called for each that is still kept; see ``EngineLimits/decisionsRetainedMax``.
    /// - Returns: The number of decisions that are no longer kept.
    @discardableResult
    package func forEachDecision(from number: UInt64, _ body: (TracedDecision) -> Void) -> Int {
        var lost = 0
        var next = number
        while next < self.ledger.decisions.count {
            defer { next += 1 }
            guard let entry = self.ledger.decisions[next] else {
                lost += 1
                continue
            }
            let row = self.registry[entry.instance]
            let kind = self.catalogue[row.kind]
            body(
                TracedDecision(
                    number: next,
                    instance: self.address(of: entry.instance),
                    kind: kind.name,
                    decision: entry.view
                )
            )
        }
        return lost
    }

    /// The pushes that a reload serves, in the order in which they came; none if it is not outstanding.
    package func pushes(servedBy reload: ReloadID) -> [ServedPush] {
        guard let row = self.findReload(reload) else { return [] }
        var served: [ServedPush] = []
        self.reloads.forEach(in: row.pushes) { number, match in
            let push = self.ledger[match.push]
            served.append(
                ServedPush(
                    id: push.id,
                    team: TeamID(self.catalogue.teamName(push.team)),
                    contentHash: push.contentHash,
                    position: push.position,
                    acceptedAt: push.acceptedAt,
                    isPrimary: number == row.primary
                )
            )
        }
        return served
    }
}
