import APNSWire
import WidgetModel

/// The tokens of one part of a ``HostDirectory``: a row for what one partition says of one token.
///
/// A row's token and ids lie one after another in one place, so that a look-up reads three: the index, the row, its text.
struct HostDirectoryPart: ~Copyable, Sendable {
    private struct Row: Sendable {
        let hash: UInt64
        let partition: PartitionID
        var app: UInt32
        /// The token's bytes, the UTF-8 bytes of the host's id, then those of the instance's.
        var text: [UInt8]
        let tokenCount: UInt32
        var hostCount: UInt32
        var isOfControl: Bool
        /// When the token was removed, nil while it is bound.
        var removedAt: Instant?
        /// Later words have higher numbers.
        var number: UInt64

        @inline(__always)
        func isOf(_ token: borrowing TokenWords) -> Bool {
            token.isSpelled(by: self.text.span.extracting(first: Int(self.tokenCount)))
        }

        @inline(__always)
        func tell(_ place: inout HostPlace) {
            place.become(
                self.partition,
                self.text.span.extracting(droppingFirst: Int(self.tokenCount)),
                hostCount: Int(self.hostCount),
                isOfControl: self.isOfControl
            )
        }

        var hostRange: Range<Int> { Int(self.tokenCount)..<Int(self.tokenCount + self.hostCount) }
        var instanceRange: Range<Int> { self.hostRange.upperBound..<self.text.count }
    }

    private static var none: UInt32 { .max }

    private var rows: [Row] = []
    private var free: [UInt32] = []
    private var index = SlotIndex()
    /// The apps that rows name, by number: few.
    private var apps: [BundleID]
    private var number: UInt64 = 0

    /// - Parameter apps: The apps that have a number from the start.
    init(apps: [BundleID]) {
        self.apps = apps
    }

    /// How many rows there are.
    var count: Int { self.rows.count - self.free.count }

    /// What is known of a token, and if it is bound, to what.
    func find(
        _ token: borrowing TokenWords,
        _ hash: UInt64,
        of app: Int,
        into place: inout HostPlace
    ) -> TokenStanding {
        let slot = self.newest(token, hash)
        guard slot != Self.none else { return .unknown }
        let row = Int(slot)
        let isOfApp = Int(self.rows[row].app) == app
        if let at = self.rows[row].removedAt { return .removed(isOfApp: isOfApp, at: at) }
        self.rows[row].tell(&place)
        return .bound(isOfApp: isOfApp)
    }

    /// The same in the words of everybody who is in no hurry.
    func lookup(_ token: borrowing TokenWords, _ hash: UInt64) -> HostDirectory.Lookup {
        let slot = self.newest(token, hash)
        guard slot != Self.none else { return .unknown }
        let row = self.rows[Int(slot)]
        let app = self.apps[Int(row.app)]
        if let at = row.removedAt { return .removed(app: app, at: at) }
        return .bound(
            HostDirectory.Entry(
                host: HostID(String(decoding: row.text[row.hostRange], as: UTF8.self)),
                app: app,
                instance: row.isOfControl
                    ? InstanceID(String(decoding: row.text[row.instanceRange], as: UTF8.self)) : nil,
                partition: row.partition
            )
        )
    }

    /// The row of the newest binding, else of the newest removal.
    @inline(__always)
    private func newest(_ token: borrowing TokenWords, _ hash: UInt64) -> UInt32 {
        var found = Self.none
        _ = self.index.find(hash) { slot in
            guard self.rows[Int(slot)].isOf(token) else { return false }
            if found == Self.none || self.outweighs(slot, found) { found = slot }
            return false
        }
        return found
    }

    private func outweighs(_ slot: UInt32, _ other: UInt32) -> Bool {
        let (row, other) = (self.rows[Int(slot)], self.rows[Int(other)])
        return switch (row.removedAt, other.removedAt) {
        case (nil, nil): row.number > other.number
        case (nil, _?): true
        case (_?, nil): false
        case (let at?, let otherAt?): (at, row.number) > (otherAt, other.number)
        }
    }

    /// Takes note of a partition's newest word on a token, in place of the one before.
    mutating func note(
        _ token: DeviceToken,
        _ hash: UInt64,
        _ partition: PartitionID,
        _ word: HostDirectory.Lookup
    ) {
        self.forget(token, hash, partition)
        self.number += 1
        var row = Row(
            hash: hash,
            partition: partition,
            app: 0,
            text: token.bytes,
            tokenCount: UInt32(token.bytes.count),
            hostCount: 0,
            isOfControl: false,
            removedAt: nil,
            number: self.number
        )
        switch word {
        case .unknown: return
        case .removed(let app, let at):
            row.app = self.number(of: app)
            row.removedAt = at
        case .bound(let entry):
            row.app = self.number(of: entry.app)
            row.isOfControl = entry.instance != nil
            row.hostCount = UInt32(entry.host.rawValue.utf8.count)
            row.text.reserveCapacity(
                row.text.count + entry.host.rawValue.utf8.count + (entry.instance?.rawValue.utf8.count ?? 0)
            )
            row.text.append(contentsOf: entry.host.rawValue.utf8)
            if let instance = entry.instance { row.text.append(contentsOf: instance.rawValue.utf8) }
        }
        if let slot = self.free.popLast() {
            self.rows[Int(slot)] = row
            self.index.insert(hash, slot)
        } else {
            self.rows.append(row)
            self.index.insert(hash, UInt32(self.rows.count - 1))
        }
    }

    /// Forgets a partition's word on a token, if there is one.
    mutating func forget(_ token: DeviceToken, _ hash: UInt64, _ partition: PartitionID) {
        let words = TokenWords(token)
        let found = self.index.find(hash) { slot in
            self.rows[Int(slot)].partition == partition && self.rows[Int(slot)].isOf(words)
        }
        guard let found else { return }
        self.index.remove(hash, found)
        self.rows[Int(found)].text = []
        self.free.append(found)
    }

    private mutating func number(of app: BundleID) -> UInt32 {
        if let index = self.apps.firstIndex(of: app) { return UInt32(index) }
        self.apps.append(app)
        return UInt32(self.apps.count - 1)
    }
}
