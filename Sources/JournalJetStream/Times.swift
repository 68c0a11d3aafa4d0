#if JetStream
import JournalStreams
import Journaling
import Synchronization
import WidgetModel

/// The times of some entries of a partition: those of the others follow from them, one from the other.
final class Times: Sendable {
    private static let max = 64

    /// The oldest first.
    private let known = Mutex<[TimeAnchor]>([])

    func noteAnchor(_ anchor: TimeAnchor) {
        self.known.withLock { known in
            known.removeAll { $0.position == anchor.position }
            known.append(anchor)
            if known.count > Self.max { known.removeFirst() }
        }
    }

    /// The last one that is not behind a position.
    func last(notBehind position: LogPosition) -> TimeAnchor? {
        self.known.withLock { known in
            known.filter { $0.position <= position }.max { $0.position < $1.position }
        }
    }
}
#endif
