import Engine
package import Journaling
import Logging
import WidgetModel

/// Where the places up to which senders have their receipts are kept.
protocol ReceiptPlaces: Sendable {
    /// The places that were stored last of the apps that have their home in a partition; none where they are lost. The answer may have
    /// other apps, too.
    func read(homeIn partition: PartitionID) async -> [BundleID: [CompletionPlace?]]
    /// Not to be called twice at once.
    func write(_ places: [BundleID: [CompletionPlace?]]) async
    /// As ``read(homeIn:)``, in one attempt, which may fail.
    func readOnce(homeIn partition: PartitionID) async throws -> [BundleID: [CompletionPlace?]]
    /// As ``write(_:)``, and tells if it fails.
    func writeOnce(_ places: [BundleID: [CompletionPlace?]]) async throws
}

/// Where it is kept how far senders were told. Both block.
package enum ReceiptStore: Sendable {
    /// Beside the log, of this gateway alone.
    case archive(any RecordArchive)
    /// With the log, for the nodes that share it.
    case notes(any PartitionNotes)

    /// - Parameter partitions: How many the log has.
    func places(partitions: Int, _ logger: Logger) -> any ReceiptPlaces {
        switch self {
        case .archive(let archive): ArchivedReceiptPlaces(archive, logger)
        case .notes(let notes): NotedReceiptPlaces(notes: notes, partitions: partitions, logger: logger)
        }
    }
}

/// The stored places of one app.
struct ReceiptPlacesOfApp: FieldCoded {
    static let coding = Fields(Self.init, \.app, \.places)
    let app: BundleID
    /// By partition.
    let places: [CompletionPlace?]

    static func bytes(_ places: [BundleID: [CompletionPlace?]]) -> [UInt8] {
        places.sorted { $0.key < $1.key }.map { Self(app: $0.key, places: $0.value) }.encoded
    }

    static func places(_ bytes: [UInt8]) throws(ByteError) -> [BundleID: [CompletionPlace?]] {
        var reader = ByteReader(bytes)
        return Dictionary(try [Self](from: &reader).map { ($0.app, $0.places) }) { $1 }
    }
}
