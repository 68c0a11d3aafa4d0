import Timelines
import WidgetModel

/// For how long pushes are sure to wait for an instance: four bytes, so that a million of them are soon looked at.
///
/// A push waits whatever else is known of the instance
///
/// - within the minimum interval after a charged reload, if nothing waits that could be free and its host is not exempt, or
/// - if something as urgent waits until a date already, and the push does not end before that.
///
/// Until the first of the instance's own dates: what is due comes first, and may change everything. Whatever changes a part
/// of that notes it anew; see ``Engine/noteSureWait(_:)``.
struct SureWait: Sendable {
    /// From the highest: in 22 bits the first step in which it is not sure any more, in 6 how many more may wait, and a bit
    /// each if only pushes do that do not end before, and for the priorities that wait.
    private var bits: UInt32 = 0

    /// More room than this is not known of.
    static let roomMax = 63
    private static let joins: UInt32 = 1 << 3
    private static let all: UInt32 = 1 << 3 - 1

    /// Nothing is sure.
    init() {}

    /// - Parameters:
    ///   - row: A live instance.
    ///   - quiet: How long after a charge nothing is charged again for a push, and nothing is free, in milliseconds.
    ///   - pendingMax: How many pushes may wait.
    ///   - now: Milliseconds.
    ///   - steps: How time is counted.
    @inline(__always)
    init(_ row: borrowing InstanceTable.Row, quiet: Int64, pendingMax: Int, now: Int64, steps: Steps) {
        guard row.flags.rawValue & Self.excluded.rawValue == 0 else { return }
        let due = row.nextDate
        let room = UInt32(max(0, min(Self.roomMax, pendingMax - Int(row.pending.count)))) << 4
        let charged = row.waiting.rawValue == 0 ? row.budget.chargedAgain(after: quiet) : .min
        if charged > now {
            self.bits = steps[min(due, charged)] << 10 | room | Self.all
        } else if row.decidesAt == due, row.heldUntil <= now, row.high | row.normal != 0 {
            self.bits = steps[due] << 10 | room | Self.joins | Self.bit(of: .low) | Self.bit(of: .normal)
            if row.high > 0 { self.bits |= Self.bit(of: .high) }
        }
    }

    private static let excluded: InstanceTable.Flags = [.isHostDriven, .hasScheduled]

    private static func bit(of priority: Priority) -> UInt32 {
        switch priority {
        case .low: 1 << 0
        case .normal: 1 << 1
        case .high: 1 << 2
        }
    }

    /// The first step in which it is not sure any more.
    @inline(__always)
    var until: UInt32 { self.bits >> 10 }
}

extension SureWait {
    /// Time in steps of two seconds from an instant on, of which 22 bits hold 97 days.
    struct Steps: Sendable {
        /// Milliseconds.
        private let start: Int64

        private static let length: Int64 = 2000
        private static let last: Int64 = 1 << 22 - 1

        /// - Parameter start: Milliseconds, not before the epoch.
        init(from start: Int64) { self.start = start }

        /// The step of an instant in milliseconds; the first for what lies before, the last for what lies behind, in which
        /// nothing is sure.
        @inline(__always)
        subscript(instant: Int64) -> UInt32 {
            UInt32(min(Self.last, (max(instant, self.start) - self.start) / Self.length))
        }

        /// Where a step begins, in milliseconds.
        func beginning(of step: UInt32) -> Int64 { self.start + Int64(step) * Self.length }

        /// Whether half of the steps are over, and counting should begin anew.
        func areUsed(at now: Int64) -> Bool { Int64(self[now]) > Self.last / 2 }
    }

    /// Whether one more push is sure to wait, asked of one instance after the other.
    struct Test {
        /// The step that it is.
        private let now: UInt32
        /// The step in which the push ends.
        private let end: UInt32
        private let bit: UInt32
        /// How many may be postponed for an instance already.
        private let taken: UInt32
        /// The end of the shortest time for which it was sure.
        private(set) var until = UInt32.max

        /// - Parameters:
        ///   - priority: The push's.
        ///   - expiresAt: When it ends, in milliseconds.
        ///   - now: Milliseconds.
        ///   - steps: How time is counted.
        ///   - postponed: How many pushes at most are postponed for any instance, and not in its row yet.
        init(_ priority: Priority, expiresAt: Int64, now: Int64, steps: Steps, postponed: Int) {
            self.now = steps[now]
            self.end = steps[expiresAt]
            self.bit = SureWait.bit(of: priority)
            self.taken = UInt32(min(SureWait.roomMax, postponed))
        }

        /// Whether the push is sure to wait for an instance.
        @inline(__always)
        mutating func passes(_ wait: SureWait) -> Bool {
            guard wait.until > self.now, wait.bits & self.bit != 0,
                wait.bits >> 4 & UInt32(SureWait.roomMax) > self.taken,
                wait.bits & SureWait.joins == 0 || self.end > wait.until
            else { return false }
            self.until = min(self.until, wait.until)
            return true
        }
    }
}
