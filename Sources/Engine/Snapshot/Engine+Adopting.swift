import IntentMatching
import Storage
import Timelines
import WidgetModel

/// Putting together what was read of one snapshot on several threads.
extension Engine {
    /// Takes in the instances that an ``EngineInstancesDecoder`` read of the same snapshot. O(instances), some nanoseconds
    /// each.
    package mutating func adopt(_ instances: consuming EngineInstances) throws(SnapshotError) {
        guard instances.position == self.position, instances.runningHash == self.runningHash else {
            throw .otherPartition
        }
        let rows = instances.rows
        self.counters.instances = rows.live
        self.counters.tombstones = rows.rows.count - rows.live
        self.counters.pushEnabledInstances = rows.pushEnabled
        self.counters.orphanedInstances = rows.orphaned
        for (kind, usage) in rows.usages.enumerated() { self.usages[self.catalogue.kinds[kind].app] += usage }
        let controls = rows.controls
        let timers = rows.timers
        self.instances.takeRows(rows.rows, rows.active, rows.details)
        for instance in controls {
            guard let token = self.instances[particulars: instance].controlToken else { continue }
            let host = self.instances[instance].host
            self.tokens.bind(token, to: TokenTable.Binding(host: host, instance: instance))
        }
        self.instanceTimers.makeRoom(for: self.instances.end)
        for place in timers.indices {
            let timer = timers[place]
            self.instanceTimers.arm(timer.instance, at: Instant(seconds: Int64(timer.second)))
        }
    }

    /// Takes in the index that an ``EngineIndexDecoder`` made of the same snapshot.
    package mutating func adopt(_ index: consuming EngineIndex) throws(SnapshotError) {
        guard index.position == self.position, index.runningHash == self.runningHash else { throw .otherPartition }
        self.index = index.index
    }

    /// Makes the index of the rows.
    mutating func fillIndex() {
        for kind in self.catalogue.kinds { self.index.declare(kind.schema, app: self.catalogue[kind.app].id) }
        for instance in self.instances.usedNumbers() where self.instances[instance].isLive {
            self.insertIntoIndex(instance, self.instances.configuration(of: instance))
        }
    }
}
