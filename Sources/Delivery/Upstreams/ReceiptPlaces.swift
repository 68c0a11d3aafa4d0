import Engine
import Journaling
import Logging
import NIOPosix
import Partitions
import WidgetModel

/// How far senders were told what became of their pushes, in an archive beside the log: one record, written anew each time.
///
/// It may be lost: then senders are told from what completes next.
struct ReceiptPlaces: Sendable {
    /// What is stored of one app.
    private struct Entry: FieldCoded {
        static let coding = Fields(Self.init, \.app, \.places)
        let app: BundleID
        /// By partition.
        let places: [CompletionPlace?]
    }

    private let archive: any RecordArchive
    private let logger: Logger
    /// Of the record that is there.
    private let number = Shared<UInt64>(0)

    init(_ archive: any RecordArchive, _ logger: Logger) {
        (self.archive, self.logger) = (archive, logger)
    }

    /// What was stored last; nothing of what cannot be read.
    func read() async -> [BundleID: [CompletionPlace?]] {
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                var entries: [Entry] = []
                var fault: ByteFault?
                try self.archive.readAll { record in
                    self.number.set(record.number)
                    var reader = ByteReader(record.bytes)
                    do throws(ByteFault) {
                        entries = try [Entry](from: &reader)
                    } catch {
                        fault = error
                    }
                }
                if let fault { throw fault }
                return Dictionary(entries.map { ($0.app, $0.places) }) { $1 }
            }
        } catch {
            self.logger.warning(
                "the place of the receipts is lost: senders get receipts only for pushes that complete from now on",
                metadata: ["error": "\(error)"]
            )
            return [:]
        }
    }

    /// Not to be called twice at once.
    func write(_ places: [BundleID: [CompletionPlace?]]) async {
        let entries = places.sorted { $0.key < $1.key }.map { Entry(app: $0.key, places: $0.value) }
        let before = self.number.value
        self.number.set(before + 1)
        do {
            try await NIOThreadPool.singleton.runIfActive {
                try self.archive.write(
                    [ArchivedRecord(number: before + 1, bytes: entries.encoded)],
                    removing: before == 0 ? [] : [before]
                )
            }
        } catch {
            self.logger.warning(
                "the place of the receipts cannot be written: after a restart, senders get some receipts again",
                metadata: ["error": "\(error)"]
            )
        }
    }
}
