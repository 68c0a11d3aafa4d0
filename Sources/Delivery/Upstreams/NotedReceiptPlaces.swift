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
                let bytes = try await NIOThreadPool.singleton.runIfActive {
                    try self.notes.readNote(.receipts, of: partition)
                }
                return try bytes.map { (bytes) throws(ByteError) in try ReceiptPlacesOfApp.places(bytes) } ?? [:]
            } catch let error as JournalError where error.code == .unavailable {
                try? await Task.sleep(for: Self.pause)
            } catch {
                self.logger.warning("\(ReceiptWords.lost)", metadata: ["error": "\(error)"])
                return [:]
            }
        }
        return [:]
    }

    func write(_ places: [BundleID: [CompletionPlace?]]) async {
        let byHome = Dictionary(grouping: places) { PartitionID(homeOf: $0.key, among: self.partitions) }
        for (partition, places) in byHome.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let bytes = ReceiptPlacesOfApp.bytes(Dictionary(uniqueKeysWithValues: places.map { ($0.key, $0.value) }))
            do {
                try await NIOThreadPool.singleton.runIfActive {
                    try self.notes.writeNote(.receipts, bytes, of: partition)
                }
            } catch {
                self.logger.warning("\(ReceiptWords.notWritten)", metadata: ["error": "\(error)"])
            }
        }
    }
}
