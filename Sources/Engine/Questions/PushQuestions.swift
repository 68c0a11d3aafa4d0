package import WidgetModel

/// The pushes with these ids in this partition: several of one id if content or target differed.
package struct PushesQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.ids, \.team, \.lookedMax)
    package let ids: [PushID]
    /// Their sender's team; nil for all senders' pushes, as operators see them.
    package let team: TeamID?
    /// How many of the instances that a push waits for are looked at to tell why; 0 does not tell it.
    package let lookedMax: Int

    package init(_ ids: [PushID], of team: TeamID? = nil, lookedMax: Int = 0) {
        (self.ids, self.team, self.lookedMax) = (ids, team, lookedMax)
    }

    package func answer(from engine: borrowing Engine) -> [PushView] {
        self.ids.flatMap { engine.push($0, team: self.team, lookedMax: self.lookedMax) }
    }
}

/// The instances that a push would reach, and the decision for each, if it were accepted now: a search, in parts of
/// bounded time.
package struct MatchQuestion: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.push, \.decidedMax)
    package let push: PushRecord
    /// How many matches are decided at most, as a sample of all; nil if they are only counted.
    package let decidedMax: Int?

    package init(_ push: PushRecord, decidedMax: Int? = nil) {
        (self.push, self.decidedMax) = (push, decidedMax.map { max(0, $0) })
    }

    /// Begins the search, which ``MatchSearch/advance(in:_:)`` goes on with.
    package func begin(in engine: borrowing Engine) -> MatchSearch {
        MatchSearch(self.push, sampling: self.decidedMax, in: engine)
    }

    /// The answer. Precondition: the search is at its end.
    package func answer(from engine: borrowing Engine, _ search: borrowing MatchSearch) -> DryRunView {
        self.decidedMax == nil ? search.count(in: engine) : engine.dryRun(search)
    }
}
