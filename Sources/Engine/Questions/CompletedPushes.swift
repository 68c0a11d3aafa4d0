package import WidgetModel

/// A place among the pushes that have completed in a partition, in the order in which they did.
///
/// It is good for as long as the log is: the state that a replay or a snapshot makes has every push in the same row.
package struct CompletionPlace: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.push, \.id, \.contentHash, \.position, \.completedAt, \.asOf)

    /// The row of the push that it is behind; ``PushNumber/none`` where none had completed, or none is kept.
    package let push: PushNumber
    /// The id of that push, which shows whether the row is still its own.
    package let id: PushID
    package let contentHash: UInt64
    package let position: LogPosition
    /// When that push completed; the epoch where there is none. Later pushes come behind the place.
    package let completedAt: Instant
    /// The log's time up to which nothing is behind it that had completed: of the answer that gave it.
    package let asOf: Instant
}

/// The pushes for an app that completed here behind a place, in the order in which they did.
package struct CompletedPushesQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.app, \.place, \.limit)
    package let app: BundleID
    /// Nil asks where the newest is: no push is told then.
    package let place: CompletionPlace?
    /// How many pushes are told at most.
    package let limit: Int

    package init(for app: BundleID, after place: CompletionPlace?, limit: Int) {
        (self.app, self.place, self.limit) = (app, place, max(0, limit))
    }

    package func answer(from engine: borrowing Engine) -> CompletedPushesPage {
        guard let place = self.place else {
            let last = engine.ledger.completed.last
            return CompletedPushesPage(next: engine.place(behind: last, else: nil, asOf: engine.time), isLast: true)
        }
        let isKept = engine.isKept(place)
        var (last, next) = (PushNumber.none, engine.ledger.completed.first)
        if isKept { (last, next) = (place.push, engine.ledger[place.push].next) }
        let app = engine.catalogue.findApp(self.app)
        var pushes: [PushView] = []
        var looked = 0
        while !next.isNone, looked < Engine.rowsPerAnswer, pushes.count < self.limit {
            if let app, engine.ledger[next].app == app { pushes.append(engine.view(ofPush: next)) }
            (last, next) = (next, engine.ledger[next].next)
            looked += 1
        }
        let asOf = next.isNone || last.isNone ? engine.time : engine.ledger[last].completedAt
        return CompletedPushesPage(
            pushes: pushes,
            next: engine.place(behind: last, else: place, asOf: asOf),
            isLast: next.isNone,
            mayMiss: !isKept && engine.mayHaveForgotten(behind: place)
        )
    }
}

/// Some of the pushes that completed in a partition.
package struct CompletedPushesPage: Hashable, Sendable {
    package internal(set) var pushes: [PushView] = []
    /// Where the next page begins.
    package let next: CompletionPlace
    /// Whether nothing more has completed by now.
    package let isLast: Bool
    /// Whether pushes behind the place may have been forgotten, as the limits have it, before they were told.
    package internal(set) var mayMiss = false
}

extension Engine {
    /// Whether the push that a place is behind is still there.
    fileprivate func isKept(_ place: CompletionPlace) -> Bool {
        guard let row = self.ledger.pushes.keptComplete(place.push) else { return false }
        return row.id == place.id && row.position == place.position && row.contentHash == place.contentHash
    }

    /// The place behind a push; where there is none, behind the same as another.
    fileprivate func place(behind push: PushNumber, else other: CompletionPlace?, asOf: Instant) -> CompletionPlace {
        guard !push.isNone else {
            return CompletionPlace(
                push: .none,
                id: PushID(high: 0, low: 0),
                contentHash: 0,
                position: .start,
                completedAt: other?.completedAt ?? .epoch,
                asOf: asOf
            )
        }
        let row = self.ledger[push]
        return CompletionPlace(
            push: push,
            id: row.id,
            contentHash: row.contentHash,
            position: row.position,
            completedAt: row.completedAt,
            asOf: asOf
        )
    }

    /// Whether a push that completed behind a place which is not kept may be forgotten, too: since it completed so long ago, or
    /// since so many have completed.
    fileprivate func mayHaveForgotten(behind place: CompletionPlace) -> Bool {
        place.asOf < self.time - self.catalogue.limits.pushRetention
            || self.ledger.completed.count >= self.catalogue.limits.pushesRetainedMax
    }
}
