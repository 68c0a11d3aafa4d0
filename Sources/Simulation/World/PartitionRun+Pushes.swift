import Engine
import WidgetModel

extension PartitionRun {
    /// Data changes, and its sender says so.
    ///
    /// - Parameters:
    ///   - event: The change.
    ///   - number: The event's place in the schedule, which names its pushes.
    mutating func happen(_ event: DataEvent, number: Int) {
        let sender = self.world.scenario.senders[event.sender]
        guard let kind = self.world.scenario.kinds.firstIndex(where: { $0.kind == sender.kind }) else { return }
        switch sender.target {
        case .none: return
        case .matching:
            self.push(sender, event, kind, number, host: nil)
            // Each partition has the record; the push is one.
            if self.partition.rawValue == 0 { self.measures.pushes += 1 }
        case .tokens:
            let values = event.value.map { $0..<$0 + 1 } ?? 0..<self.world.scenario.kinds[kind].values.count
            for value in values {
                for place in self.crowd.audience[kind][value] {
                    self.push(sender, event, kind, number, host: Int(place))
                    self.measures.pushes += 1
                }
            }
        }
    }

    private mutating func push(_ sender: SimulatedSender, _ event: DataEvent, _ kind: Int, _ number: Int, host: Int?) {
        let scenario = self.world.scenario
        // One push to many hosts has an id for each of them, since an id is of one token.
        let low = UInt64(number) << 32 | UInt64(host.map { self.hostNumber($0) } ?? 0)
        var record = PushRecord(
            id: PushID(high: UInt64(event.sender) + 1, low: low),
            team: scenario.team,
            contentHash: low,
            priority: sender.priority,
            target: host.map { .host(self.crowd.hosts[$0].id, nil) } ?? .app(scenario.app)
        )
        record.expiration = sender.expiration.map { wait in
            wait == .zero ? 0 : Int64(self.now) + wait.milliseconds / 1000
        }
        if sender.collapses {
            record.collapseID = CollapseID(bytes: Array("\(kind)-\(event.value ?? -1)".utf8))
        }
        if host == nil {
            record.kind = sender.kind
            if let value = event.value {
                record.pattern = self.world.patterns[kind][value]
                // All values have states of their own: a push for all of them names none.
                if sender.namesDigest {
                    record.digest = Self.digest(self.world.changes(kind, value).count(upTo: Int32(self.elapsed)))
                }
            }
        }
        self.write(.push(record))
    }

    /// The number of a host in the scenario, the same whatever the partitions.
    private func hostNumber(_ place: Int) -> UInt32 {
        UInt32(self.crowd.hosts[place].id.id.rawValue.dropFirst()) ?? 0
    }

    /// How a provider and a sender call the state of data after so many changes.
    static func digest(_ changes: Int) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: changes >> 24), UInt8(truncatingIfNeeded: changes >> 16),
            UInt8(truncatingIfNeeded: changes >> 8), UInt8(truncatingIfNeeded: changes),
        ]
    }
}

extension [Int32] {
    /// How many elements of this sorted array are not after a number. O(log count).
    func count(upTo number: Int32) -> Int {
        var low = 0
        var high = self.count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
