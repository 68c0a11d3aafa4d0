package import Engine
import IntentMatching
import Journaling
import NIOPosix
package import Partitions
package import WidgetModel

/// A push as one partition knows it.
package struct PlacedPush: Sendable {
    package let partition: PartitionID
    package let view: PushView

    package init(partition: PartitionID, view: PushView) {
        self.partition = partition
        self.view = view
    }

    fileprivate var place: Place { Place(partition: self.partition, position: self.view.position) }

    /// Where its record is.
    fileprivate struct Place: Hashable, Comparable {
        let partition: PartitionID
        let position: LogPosition

        static func < (left: Place, right: Place) -> Bool {
            (left.partition.rawValue, left.position) < (right.partition.rawValue, right.position)
        }
    }

    /// Whether a record is this push's.
    fileprivate func isOf(_ record: PushRecord) -> Bool {
        record.id == self.view.id && record.contentHash == self.view.contentHash && record.team == self.view.team
    }
}

extension CommandLog {
    /// The records of pushes from the log, in their order; nil where it does not reach back so far any more.
    ///
    /// Each entry that one of them is in is read whole, on a thread that may wait.
    package func records(of pushes: [PlacedPush]) async -> [PushRecord?] {
        guard !pushes.isEmpty else { return [] }
        let history = self.journal.history
        let read: @Sendable () -> [PushRecord?] = {
            var found: [PushRecord?] = Array(repeating: nil, count: pushes.count)
            let places = Dictionary(grouping: pushes.indices) { pushes[$0].place }
            for (place, indices) in places.sorted(by: { $0.key < $1.key }) {
                let entries = try? history.read(place.partition, from: place.position, entriesMax: 1)
                guard let entry = entries?.first, entry.position == place.position else { continue }
                for record in entry.pushes {
                    for index in indices where pushes[index].isOf(record) { found[index] = record }
                }
            }
            return found
        }
        let records = try? await NIOThreadPool.singleton.runIfActive(read)
        return records ?? Array(repeating: nil, count: pushes.count)
    }
}

extension LogEntry {
    /// The pushes among its records.
    fileprivate var pushes: [PushRecord] {
        self.records.compactMap { range in
            var reader = ByteReader(self.bytes, in: range)
            guard case .push(let push)? = try? Record(from: &reader) else { return nil }
            return push
        }
    }
}

extension Views {
    /// The push itself, beside its outcomes: its target, and its content.
    static func said(_ record: PushRecord) -> [(String, JSONValue?)] {
        let target: [(String, JSONValue?)] =
            switch record.target {
            case .app(let app): [("app", .string(app.rawValue))]
            case .host(let host, let instance):
                [
                    ("app", .string(host.app.rawValue)), ("host", .string(host.id.rawValue)),
                    ("instance", instance.map { .string($0.rawValue) }),
                ]
            }
        return [
            ("key", record.key.map { .string($0.rawValue) }),
            ("target", JSONValue.object(of: target)),
            ("kind", record.kind.map { .string($0.rawValue) }),
            ("match", record.pattern?.json),
            ("digest", record.digest.map { .string(String(decoding: $0, as: UTF8.self)) }),
            ("collapseID", record.collapseID.map { .string(String(decoding: $0.bytes, as: UTF8.self)) }),
            ("attributes", record.attributes.parameters.isEmpty ? nil : .configuration(record.attributes)),
        ]
    }
}
