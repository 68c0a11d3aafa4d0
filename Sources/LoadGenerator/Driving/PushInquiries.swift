import DequeModule
import WidgetModel

/// Which pushes' decisions are asked for, and which questions are out. A value without clock and sockets; instants are
/// nanoseconds of the monotonic clock.
struct PushInquiries: Sendable {
    /// A push whose decision is asked for.
    struct Inquiry: Hashable, Sendable {
        let push: Int64
        let load: Int
        /// When the push was meant to be sent.
        let intended: Int64
        /// When to ask (again).
        var at: Int64
    }

    /// Between two questions about one push.
    private static let askEvery: Int64 = 500_000
    /// Pushes that are asked for at one time; while there are so many, no other is followed.
    private static let pushesMax = 1000

    /// The share of pushes that are followed.
    private let share: Double
    private var due = Deque<Inquiry>()
    /// By the number of the question.
    private var asked: [Int64: Inquiry] = [:]

    init(share: Double) {
        self.share = share
    }

    var isEmpty: Bool { self.due.isEmpty && self.asked.isEmpty }

    /// When the next question is due; nil if none waits.
    var nextAt: Int64? { self.due.first?.at }

    /// All whose decision has not been told.
    var open: [Inquiry] { Array(self.due) + Array(self.asked.values) }

    /// A push was accepted: some of them are asked for their decisions. A hash of their numbers selects them, so that
    /// the sample is spread over the run; the first push is always in it.
    mutating func follow(_ exchange: Exchange) {
        let place = Double(StableHash.mix(UInt64(exchange.number)) >> 11) * 0x1p-53
        guard place < self.share || exchange.number == 1, self.due.count + self.asked.count < Self.pushesMax
        else { return }
        self.due.append(Inquiry(push: exchange.number, load: Int(exchange.load), intended: exchange.intended, at: 0))
    }

    /// The next that is due, to be asked now; nil if there is none.
    ///
    /// - Parameter question: The number of the question.
    mutating func ask(_ question: Int64, at now: Int64) -> Inquiry? {
        guard let first = self.due.first, first.at <= now else { return nil }
        self.asked[question] = first
        return self.due.popFirst()
    }

    /// A question was answered with a decision.
    mutating func end(_ question: Int64) -> Inquiry? { self.asked.removeValue(forKey: question) }

    /// A question was answered without a decision, or lost: it is asked again soon.
    mutating func repeatQuestion(_ question: Int64, at now: Int64) {
        guard var inquiry = self.asked.removeValue(forKey: question) else { return }
        inquiry.at = now + Self.askEvery
        self.due.append(inquiry)
    }
}
