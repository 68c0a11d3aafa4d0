import Engine
import Journaling
import NIOCore
import Ownership
import WidgetModel

extension PartitionOwner {
    /// The shortest time between two ticks: timers are due to the second, so four looks a second are plenty.
    private static let tickSpacing: TimeAmount = .milliseconds(250)

    /// Arms one timer for the next instant at which something is due.
    func armTick() {
        self.state.value.tick?.cancel()
        self.state.value.tick = nil
        guard !self.state.value.hasEndedTicks, let due = self.state.value.machine.tickDue else { return }
        let wait = max(0, (due - self.services.clock.now()).milliseconds)
        let now = NIODeadline.now()
        // A day is long enough: the timer is armed anew whenever an entry is applied.
        let wanted = now + .milliseconds(min(wait, Interval.day.milliseconds))
        let deadline = max(wanted, self.state.value.lastTick + Self.tickSpacing)
        self.state.value.tick = self.loop.scheduleTask(deadline: deadline) { self.tickIfDue() }
    }

    /// Logs no tick any more, so that the log ends with an entry of others: due timers wait for the next start.
    func endTicks() async throws {
        try await self.loop.submit {
            self.state.value.hasEndedTicks = true
            self.armTick()
        }.get()
    }

    /// Logs a tick, unless the log's clock, which may go slower than the loop's, has not reached the due time: the tick
    /// would do nothing, and the next one, which would be due at once, would do nothing either.
    private func tickIfDue() {
        guard let due = self.state.value.machine.tickDue, due <= self.services.clock.now() else {
            return self.armTick()
        }
        self.appendTick()
    }

    private static let tickRecords = PackedRecords(Record.tick.bytes)

    private func appendTick() {
        self.state.value.lastTick = .now()
        let submission = Submission(partition: self.partition, records: Self.tickRecords)
        self.journal.append(submission) { result in
            // A tick that failed is due again; one that succeeded is announced like any entry.
            guard case .failure = result else { return }
            self.loop.execute { self.armTick() }
        }
    }
}
