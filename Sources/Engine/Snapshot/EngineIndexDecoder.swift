package import IntentMatching
import WidgetModel

/// The intent index of a snapshot's state, made beside the tables of the same frames: neither waits for the other.
package struct EngineIndex: ~Copyable, Sendable {
    let position: LogPosition
    let runningHash: UInt64
    let index: IntentIndex
}

/// Reads the intent index from a snapshot's frames.
package struct EngineIndexDecoder: ~Copyable, Sendable {
    private typealias Section = EngineSnapshot.Section

    /// An instance without tags and conditions, which pushes reach.
    private struct Model {
        /// Of its configuration.
        let number: Int
        let kind: KindNumber
        let family: WidgetFamily
        let instance: InstanceNumber
    }

    private var frames = 0
    private var head = SnapshotHead()
    /// The number that the next instance has at least.
    private var instances = 0
    private var index: IntentIndex
    private var configurations = ConfigurationCache()
    /// By their configuration's place in the cache: instances that others may be like.
    private var models: [Model?] = []
    /// The number that the next row has if none is left out.
    private var expected = 0
    /// Instances of one kind that are not like any before, up to ``plainMax``: the index takes many at once faster.
    private var plain: [PlainInstance] = []
    private var plainKind = KindNumber.none

    private static let plainMax = 1024

    /// Nothing read yet.
    ///
    /// - Parameter interning: As the engine's.
    package init(interning: Interning = .observed(atLeast: 4096)) {
        self.index = IntentIndex(interning: interning)
        self.index.startLoading()
    }

    /// Whether a frame with this first byte is to be given to such a decoder.
    package static func needs(_ firstByte: UInt8) -> Bool { firstByte != Section.hosts.rawValue }

    /// Reads the next frame. O(frame).
    ///
    /// The other decoder reports faults of a frame as a whole; this one only never ends the process.
    ///
    /// - Returns: False once no later frame has data for the index.
    package mutating func take(_ frame: [UInt8]) throws(SnapshotError) -> Bool {
        do throws(ByteFault) {
            var coder = StateReader(frame)
            guard let section = Section(rawValue: try coder.byte()) else { throw ByteFault.invalid(offset: 0) }
            if self.frames == 0 {
                guard section == .head else { throw ByteFault.invalid(offset: 0) }
                self.head = try SnapshotHead().coded(by: &coder)
            }
            guard section <= .instances else { return false }
            self.expected = 0
            if section == .instances {
                swap(&coder.configurations, &self.configurations)
                defer { swap(&coder.configurations, &self.configurations) }
                try self.readInstances(&coder)
            }
        } catch {
            throw .damaged(frame: self.frames, error)
        }
        if self.frames == 0 { try self.declareKinds() }
        self.frames += 1
        return true
    }

    private mutating func declareKinds() throws(SnapshotError) {
        try self.head.checkVersions(rules: nil)
        for kind in self.head.kinds where kind.app.index < self.head.apps.count {
            self.index.declare(kind.schema, app: self.head.apps[kind.app.index].id)
        }
    }

    private mutating func readInstances(_ coder: inout StateReader) throws(ByteFault) {
        let end = Int(self.head.ends[EngineSnapshot.instanceTable])
        var shapes = try ShapeReader(&coder)
        // By shape: an instance that others may be like, or none.
        var models: [InstanceNumber] = []
        while !coder.isAtEnd {
            let slot: InstanceNumber = try coder.rowNumber(
                expected: self.expected,
                least: self.instances,
                below: end
            )
            self.expected = slot.index + 1
            self.instances = slot.index + 1
            let rowEnd = try coder.rowEnd()
            try self.insert(slot, &shapes, &models, &coder)
            // An index does not need the rest, nor the timer behind it.
            coder.move(to: rowEnd)
        }
    }

    private mutating func insert(
        _ slot: InstanceNumber,
        _ shapes: inout ShapeReader,
        _ models: inout [InstanceNumber],
        _ coder: inout StateReader
    ) throws(ByteFault) {
        let row = try InstanceRecord.Head.blank.coded(by: &coder)
        guard row.host.raw < self.head.ends[EngineSnapshot.hostTable] else { throw coder.fault() }
        guard row.flags.contains(.isLive) else { return }
        let entry = try shapes.entry(row.shape, &coder)
        try coder.skipText()
        var when: MatchPattern?
        if try InstanceGroups([]).coded(by: &coder).contains(.conditionOrControl) {
            when = try InstanceDetails.Particulars().coded(by: &coder).when
        }
        let isPlain = when == nil && entry.shape.tags.isEmpty && row.flags.contains(.pushEnabled)
        guard isPlain else { return try self.insert(slot, row.host, entry.shape, when, row.flags, nil, &coder) }
        let number = Int(row.shape)
        while models.count <= number { models.append(.none) }
        if !models[number].isNone, self.insert(slot, like: models[number], row.host) { return }
        models[number] = slot
        try self.insert(slot, row.host, entry.shape, nil, row.flags, entry.place, &coder)
    }

    private mutating func insert(_ slot: InstanceNumber, like other: InstanceNumber, _ host: HostNumber) -> Bool {
        self.insertPlain()
        return self.index.insert(slot, like: other, host: host)
    }

    /// - Parameter place: Where the configuration is kept of one who has nothing beside it.
    private mutating func insert(
        _ slot: InstanceNumber,
        _ host: HostNumber,
        _ shape: InstanceShape,
        _ when: MatchPattern?,
        _ flags: InstanceTable.Flags,
        _ place: ConfigurationCache.Place?,
        _ coder: inout StateReader
    ) throws(ByteFault) {
        // Where many are configured alike, most of them are like one that came before.
        if let place {
            if self.models.isEmpty { self.models = Array(repeating: nil, count: ConfigurationCache.size) }
            if let model = self.models[place.place], model.number == place.number, model.kind == shape.kind,
                model.family == shape.family, self.insert(slot, like: model.instance, host)
            {
                return
            }
        }
        guard shape.kind.index < self.head.kinds.count else { throw coder.fault() }
        let kind = self.head.kinds[shape.kind.index]
        guard kind.app.index < self.head.apps.count else { throw coder.fault() }
        if shape.tags.isEmpty, when == nil, flags.contains(.pushEnabled) {
            if shape.kind != self.plainKind || self.plain.count == Self.plainMax { self.insertPlain() }
            self.plainKind = shape.kind
            self.plain.append(
                PlainInstance(
                    slot,
                    family: shape.family,
                    host: host,
                    configuration: shape.configuration
                )
            )
        } else {
            self.insertPlain()
            self.index.insert(
                slot,
                app: self.head.apps[kind.app.index].id,
                kind: kind.name,
                family: shape.family,
                host: host,
                tags: shape.tags,
                configuration: shape.configuration,
                when: when,
                pushEnabled: flags.contains(.pushEnabled)
            )
        }
        if let place {
            self.models[place.place] = Model(
                number: place.number,
                kind: shape.kind,
                family: shape.family,
                instance: slot
            )
        }
    }

    /// Gives the index the instances that wait for others to come with them.
    private mutating func insertPlain() {
        guard !self.plain.isEmpty else { return }
        let kind = self.head.kinds[self.plainKind.index]
        let plain = self.plain
        self.plain = []
        self.index.insert(plain.span, app: self.head.apps[kind.app.index].id, kind: kind.name)
    }

    /// The index, once no frame is needed any more.
    package consuming func finish() -> EngineIndex {
        self.insertPlain()
        self.index.finishLoading()
        return EngineIndex(position: self.head.position, runningHash: self.head.runningHash, index: self.index)
    }
}
