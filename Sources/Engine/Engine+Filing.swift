package import WidgetModel

/// A decision with all that a file keeps of it.
package struct FiledDecision: Hashable, Sendable {
    /// The instance; nil if it was removed before this question.
    package let instance: InstanceAddress?
    /// The number of the instance's decision before; nil if there is none.
    package let previous: UInt64?
    package let decision: DecisionView

    package init(instance: InstanceAddress?, previous: UInt64?, decision: DecisionView) {
        self.instance = instance
        self.previous = previous
        self.decision = decision
    }
}

extension Engine {
    /// Decisions from a number on, in the order in which they were made, for an archive that keeps more than the
    /// engine. O(`limit` + later decisions of the same instances).
    ///
    /// - Parameters:
    ///   - number: The first requested number.
    ///   - least: With fewer decisions than this, none are returned.
    ///   - limit: The most decisions.
    /// - Returns: The number of the first decision, greater than the requested one if that is no longer kept; the
    ///   others have the following numbers.
    package func decisions(
        from number: UInt64,
        atLeast least: Int,
        limit: Int
    ) -> (first: UInt64, rows: [FiledDecision]) {
        let first = max(number, self.ledger.oldestDecision)
        let end = self.ledger.decisionCount
        // A small ring is asked sooner, before it drops what is wanted.
        let enough = max(1, min(least, self.ledger.decisions.capacity / 4))
        guard first < end, end - first >= UInt64(enough) else { return (first, []) }
        var rows: [FiledDecision] = []
        for number in first..<min(end, first + UInt64(limit)) {
            guard let entry = self.ledger.decision(number) else { break }
            // Who is removed is to be nowhere but in the state and the log.
            let isLive = self.registry[entry.instance].isLive
            rows.append(
                FiledDecision(
                    instance: isLive ? self.address(ofDecision: number, entry, lookedMax: Self.filedLookedMax) : nil,
                    previous: entry.previous == Ledger.noDecision ? nil : entry.previous,
                    decision: entry.view
                )
            )
        }
        return (first, rows)
    }

    /// How many later decisions of an instance are looked through to make sure whom one was about.
    private static let filedLookedMax = 1000

    /// The number of the oldest decision that is kept here; ``decisionCount`` if none is.
    package var oldestDecision: UInt64 { self.ledger.oldestDecision }
}
