import Engine
import Journaling
import NIOCore
import WidgetModel

/// What the owner does, as it is counted: whose work is done, how fast, and how far behind the log it is.
extension PartitionOwner {
    func countWork(_ output: EngineOutput) {
        var units = output.effects.count
        for answer in output.answers {
            units += WorkUnits.done(answer.result)
            if answer.result.changesAudience { self.state.value.hasNewAudience = true }
        }
        self.state.value.unitsDone += units
    }

    /// Tells of what was done, and how long that took.
    func tellWork(since begunAt: NIODeadline) {
        guard let work = self.work else { return }
        let now = NIODeadline.now()
        var turn = PartitionWork.Turn()
        turn.units = self.state.value.unitsDone
        turn.nanoseconds = Int((now - begunAt).nanoseconds)
        turn.second = Int(now.uptimeNanoseconds / 1_000_000_000)
        turn.matchesPostponed = self.state.value.engine.postponedMatchesInAll
        turn.matchesWritten = turn.matchesPostponed - self.state.value.engine.postponedMatches
        self.state.value.unitsDone = 0
        if self.state.value.hasNewAudience {
            self.state.value.hasNewAudience = false
            work.setAudiences(self.state.value.engine.audiences())
        }
        work.advance(to: self.state.value.applied, turn)
    }

    /// How far apart arrivals are noted.
    private static let arrivalSpacing: TimeAmount = .milliseconds(100)

    func noteArrival(_ position: LogPosition) {
        let (now, applied) = (NIODeadline.now(), self.state.value.applied)
        if let first = self.state.value.arrivals.first, first.position <= applied {
            self.state.value.arrivals.removeAll { $0.position <= applied }
        }
        if let last = self.state.value.arrivals.last, now - last.at < Self.arrivalSpacing { return }
        self.state.value.arrivals.append((position, now))
    }

    /// How long the oldest entry has waited that is not applied.
    var lagTime: Interval {
        let oldest = self.state.value.arrivals.first { $0.position > self.state.value.applied }
        guard let oldest else { return .zero }
        return .milliseconds((NIODeadline.now() - oldest.at).nanoseconds / 1_000_000)
    }
}
