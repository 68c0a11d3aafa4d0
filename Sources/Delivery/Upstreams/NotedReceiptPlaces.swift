import Engine
import Journaling
import Logging
import NIOPosix
import WidgetModel

/// How far senders were told, in notes of the log: the next owner of an app's home partition finds it there.
///
/// The newest note counts, also another node's: all before its places was told.
struct NotedReceiptPlaces: ReceiptPlaces {
    private static let pause = Duration.milliseconds(500)

    let notes: any PartitionNotes
    let partitions: Int
    let logger: Logger

    /// Reads until brokers answer, or the task is cancelled: while they are away, the stored places are not lost.
    func read(homeIn partition: PartitionID) async -> [BundleID: [CompletionPlace?]] {
        while !Task.isCancelled {
            do {
                return try await self.readOnce(homeIn: partition)
            } catch let error as JournalError where error.code == .unavailable {
                try? await Task.sleep(for: Self.pause)
            } catch {
                self.logger.warning("\(ReceiptWords.lost)", metadata: ["error": "\(error)"])
                return [:]
            }
        }
        return [:]
    }

    func readOnce(homeIn partition: PartitionID) async throws -> [BundleID: [CompletionPlace?]] {
        let bytes = try await NIOThreadPool.singleton.runIfActive {
            try self.notes.readNote(.receipts, of: partition)
        }
        return try bytes.map { (bytes) throws(ByteError) in try ReceiptPlacesOfApp.places(bytes) } ?? [:]
    }

    func write(_ places: [BundleID: [CompletionPlace?]]) async {
        for (partition, bytes) in self.notes(of: places) {
            do {
                try await self.write(bytes, of: partition)
            } catch {
                self.logger.warning("\(ReceiptWords.notWritten)", metadata: ["error": "\(error)"])
            }
        }
    }

    func writeOnce(_ places: [BundleID: [CompletionPlace?]]) async throws {
        for (partition, bytes) in self.notes(of: places) { try await self.write(bytes, of: partition) }
    }

    private func notes(of places: [BundleID: [CompletionPlace?]]) -> [(home: PartitionID, bytes: [UInt8])] {
        let byHome = Dictionary(grouping: places) { PartitionID(homeOf: $0.key, among: self.partitions) }
        return byHome.sorted { $0.key.rawValue < $1.key.rawValue }.map { home, places in
            (home, ReceiptPlacesOfApp.bytes(Dictionary(uniqueKeysWithValues: places.map { ($0.key, $0.value) })))
        }
    }

    private func write(_ bytes: [UInt8], of partition: PartitionID) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            try self.notes.writeNote(.receipts, bytes, of: partition)
        }
    }
}
