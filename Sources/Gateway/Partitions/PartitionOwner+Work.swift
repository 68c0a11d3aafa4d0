import Engine
import Journaling
import NIOCore
import WidgetModel

/// What the owner does, as it is counted: whose work is done, and how fast.
extension PartitionOwner {
    func countWork(_ output: EngineOutput) {
        self.state.value.unitsDone += WorkUnits.done(output)
        if output.answers.contains(where: \.result.changesAudience) { self.state.value.hasNewAudience = true }
    }

    /// Tells of what was done, and how long that took.
    func tellWork(since begunAt: NIODeadline) {
        let now = NIODeadline.now()
        var turn = PartitionWork.Turn()
        turn.units = self.state.value.unitsDone - self.state.value.unitsTold
        turn.nanoseconds = Int((now - begunAt).nanoseconds)
        turn.second = Int(now.uptimeNanoseconds / 1_000_000_000)
        turn.matchesPostponed = self.state.value.engine.postponedMatchesInAll
        turn.matchesWritten = turn.matchesPostponed - self.state.value.engine.postponedMatches
        self.state.value.unitsTold = self.state.value.unitsDone
        if self.state.value.hasNewAudience {
            self.state.value.hasNewAudience = false
            self.work.setAudiences(self.state.value.engine.audiences())
        }
        self.work.advance(to: self.state.value.applied, turn)
    }
}
