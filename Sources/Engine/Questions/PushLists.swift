import Timelines
package import WidgetModel

/// The pushes that were accepted last, the newest first. A part's place is the number that those of it are less than.
///
/// A push for an app is one in every partition: it is listed by the first, whatever the filter says of outcomes, since
/// only the sum over partitions can tell.
extension PushFilter: EngineList {
    package static let coding = Fields(Self.init, \.team, \.app, \.after, \.before, \.isComplete, \.outcome)

    package func page(of engine: borrowing Engine, _ part: ListPart) -> ListPage<ListedPush> {
        var page = ListPage<ListedPush>()
        let oldest = engine.ledger.pushes.recent.oldest
        var number = min(part.place ?? .max, engine.ledger.pushes.recent.count)
        var scanned = 0
        while number > oldest, scanned < part.scanMax, page.rows.count < part.limit {
            number -= 1
            scanned += 1
            guard let slot = engine.ledger.pushes.listed(number) else { continue }
            // Those before it were not accepted later.
            if let after = self.after, engine.ledger[slot].acceptedAt <= after { return page }
            let isForApp = engine.ledger[slot].isForApp
            if isForApp, engine.partition.rawValue != 0 { continue }
            if let team = self.team, TeamID(engine.catalogue.teamName(engine.ledger[slot].team)) != team { continue }
            let view = engine.view(ofPush: slot)
            guard isForApp ? self.isAbout(view) : self.contains(view) else { continue }
            page.rows.append(ListedPush(number: number, push: view))
        }
        page.next = number > oldest ? number : nil
        return page
    }
}

/// The decisions about a push, the oldest first, as far as they are kept. The place of a part is the number of its
/// first decision.
package struct DecisionList: EngineList {
    package static let coding = Fields(Self.init, \.push, \.outcome)
    package let push: PushID
    /// Only decisions that came out so; nil for all.
    package let outcome: PushOutcome?

    package init(about push: PushID, outcome: PushOutcome? = nil) { (self.push, self.outcome) = (push, outcome) }

    package func page(of engine: borrowing Engine, _ part: ListPart) -> ListPage<PushDecision> {
        guard let accepted = engine.ledger.pushes.find(self.push).map({ engine.ledger[$0].position }).min() else {
            return ListPage()
        }
        var page = ListPage<PushDecision>()
        var number = max(part.place ?? engine.ledger.decisions.first(from: accepted), engine.ledger.decisions.oldest)
        let end = min(engine.ledger.decisions.count, number.addingSaturating(UInt64(part.scanMax)))
        while number < end, page.rows.count < part.limit {
            if let entry = engine.ledger.decisions[number], entry.hasPush, entry.push == self.push,
                self.outcome == nil || entry.outcome == self.outcome
            {
                page.rows.append(
                    PushDecision(instance: engine.address(ofDecision: number, entry), decision: entry.view)
                )
            }
            number += 1
        }
        page.next = number < engine.ledger.decisions.count ? number : nil
        return page
    }
}

extension Engine {
    /// The instance that a decision was about; nil if its number is another's by now.
    func address(ofDecision number: UInt64, _ entry: Ledger.Decision) -> InstanceAddress? {
        self.isAbout(number, entry) ? self.address(of: entry.instance) : nil
    }

    /// Whether a decision was about the instance that has its number now.
    ///
    /// - Parameter lookedMax: At how many later decisions of the instance is looked for that.
    func isAbout(_ number: UInt64, _ entry: Ledger.Decision, lookedMax: Int = .max) -> Bool {
        var last = self.schedule[entry.instance].lastDecision
        var looked = 0
        while last != number {
            guard looked < lookedMax else { return false }
            looked += 1
            guard last != Ledger.noDecision, last > number, let newer = self.ledger.decisions[last] else {
                return false
            }
            last = newer.previous
        }
        return true
    }
}

extension Ledger.Decision {
    var view: DecisionView {
        DecisionView(
            at: self.at,
            position: self.position,
            cause: self.cause,
            push: self.hasPush ? self.push : nil,
            outcome: self.outcome,
            reason: self.reason,
            exemption: self.exemption,
            until: self.until.ifFinite
        )
    }
}
