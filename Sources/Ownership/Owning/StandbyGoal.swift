import Journaling
import WidgetModel

/// How far a standby may go, and which state it has to come to there: its knowledge of another owner's outputs.
///
/// It goes from one output to the newest one that is known when it is there. A running hash is one of everything before it, so
/// that those in between need not be kept, however far it is behind.
struct StandbyGoal {
    /// The output that is gone to, until it is reached.
    private var next: OwnerCheckpoint?
    /// The newest one behind it.
    private var last: OwnerCheckpoint?
    /// Up to where entries may be applied.
    private(set) var through: LogPosition

    /// - Parameter applied: Where it is.
    init(from applied: LogPosition) { self.through = applied }

    /// Up to where entries are known to be committed.
    var newest: LogPosition { self.last?.through ?? self.through }

    /// Another owner has committed. Chunks of incomplete outputs, and outputs that are known, change nothing.
    mutating func takeOutput(_ output: OutputRecord) {
        guard output.through > self.newest || (self.next == nil && output.through == self.through) else { return }
        let checkpoint = OwnerCheckpoint(through: output.through, runningHash: output.runningHash)
        if self.next == nil {
            (self.next, self.through) = (checkpoint, checkpoint.through)
        } else {
            self.last = checkpoint
        }
    }

    /// The output whose entries are all applied, once, and goes on to the newest one; nil if it is not reached.
    mutating func reach(_ applied: LogPosition) -> OwnerCheckpoint? {
        guard let reached = self.next, reached.through == applied else { return nil }
        self.next = self.last.take()
        self.through = self.next?.through ?? reached.through
        return reached
    }
}
