import WidgetModel

/// Wakes an actor when the next thing is due: it is told of each such instant, and the earliest counts.
struct DueTimer {
    private var task: Task<Void, Never>?
    private var due = Instant.distantFuture

    /// Wakes when this is due, unless something is due before; nil for never.
    ///
    /// - Parameter wake: Is to call ``fired()`` first.
    mutating func set(_ next: Instant?, now: Instant, _ wake: @escaping @Sendable () async -> Void) {
        // A clock that is set forward passes due times, and the task sleeps on.
        guard let next, next < self.due || self.due <= now else { return }
        self.task?.cancel()
        self.due = next
        let wait = max(0, min((next - now).milliseconds, Interval.day.milliseconds))
        self.task = Task {
            guard (try? await Task.sleep(for: .milliseconds(wait))) != nil else { return }
            await wake()
        }
    }

    /// It has woken.
    mutating func fired() { (self.task, self.due) = (nil, .distantFuture) }

    func cancel() { self.task?.cancel() }
}
