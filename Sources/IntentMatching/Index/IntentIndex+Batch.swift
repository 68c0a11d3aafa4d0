import BasicContainers
import Storage
package import WidgetModel

/// Many instances at once.
extension IntentIndex {
    /// Adds instances of one kind, or replaces their data. O(parameters) each. While the index is loaded, thousands of
    /// new ones are added field by field, which is faster.
    package mutating func insert(_ instances: Span<PlainInstance>, app: BundleID, kind: WidgetKind) {
        var batch = ValueBatch()
        var start = 0
        while start < instances.count {
            let rest = instances.extracting(start..<instances.count)
            var count = self.isLoading ? self.append(rest, app, kind, &batch) : 0
            if count == 0 {
                let instance = rest[0]
                self.insert(
                    instance.instance,
                    app: app,
                    kind: kind,
                    family: instance.family,
                    host: instance.host,
                    tags: [],
                    configuration: instance.configuration,
                    pushEnabled: true
                )
                count = 1
            }
            start += count
        }
    }

    /// Adds the first of some instances, and returns how many.
    private mutating func append(
        _ instances: Span<PlainInstance>,
        _ app: BundleID,
        _ kind: WidgetKind,
        _ batch: inout ValueBatch
    ) -> Int {
        let new = self.countNew(instances)
        guard new > 0 else { return 0 }
        let segment = self.findOrMakeSegment(app, kind, isConditional: false)
        let row = UInt32(self.segments[segment].table.rowCount)
        let count = self.segments[segment].append(instances.extracting(first: new), &batch)
        guard count > 0 else { return 0 }
        self.makeRoom(for: instances[count - 1].instance)
        for index in 0..<count {
            self.places[instances[index].instance.index] = UInt32(segment + 1)
            self.rows[instances[index].instance.index] = row + UInt32(index)
        }
        return count
    }

    /// How many of the first instances ascend and are not known.
    private func countNew(_ instances: Span<PlainInstance>) -> Int {
        var last = -1
        for index in instances.indices {
            let instance = instances[index].instance.index
            if instance <= last { return index }
            if instance < self.places.count, self.places[instance] != 0 { return index }
            last = instance
        }
        return instances.count
    }
}
