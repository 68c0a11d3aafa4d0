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
        let first = max(number, self.ledger.decisions.oldest)
        let count = self.ledger.decisions.count
        var filed = FiledDecisions(first: first, count: count)
        // A small ring is read sooner, before it drops the wanted decisions.
        let enough = max(1, min(least, self.ledger.decisions.capacity / 4))
        guard first < count, count - first >= UInt64(enough) else { return filed }
        let numbers = Int(min(UInt64(limit), count - first))
        // The subject of each decision, where a newer decision of the same instance has told it.
        var subjects = Array(repeating: FiledSubject.untold, count: numbers)
        var entries: [Ledger.Decision] = []
        // They would be copied again and again while they grow.
        filed.rows.reserveCapacity(numbers)
        filed.instances.reserveCapacity(numbers)
        var host: (number: HostNumber, key: HostKey)?
        // From the newest on, so that each instance is looked up once: its decisions name the ones before them.
        for end in stride(from: numbers, to: 0, by: -Self.filedAhead) {
            let places = max(0, end - Self.filedAhead)..<end
            entries.removeAll(keepingCapacity: true)
            for place in places {
                guard let entry = self.ledger.decisions[first + UInt64(place)] else { return filed }
                entries.append(entry)
            }
            self.prefetchAddresses(of: entries)
            for place in places.reversed() {
                let (entry, number) = (entries[place - places.lowerBound], first + UInt64(place))
                if subjects[place] == .untold {
                    if self.isStillAbout(number, entry) {
                        subjects[place] = .instance(filed.instances.count)
                        filed.instances.append(self.address(of: entry.instance, &host))
                    } else {
                        subjects[place] = .gone
                    }
                }
                let subject = subjects[place]
                let previous = entry.previous == Ledger.noDecision ? nil : entry.previous
                if let previous, previous >= first { subjects[Int(previous - first)] = subject }
                filed.rows.append(FiledDecision(instance: subject.place, previous: previous, decision: entry.view))
            }
        }
        filed.rows.reverse()
        return filed
    }

    /// Whom a decision was about, as far as its instance was looked for.
    private enum FiledSubject: Equatable {
        case untold
        /// The instance's place in ``FiledDecisions/instances``.
        case instance(Int)
        /// It is removed, or has too many later decisions to be sure.
        case gone

        var place: Int? { if case .instance(let place) = self { place } else { nil } }
    }

    /// Whether the instance of a decision is still the one with that number. A removed instance is to be nowhere but in the state and the
    /// log.
    private func isStillAbout(_ number: UInt64, _ entry: Ledger.Decision) -> Bool {
        self.registry[entry.instance].isLive && self.isAbout(number, entry, lookedMax: Self.filedLookedMax)
    }

    /// The address of an instance; decisions about a host's instances are often neighbours.
    private func address(
        of instance: InstanceNumber,
        _ host: inout (number: HostNumber, key: HostKey)?
    ) -> InstanceAddress {
        let number = self.registry[instance].host
        let key = host.flatMap { $0.number == number ? $0.key : nil } ?? self.hostKey(of: number)
        host = (number, key)
        return InstanceAddress(host: key, instance: self.registry.id(of: instance))
    }

    /// How many decisions are looked at ahead: enough that the processor waits for many places in memory at a time.
    private static let filedAhead = 48

    /// How many later decisions of an instance are looked through to make sure whom one was about.
    private static let filedLookedMax = 1000

    /// The number of the oldest decision that is kept here; ``decisionCount`` if none is.
    package var oldestDecision: UInt64 { self.ledger.decisions.oldest }
}
