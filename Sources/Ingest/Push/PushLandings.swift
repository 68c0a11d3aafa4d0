import Journaling
import NIOCore
import Synchronization

/// The flights of one event loop that were committed, until it gets to them: those that come together are answered together,
/// with one wake-up of the loop and one flush of each connection.
final class PushLandings: Sendable {
    typealias Landing = (number: UInt64, result: Result<Void, JournalError>)

    private let landings = Mutex<[Landing]>([])

    /// Takes a flight from the journal's thread. The loop is woken if it is not yet.
    func add(_ number: UInt64, _ result: Result<Void, JournalError>, for handler: NIOLoopBound<PushHandler>) {
        let isFirst = self.landings.withLock { landings in
            landings.append((number, result))
            return landings.count == 1
        }
        if isFirst { handler.eventLoop.execute { handler.value.land() } }
    }

    /// The landings since the last call, in their order.
    func takeAll() -> [Landing] {
        self.landings.withLock { landings in
            var taken: [Landing] = []
            swap(&taken, &landings)
            return taken
        }
    }
}
