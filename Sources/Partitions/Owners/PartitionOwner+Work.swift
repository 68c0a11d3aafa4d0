import Engine
import Journaling
import NIOCore
import Ownership
import WidgetModel

/// The count of the owner's work: the units done, and how fast.
extension PartitionOwner {
    func countWork(_ run: EntryRun) {
        self.state.value.unitsDone += run.unitsDone
        if run.output.answers.contains(where: \.result.changesAudience) { self.state.value.hasNewAudience = true }
    }

    /// Tells the work that was done, and how long it took. The work of an entry is told when all of it is applied.
    func tellWork(since begunAt: NIODeadline) {
        let now = NIODeadline.now()
        self.state.value.nanosecondsUntold += Int((now - begunAt).nanoseconds)
        guard self.state.value.machine.isBetweenEntries || self.state.value.unitsDone > self.state.value.unitsTold
        else { return }
        var turn = PartitionWork.Turn()
        turn.units = self.state.value.unitsDone - self.state.value.unitsTold
        turn.nanoseconds = self.state.value.nanosecondsUntold
        turn.second = Int(now.uptimeNanoseconds / 1_000_000_000)
        self.state.value.unitsTold = self.state.value.unitsDone
        self.state.value.nanosecondsUntold = 0
        if self.state.value.hasNewAudience {
            self.state.value.hasNewAudience = false
            self.work.setAudiences(self.state.value.engine.audiences())
        }
        self.work.advance(to: self.state.value.machine.applied, turn)
    }
}
