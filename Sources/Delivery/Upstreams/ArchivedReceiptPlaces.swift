import Engine
import Journaling
import Logging
import NIOPosix
import Partitions
import WidgetModel

/// How far senders were told, in an archive beside the log: one record, written anew each time.
///
/// It may be lost: then senders are told from the next completed push on.
struct ArchivedReceiptPlaces: ReceiptPlaces {
    private let archive: any RecordArchive
    private let logger: Logger
    /// Of the record that is there, 0 for none; nil before that is known.
    private let number = Shared<UInt64?>(nil)

    init(_ archive: any RecordArchive, _ logger: Logger) {
        (self.archive, self.logger) = (archive, logger)
    }

    func read(homeIn partition: PartitionID) async -> [BundleID: [CompletionPlace?]] {
        do {
            return try await self.readOnce(homeIn: partition)
        } catch {
            self.logger.warning("\(ReceiptWords.lost)", metadata: ["error": "\(error)"])
            return [:]
        }
    }

    func readOnce(homeIn partition: PartitionID) async throws -> [BundleID: [CompletionPlace?]] {
        self.number.set(0)
        return try await NIOThreadPool.singleton.runIfActive {
            var places: [BundleID: [CompletionPlace?]] = [:]
            var damage: ByteError?
            try self.archive.readAll { record in
                self.number.set(record.number)
                do throws(ByteError) {
                    places = try ReceiptPlacesOfApp.places(record.bytes)
                } catch {
                    damage = error
                }
            }
            if let damage { throw damage }
            return places
        }
    }

    func write(_ places: [BundleID: [CompletionPlace?]]) async {
        do {
            try await self.writeOnce(places)
        } catch {
            self.logger.warning("\(ReceiptWords.notWritten)", metadata: ["error": "\(error)"])
        }
    }

    func writeOnce(_ places: [BundleID: [CompletionPlace?]]) async throws {
        if self.number.value == nil { _ = await self.read(homeIn: PartitionID(0)) }
        let before = self.number.value ?? 0
        self.number.set(before + 1)
        try await NIOThreadPool.singleton.runIfActive {
            try self.archive.write(
                [ArchivedRecord(number: before + 1, bytes: ReceiptPlacesOfApp.bytes(places))],
                removing: before == 0 ? [] : [before]
            )
        }
    }
}

/// The words for people about places.
enum ReceiptWords {
    static let lost =
        "the place of the receipts is lost: senders get receipts only for pushes that complete from now on"
    static let notWritten =
        "the place of the receipts cannot be written: after a restart, senders get some receipts again"
}
