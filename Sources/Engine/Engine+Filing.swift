import WidgetModel

extension Engine {
    /// Decisions from a number on, in the order in which they were made, for an archive that keeps more than the
    /// engine. O(`limit` + later decisions of the same instances).
    ///
    /// - Parameters:
    ///   - number: The first requested number.
    ///   - least: With fewer decisions than this, none are returned.
    ///   - limit: The most decisions.
    package func decisions(from number: UInt64, atLeast least: Int, limit: Int) -> FiledDecisions {
        let first = max(number, self.ledger.oldestDecision)
        let count = self.ledger.decisionCount
        var filed = FiledDecisions(first: first, count: count)
        // A small ring is asked sooner, before it drops what is wanted.
        let enough = max(1, min(least, self.ledger.decisions.capacity / 4))
        guard first < count, count - first >= UInt64(enough) else { return filed }
        let numbers = first..<min(count, first + UInt64(limit))
        // Whom each decision is about, as far as a newer one of the same instance has told.
        var known: [Int?] = Array(repeating: nil, count: numbers.count)
        // From the newest on, so that each instance is looked up once: its decisions name the ones before them.
        for (place, number) in numbers.enumerated().reversed() {
            guard let entry = self.ledger.decision(number) else { return FiledDecisions(first: first, count: count) }
            let previous = entry.previous == Ledger.noDecision ? nil : entry.previous
            // Who is removed is to be nowhere but in the state and the log.
            if known[place] == nil, self.registry[entry.instance].isLive,
                let address = self.address(ofDecision: number, entry, lookedMax: Self.filedLookedMax)
            {
                known[place] = filed.instances.count
                filed.instances.append(address)
            }
            if let previous, numbers.contains(previous) { known[Int(previous - first)] = known[place] }
            filed.rows.append(FiledDecision(instance: known[place], previous: previous, decision: entry.view))
        }
        filed.rows.reverse()
        return filed
    }

    /// How many later decisions of an instance are looked through to make sure whom one was about.
    private static let filedLookedMax = 1000

    /// The number of the oldest decision that is kept here; ``decisionCount`` if none is.
    package var oldestDecision: UInt64 { self.ledger.oldestDecision }
}
