import IntentMatching
import WidgetModel

/// The ids of a partition's hosts by number, as they are at one moment: what the intent index is asked with, about one app.
///
/// Not the table itself: whoever is found is decided while the index still answers, and changes the table's rows.
struct HostNames: HostNaming {
    private let index: SharedSlotIndex
    private let places: RowChunks<HostTable.Name>
    private let names: [UInt8]
    private let seed: UInt64
    /// What stands before the ids of the app's hosts.
    private let prefix: [UInt8]

    init(_ hosts: borrowing HostTable, of app: BundleID) {
        self.index = hosts.index
        self.places = hosts.places
        self.names = hosts.names
        self.seed = hosts.seed
        self.prefix = Array(app.rawValue.utf8) + [0]
    }

    func number(ofHost id: [UInt8]) -> HostNumber? {
        let key = self.prefix + id
        let number = self.index.find(ByteHash.of(key.span, seed: self.seed)) { slot in
            self.places[Int(slot)].isOf(key.span, among: self.names)
        }
        return number.map { HostNumber(raw: $0) }
    }

    func forEachHost(in numbers: Range<HostNumber>, _ body: (HostNumber, Span<UInt8>) -> Void) {
        let names = self.names.span
        // Numbers that no host has are those of no instance either, and their ids are empty.
        for number in numbers.lowerBound.index..<min(numbers.upperBound.index, self.places.count) {
            body(HostNumber(number), names.extracting(self.places[number].id))
        }
    }
}

extension HostTable.Name {
    /// Whether the key that lies here is this one.
    @inline(__always)
    func isOf(_ bytes: Span<UInt8>, among names: [UInt8]) -> Bool {
        guard self.count == bytes.count else { return false }
        let start = self.offset
        for index in bytes.indices where names[start &+ index] != bytes[index] { return false }
        return true
    }
}
