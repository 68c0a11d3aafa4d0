import LoadGenerator
import Synchronization

/// The restart of bench's own gateway that a scenario asks for, some time after the run has begun.
final class PlannedRestart: Sendable {
    private let instant: Int64?
    private let gateway: BenchGateway?
    private let task = Mutex<Task<Void, any Error>?>(nil)

    /// - Parameter instant: Nanoseconds after the run's beginning; nil for no restart.
    init(_ instant: Int64?, of gateway: BenchGateway?) {
        self.instant = instant
        self.gateway = gateway
    }

    /// The run begins.
    func begin() {
        guard let instant, let gateway else { return }
        self.task.withLock { task in
            task = Task {
                try await Task.sleep(for: .nanoseconds(instant))
                try await gateway.restart()
            }
        }
    }

    /// The run is over.
    ///
    /// - Throws: The error that kept the gateway from coming back.
    func finish() async throws {
        try await self.task.withLock { $0 }?.value
    }
}
