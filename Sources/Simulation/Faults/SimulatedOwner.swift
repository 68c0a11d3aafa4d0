import Engine
import Journaling
import Ownership
import WidgetModel

/// The owner of a partition in one start of the gateway: the machine that a gateway runs.
final class SimulatedOwner {
    let partition: PartitionID
    /// The start that it belongs to.
    var start: Int
    var machine: OwnerMachine
    /// When its next tick is to be appended, in milliseconds, if one is planned.
    var tickAt: Int64?
    /// The reloads that came out and were not published: hosts may not hear of them yet.
    var unpublished: Set<ReloadID> = []
    /// Whether its next checkpoint is for a snapshot.
    var wantsSnapshot = false

    init(_ machine: consuming OwnerMachine, start: Int) {
        self.partition = machine.partition
        self.start = start
        self.machine = machine
    }

    var engine: Engine { _read { yield self.machine.engine } }
    var applied: LogPosition { self.machine.applied }
}
