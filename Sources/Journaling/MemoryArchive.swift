import Synchronization

/// An archive that forgets everything with the process: for tests, and for gateways that are to leave nothing behind.
package final class MemoryArchive: RecordArchive {
    private let records = Mutex<[UInt64: [UInt8]]>([:])

    package init() {}

    package func write(_ records: [ArchivedRecord], removing removed: [UInt64]) throws(JournalError) {
        self.records.withLock { kept in
            for record in records { kept[record.number] = record.bytes }
            for number in removed { kept[number] = nil }
        }
    }

    package func readAll(_ body: (ArchivedRecord) -> Void) throws(JournalError) {
        let all = self.records.withLock { $0.map { ArchivedRecord(number: $0.key, bytes: $0.value) } }
        for record in all.sorted(by: { $0.number < $1.number }) { body(record) }
    }

    package func read(_ number: UInt64) throws(JournalError) -> [UInt8]? { self.records.withLock { $0[number] } }

    package func removeAll() throws(JournalError) { self.records.withLock { $0 = [:] } }

    package func close() {}
}
