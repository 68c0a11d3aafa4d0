package import WidgetModel

/// Decisions from a number on, for an archive that keeps more than the engine.
package struct FiledDecisionsQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.first, \.least, \.limit)
    /// The number of the first one wanted.
    package let first: UInt64
    /// With fewer decisions than this, none are returned.
    package let least: Int
    /// How many at most.
    package let limit: Int

    package init(from first: UInt64, atLeast least: Int, limit: Int) {
        (self.first, self.least, self.limit) = (first, max(0, least), min(max(0, limit), Self.limitMax))
    }

    /// The most decisions of one answer: a millisecond or two of a partition's time.
    package static let limitMax = 4096

    package func answer(from engine: borrowing Engine) -> FiledDecisions {
        engine.decisions(from: self.first, atLeast: self.least, limit: self.limit)
    }
}

/// The range of decisions that the engine keeps, and the first that can be about a push.
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
