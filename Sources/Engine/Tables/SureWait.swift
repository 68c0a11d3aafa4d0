import Timelines
import WidgetModel

/// For how long pushes are sure to wait for an instance: eight bytes, so that a million of them are soon looked at.
///
/// A push waits whatever else is known of the instance
///
/// - within the minimum interval after a charged reload, if nothing waits that could be free and its host is not exempt, or
/// - if something as urgent waits until a date already, and the push does not end before that.
///
/// Until the first of the instance's own dates: what is due comes first, and may change everything. Whatever changes a part
/// of that notes it anew; see ``Engine/noteSureWait(_:)``.
struct SureWait: Sendable {
    /// The first second in which it is not sure any more.
    fileprivate(set) var until: UInt32 = 0
    /// How many more may be postponed.
    fileprivate var room: UInt8 = 0
    /// How many are: pushes that wait, and are not in the instance's row yet.
    var postponed: UInt8 = 0
    /// A bit for each priority that waits, and one if only pushes do that do not end before ``until``.
    fileprivate var classes: UInt8 = 0

    fileprivate static let joins: UInt8 = 1 << 7
    fileprivate static let all: UInt8 = 1 << 7 - 1

    /// Nothing is sure.
    init() {}

    /// - Parameters:
    ///   - row: A live instance.
    ///   - quiet: How long after a charge nothing is charged again for a push, and nothing is free, in milliseconds.
    ///   - pendingMax: How many pushes may wait.
    ///   - now: Milliseconds.
    @inline(__always)
    init(_ row: borrowing InstanceTable.Row, quiet: Int64, pendingMax: Int, now: Int64) {
        guard row.flags.rawValue & Self.excluded.rawValue == 0 else { return }
        let due = row.nextDate
        self.room = UInt8(clamping: pendingMax - Int(row.pending.count))
        let charged = row.waiting.rawValue == 0 ? row.budget.chargedAgain(after: quiet) : .min
        if charged > now {
            self.until = UInt32(clamping: min(due, charged) / 1000)
            self.classes = Self.all
        } else if row.decidesAt == due, row.heldUntil <= now, row.high | row.normal != 0 {
            self.until = UInt32(clamping: due / 1000)
            self.classes = Self.joins | Self.bit(of: .low) | Self.bit(of: .normal)
            if row.high > 0 { self.classes |= Self.bit(of: .high) }
        }
    }

    private static let excluded: InstanceTable.Flags = [.isHostDriven, .hasScheduled]

    fileprivate static func bit(of priority: Priority) -> UInt8 {
        switch priority {
        case .low: 1 << 0
        case .normal: 1 << 1
        case .high: 1 << 2
        }
    }

    /// Takes what was found of the row, without what is postponed.
    @inline(__always)
    mutating func take(_ other: SureWait) {
        self.until = other.until
        self.classes = other.classes
        self.room = other.room > self.postponed ? other.room - self.postponed : 0
    }
}

extension SureWait {
    /// Whether one more push is sure to wait, asked of one instance after the other.
    struct Test {
        /// The second that it is.
        private let now: UInt32
        /// The second in which the push ends.
        private let end: UInt32
        private let bit: UInt8
        /// The end of the shortest time for which it was sure, in seconds.
        private(set) var until = UInt32.max

        /// - Parameters:
        ///   - priority: The push's.
        ///   - expiresAt: When it ends, in milliseconds.
        ///   - now: Milliseconds.
        init(_ priority: Priority, expiresAt: Int64, now: Int64) {
            self.now = UInt32(clamping: now / 1000)
            self.end = UInt32(clamping: expiresAt / 1000)
            self.bit = SureWait.bit(of: priority)
        }

        /// Counts a push in that is sure to wait; false if it is not.
        @inline(__always)
        mutating func passes(_ wait: inout SureWait) -> Bool {
            guard wait.until > self.now, wait.classes & self.bit != 0, wait.room > 0,
                wait.classes & SureWait.joins == 0 || self.end > wait.until
            else { return false }
            wait.room &-= 1
            wait.postponed &+= 1
            self.until = min(self.until, wait.until)
            return true
        }
    }
}
