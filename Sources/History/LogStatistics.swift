package import Engine
package import Journaling
package import WidgetModel

/// The counts of a log: records by kind, by partition and by app, bytes and times.
package struct LogStatistics: Sendable {
    package struct Count: Hashable, Sendable {
        package var records = 0
        package var bytes = 0

        mutating func add(_ bytes: Int) {
            self.records += 1
            self.bytes += bytes
        }
    }

    package struct Partition: Hashable, Sendable {
        package var entries = 0
        package var records = 0
        package var bytes = 0
        package var firstPosition: LogPosition?
        package var lastPosition: LogPosition?
        package var outputs = 0
        package var effects = 0
        package var outputBytes = 0
    }

    package private(set) var partitions: [Partition]
    package private(set) var from: Instant?
    package private(set) var to: Instant?
    /// By the kinds' raw values.
    private var kinds = Array(repeating: Count(), count: 256)
    private var apps: [String: Count] = [:]
    /// Records that are none.
    package private(set) var unreadable = 0

    package init(partitions: Int) {
        self.partitions = Array(repeating: Partition(), count: partitions)
    }

    package var entries: Int { self.partitions.reduce(0) { $0 + $1.entries } }
    package var records: Int { self.partitions.reduce(0) { $0 + $1.records } }
    package var bytes: Int { self.partitions.reduce(0) { $0 + $1.bytes } }

    /// Counts an entry and its records.
    package mutating func add(_ entry: LogEntry, of partition: PartitionID) {
        let index = Int(partition.rawValue)
        let bytes = entry.bytes
        self.partitions[index].entries += 1
        self.partitions[index].bytes += bytes.count
        self.partitions[index].records += entry.recordCount
        self.partitions[index].firstPosition = self.partitions[index].firstPosition ?? entry.position
        self.partitions[index].lastPosition = entry.position
        self.from = min(self.from ?? entry.logTime, entry.logTime)
        self.to = max(self.to ?? entry.logTime, entry.logTime)
        for range in entry.records {
            guard let header = try? RecordHeader(bytes, in: range) else {
                self.unreadable += 1
                continue
            }
            self.kinds[Int(header.kind.rawValue)].add(range.count)
            guard let app = header.app else { continue }
            self.apps[String(decoding: bytes[app], as: UTF8.self), default: Count()].add(range.count)
        }
    }

    package mutating func add(_ output: OutputEntry, of partition: PartitionID) {
        let index = Int(partition.rawValue)
        self.partitions[index].outputs += 1
        self.partitions[index].outputBytes += output.record.effects.count
        var reader = ByteReader(output.record.effects)
        self.partitions[index].effects += (try? reader.readCount()) ?? 0
    }

    /// Kinds of which there is a record, in the order of their tags.
    package var byKind: [(kind: Record.Tag, count: Count)] {
        Record.Tag.allCases.map { ($0, self.kinds[Int($0.rawValue)]) }.filter { $0.1.records > 0 }
    }

    /// The apps that records are about, by bundle id.
    package var byApp: [(app: String, count: Count)] {
        self.apps.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }
}

extension LogStatistics {
    /// - Parameter fileBytes: The size of the log's files.
    package func json(fileBytes: Int) -> JSONValue {
        func count(_ count: Count) -> [(String, JSONValue?)] {
            [("records", .count(count.records)), ("bytes", .count(count.bytes))]
        }
        return .object(of: [
            ("entries", .count(self.entries)), ("records", .count(self.records)), ("bytes", .count(self.bytes)),
            ("fileBytes", .count(fileBytes)), ("from", self.from.map { .instant($0) }),
            ("to", self.to.map { .instant($0) }), ("unreadable", .count(self.unreadable)),
            ("kinds", .object(of: self.byKind.map { ($0.kind.name, .object(of: count($0.count))) })),
            ("apps", .object(of: self.byApp.map { ($0.app, .object(of: count($0.count))) })),
            (
                "partitions",
                .array(
                    self.partitions.enumerated().map { index, partition in
                        .object(of: [
                            ("partition", .count(index)), ("entries", .count(partition.entries)),
                            ("records", .count(partition.records)), ("bytes", .count(partition.bytes)),
                            ("first", partition.firstPosition.map { .unsigned($0.rawValue) }),
                            ("last", partition.lastPosition.map { .unsigned($0.rawValue) }),
                            ("outputs", .count(partition.outputs)), ("effects", .count(partition.effects)),
                            ("outputBytes", .count(partition.outputBytes)),
                        ])
                    }
                )
            ),
        ])
    }
}
