import IntentMatching
import Storage
import Timelines
import WidgetModel

/// Puts together the parts of one snapshot that several threads have read.
extension Engine {
    /// Takes in the instances that an ``EngineInstancesDecoder`` read of the same snapshot. O(instances), some nanoseconds
    /// each.
    package mutating func adopt(_ instances: consuming EngineInstances) throws(SnapshotError) {
        guard instances.position == self.position, instances.runningHash == self.runningHash else {
            throw .otherPartition
        }
        let rows = instances.rows
        self.counters.instances = rows.live
        self.counters.tombstones = rows.instances.rows.count - rows.live
        self.counters.pushEnabledInstances = rows.pushEnabled
        self.counters.orphanedInstances = rows.orphaned
        for (kind, usage) in rows.usages.enumerated() { self.registry[usage: self.catalogue.kinds[kind].app] += usage }
        let controls = rows.controls
        let timers = rows.timers
        for (kind, usage) in rows.usages.enumerated() {
            self.schedule.countLive(KindNumber(kind), usage.instances)
        }
        self.registry.instances = rows.instances
        self.schedule.takeRows(rows.schedule)
        self.countBehind()
        for instance in controls {
            guard let token = self.registry[coldFields: instance].controlToken else { continue }
            self.registry.bind(token, toControl: instance)
        }
        self.schedule.instanceTimers.makeRoom(for: self.registry.instanceEnd)
        for place in timers.indices {
            let timer = timers[place]
            self.schedule.arm(timer.instance, at: Instant(seconds: Int64(timer.second)))
        }
    }

    /// Takes in the index that an ``EngineIndexDecoder`` made of the same snapshot.
    package mutating func adopt(_ index: consuming EngineIndex) throws(SnapshotError) {
        guard index.position == self.position, index.runningHash == self.runningHash else { throw .otherPartition }
        self.registry.index = index.index
    }

    /// Makes the index of the rows.
    mutating func fillIndex() {
        for kind in self.catalogue.kinds { self.registry.declare(kind.schema, app: self.catalogue[kind.app].id) }
        for instance in self.registry.usedInstances() where self.registry[instance].isLive {
            self.insertIntoIndex(instance, self.registry.configuration(of: instance))
        }
    }
}
