import Journaling
import Ownership
import Synchronization
import TimelineProviding
import WidgetModel

/// The journal's callbacks, until the simulation gets to them.
final class JournalInbox: Sendable {
    enum Message: Sendable {
        /// A submission of a gateway's start of that number, for a client's request if it is one.
        case appended(start: Int, request: Int?, Result<Void, JournalError>)
        /// Records of a deliverer, for a try to log the result of a delivery.
        case reported(start: Int, DeliveryNumber, try: Int, PartitionID, Result<AppendReceipt, JournalError>)
        /// Timelines of a fetcher, from its exchange.
        case fetched(start: Int, FetchExchange, PartitionID, Result<AppendReceipt, JournalError>)
        case committed(start: Int, PartitionID, Result<OutputPosition, JournalError>)
        /// There are entries up to a position.
        case announced(start: Int, PartitionID, LogPosition)

        /// The occurrence of its repetition.
        var repetition: Occurrence {
            switch self {
            case .appended: .repeatedAppend
            case .reported: .repeatedReport
            case .fetched: .repeatedFetch
            case .committed: .repeatedCommit
            case .announced: .repeatedHint
            }
        }
    }

    private let messages = Mutex<[Message]>([])

    func append(_ message: Message) {
        self.messages.withLock { $0.append(message) }
    }

    /// The messages since the last call, in order.
    func takeAll() -> [Message] {
        self.messages.withLock { messages in
            defer { messages.removeAll() }
            return messages
        }
    }
}

/// The clock that stamps the simulated log.
final class VirtualClock: Sendable {
    private let instant: Mutex<Instant>

    init(_ instant: Instant) {
        self.instant = Mutex(instant)
    }

    var now: Instant {
        get { self.instant.withLock { $0 } }
        set { self.instant.withLock { $0 = newValue } }
    }
}
