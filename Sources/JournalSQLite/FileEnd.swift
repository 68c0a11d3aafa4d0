import Synchronization

/// Asks the writer to begin a new file behind its next commit.
final class FileEnd: Sendable {
    private let isAsked = Atomic<Bool>(false)

    func ask() { self.isAsked.store(true, ordering: .relaxed) }

    /// Whether it was asked since the last call.
    func takeRequest() -> Bool { self.isAsked.exchange(false, ordering: .relaxed) }
}
