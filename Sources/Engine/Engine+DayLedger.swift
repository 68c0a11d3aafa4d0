import Timelines
import WidgetModel

extension Engine {
    /// How many decisions of an instance a ledger goes back at most.
    private static let ledgerDecisionsMax = 4096

    /// The reloads of an instance in the last 24 hours, as far as its decisions are kept. O(decisions of a day).
    func dayLedger(of instance: InstanceNumber) -> DayLedger {
        let from = self.time - .day
        var issued: [Ledger.Decision] = []
        var number = self.schedule[instance].lastDecision
        var looked = 0
        var isWhole = true
        while number != Ledger.noDecision {
            guard looked < Self.ledgerDecisionsMax else {
                isWhole = false
                break
            }
            guard let entry = self.ledger.decisions[number] else {
                // It was evicted: only where one that is kept was made before that day, it was of the time before, too.
                isWhole = self.ledger.keepsDecisions(since: from)
                break
            }
            guard entry.instance == instance, entry.at >= from else { break }
            if entry.outcome == .issued { issued.append(entry) }
            looked += 1
            number = entry.previous
        }
        return DayLedger(
            from: from,
            until: self.time,
            isWhole: isWhole,
            entries: self.leftAfter(issued, instance),
            earlier: isWhole ? nil : number
        )
    }

    /// The rest of the allowance after each reload of the present window, counted back from the rest now.
    private func leftAfter(_ issued: [Ledger.Decision], _ instance: InstanceNumber) -> [DayLedger.Entry] {
        let use = self.budgetUse(of: instance)
        var charged = use.charged
        var entries: [DayLedger.Entry] = []
        for entry in issued {
            let isInWindow = entry.at >= use.window.start && !use.isUnlimited
            let isCharged = entry.view.isCharged
            entries.append(
                DayLedger.Entry(
                    decision: entry.view,
                    isCharged: isCharged,
                    left: isInWindow ? max(0, use.allowance - charged) : nil
                )
            )
            if isInWindow, isCharged { charged = max(0, charged - 1) }
        }
        return entries.reversed()
    }
}
