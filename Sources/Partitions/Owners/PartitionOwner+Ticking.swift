import Journaling
import NIOCore
import Ownership
import WidgetModel

extension PartitionOwner {
    private var uptime: Interval { .milliseconds(Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)) }

    /// Arms one timer for the next tick.
    func armTick() {
        self.state.value.tick?.cancel()
        let delay = self.state.value.machine.tickDelay(at: self.services.clock.now(), uptime: self.uptime)
        self.state.value.tick = delay.map { delay in
            self.loop.scheduleTask(in: .milliseconds(delay.milliseconds)) { self.appendTick() }
        }
    }

    /// See ``OwnerMachine/hasEndedTicks``.
    func endTicks() async throws {
        try await self.loop.submit {
            self.state.value.machine.hasEndedTicks = true
            self.armTick()
        }.get()
    }

    private func appendTick() {
        guard self.state.value.machine.takeTick(at: self.services.clock.now(), uptime: self.uptime) else {
            return self.armTick()
        }
        self.journal.append(Submission(partition: self.partition, records: .tick)) { result in
            // A tick that failed is due again; one that succeeded is announced like any entry.
            guard case .failure = result else { return }
            self.loop.execute { self.armTick() }
        }
    }
}
