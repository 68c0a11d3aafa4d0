import Storage
import WidgetModel

/// The pushes that were accepted last, by the number of their coming: a ring of their rows.
///
/// For lists, newest first. No part of the state: nothing is decided by it, and after a restart it begins anew.
struct RecentPushes: Sendable {
    /// How many are listed: 1 MiB.
    static let capacity = 65_536

    struct Entry: Sendable {
        let slot: PushNumber
        /// Where the push came in; the row is another push's if it says something else.
        let position: LogPosition
    }

    private var entries: [Entry] = []
    /// How many ever came; the next one's number.
    private(set) var count: UInt64 = 0

    /// The number of the oldest that is still listed.
    var oldest: UInt64 { self.count - UInt64(self.entries.count) }

    /// Bytes of memory held.
    var byteCount: Int { self.entries.heldBytes }

    @inline(__always)
    mutating func append(_ slot: PushNumber, at position: LogPosition) {
        let entry = Entry(slot: slot, position: position)
        if self.entries.count < Self.capacity {
            self.entries.append(entry)
        } else {
            self.entries[Int(truncatingIfNeeded: self.count) & (Self.capacity - 1)] = entry
        }
        self.count += 1
    }

    subscript(number: UInt64) -> Entry? {
        guard number < self.count, number >= self.oldest else { return nil }
        return self.entries[Int(truncatingIfNeeded: number) & (Self.capacity - 1)]
    }
}
