import Engine
import Ownership
import Scenarios
import WidgetModel

/// The deliverer of one start of the gateway: the machine that a gateway runs.
final class SimulatedDeliverer {
    /// Records about a delivery that are in the log.
    struct Report {
        let number: DeliveryNumber
        let tryNumber: Int
        let partition: PartitionID
        let position: LogPosition
    }

    /// The start that it belongs to.
    let start: Int
    var machine: DeliveryMachine
    /// When it is called next, in milliseconds, if that is planned.
    var wakesAt: Int64?
    /// Its records that are in the log, and not applied yet.
    var reported: [Report] = []
    /// Its search for undelivered reloads, until the partition has committed the state that it had then.
    var search: (partition: PartitionID, first: InstanceNumber, limit: Int)?
    /// By delivery, how often it was tried, and the last try that was answered.
    var tries: [DeliveryNumber: Int] = [:]
    var answered: [DeliveryNumber: Int] = [:]

    init(start: Int, _ dice: inout Dice) {
        var settings = DeliveryMachine.Settings()
        settings.limits.inWorkMax = dice.pick([1, 3, 1000])
        settings.limits.knownMax = dice.pick([2, 6, 100_000])
        settings.retries.max = .seconds(60)
        settings.retries.afterServerError = .seconds(60)
        settings.requestTimeout = .seconds(8)
        let upstream = DeliveryTarget(kind: .upstream, app: FaultWorld.app)
        self.start = start
        self.machine = DeliveryMachine([upstream: .upstream(0)], partitions: FaultWorld.partitions, settings)
    }
}
