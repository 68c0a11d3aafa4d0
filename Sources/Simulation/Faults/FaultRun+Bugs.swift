import Engine
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// The bugs that are put in on purpose: at the seams of the machines, which stay as they are.
extension FaultRun {
    /// An entry as an engine with a bug reads it: every owner, and the witness.
    func mutated(_ entry: LogEntry) -> LogEntry {
        let bugs: [Mutation] = [.ignoresOrders, .ignoresLeases, .ignoresDates, .ignoresPolicies]
        guard let mutation = self.mutation, bugs.contains(mutation) else { return entry }
        var packed = PackedRecords()
        for range in entry.records {
            var reader = ByteReader(entry.bytes, in: range)
            switch (try? Record(from: &reader), mutation) {
            case (.order, .ignoresOrders): packed.append(Record.tick.bytes)
            case (.configure(var change), .ignoresPolicies):
                change.settings = nil
                packed.append(Record.configure(change).bytes)
            case (.register(var registration), .ignoresLeases):
                registration.lease = nil
                packed.append(Record.register(registration).bytes)
            case (.push(var push), .ignoresDates):
                push.notBefore = nil
                packed.append(Record.push(push).bytes)
            default: packed.append(Array(entry.bytes[range]))
            }
        }
        return LogEntry(position: entry.position, logTime: entry.logTime, packed: packed)
    }

    /// An entry as an owner with a bug reads it.
    ///
    /// - Parameter units: How much it applies at a time.
    mutating func misread(_ entry: LogEntry, slice units: Int) -> LogEntry {
        switch self.mutation {
        case .readsClock:
            return LogEntry(position: entry.position, logTime: Instant(milliseconds: self.now), packed: entry.packed)
        case .stampsTicksEarly:
            guard entry.packed == .tick else { return entry }
            return LogEntry(position: entry.position, logTime: entry.logTime - .hours(1), packed: entry.packed)
        case .skipsEntries:
            guard self.dice.chance(0.05) else { return entry }
            return LogEntry(position: entry.position, logTime: entry.logTime, packed: .tick)
        case .endsEntriesEarly:
            // So many records are begun in a slice at the most.
            let begun = (units + WorkUnits.record - 1) / WorkUnits.record
            var packed = PackedRecords()
            for range in entry.records.prefix(begun) { packed.append(Array(entry.bytes[range])) }
            return LogEntry(position: entry.position, logTime: entry.logTime, packed: packed)
        default: return entry
        }
    }

    /// The newest output as an owner with a bug reads it.
    func mutated(_ newest: OutputEntry?, _ owner: SimulatedOwner) -> OutputEntry? {
        guard self.mutation == .repeatsOutputs, let newest else { return newest }
        let nothing = OutputRecord(
            through: owner.applied,
            engineVersion: newest.record.engineVersion,
            runningHash: owner.engine.runningHash,
            effects: []
        )
        return OutputEntry(position: newest.position, record: nothing)
    }

    /// An output as an owner with a bug writes it.
    func mutated(_ record: OutputRecord) -> OutputRecord {
        guard self.mutation == .miscountsChunks, record.ahead > 0 else { return record }
        return OutputRecord(
            through: record.through,
            ahead: record.ahead + 1,
            engineVersion: record.engineVersion,
            runningHash: record.runningHash,
            effects: record.effects
        )
    }

    /// A request as a deliverer with a bug sends it.
    mutating func mutated(_ request: DeliveryRequest) -> DeliveryRequest {
        guard self.mutation == .renamesRetries, request.tryNumber > 1 else { return request }
        var renamed = request
        renamed.id = PushID(high: self.dice.next(), low: self.dice.next())
        return renamed
    }

    /// The journal's result, as an owner with a bug takes it.
    func mutated(_ result: Result<OutputPosition, JournalError>) -> Result<OutputPosition, JournalError> {
        guard self.mutation == .retriesUnknown, case .failure(let error) = result, error.code == .unknownOutcome else {
            return result
        }
        return .failure(JournalError(.unavailable, error.message))
    }
}
