package import WidgetModel

/// Decisions from a number on, for who keeps more of them than the engine does.
package struct FiledDecisionsQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.first, \.least, \.limit)
    /// The number of the first one wanted.
    package let first: UInt64
    /// None are given where there are not so many.
    package let least: Int
    /// How many at most.
    package let limit: Int

    package init(from first: UInt64, atLeast least: Int, limit: Int) {
        (self.first, self.least, self.limit) = (first, max(0, least), min(max(0, limit), Self.limitMax))
    }

    /// What one answer gives: a millisecond or two of a partition's time.
    package static let limitMax = 4096

    package func answer(from engine: borrowing Engine) -> FiledDecisions {
        let (first, rows) = engine.decisions(from: self.first, atLeast: self.least, limit: self.limit)
        return FiledDecisions(first: first, rows: rows, count: engine.decisionCount)
    }
}

/// Decisions with all that a file keeps of them.
package struct FiledDecisions: Hashable, Sendable {
    /// The number of the first, greater than the one that was wanted if that is not kept any more; the others have the numbers
    /// behind it.
    package let first: UInt64
    package let rows: [FiledDecision]
    /// How many the engine has ever made: the number of the next.
    package let count: UInt64
}

/// Which decisions the engine keeps, and where the first can be that is about a push.
package struct KeptDecisionsQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.push)
    /// Nil for no push.
    package let push: PushID?

    package init(about push: PushID? = nil) { self.push = push }

    package func answer(from engine: borrowing Engine) -> KeptDecisions {
        KeptDecisions(
            oldest: engine.oldestDecision,
            count: engine.decisionCount,
            accepted: self.push.flatMap { engine.push($0).map(\.position).min() }
        )
    }
}

/// Which decisions an engine keeps.
package struct KeptDecisions: Hashable, Sendable {
    /// The number of the oldest; ``count`` if there is none.
    package let oldest: UInt64
    /// How many were ever made.
    package let count: UInt64
    /// Where the push was accepted; nil if none is known.
    package let accepted: LogPosition?
}
