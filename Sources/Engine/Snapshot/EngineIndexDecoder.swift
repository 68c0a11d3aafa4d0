import IntentMatching
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

    private var frames = 0
    private var head = SnapshotHead()
    /// The number that the next instance has at least.
    private var instances = 0
    private var index: IntentIndex
    private var configurations = ConfigurationCache()
    /// Instances of one kind without tags and conditions, up to ``plainMax``: the index takes many at once faster.
    private var plain: [PlainInstance] = []
    private var plainKind = KindNumber.none

    private static let plainMax = 1024

    /// Nothing read yet.
    package init() {
        self.index = IntentIndex()
        self.index.startLoading()
    }

    /// Whether a frame with this first byte is to be given to such a decoder.
    package static func needs(_ firstByte: UInt8) -> Bool { firstByte != Section.hosts.rawValue }

    /// Reads the next frame. O(frame).
    ///
    /// The other decoder reports faults of a frame as a whole; this one only never ends the process.
    ///
    /// - Returns: False once no later frame has data for the index.
    package mutating func takeFrame(_ frame: [UInt8]) throws(SnapshotError) -> Bool {
        do throws(ByteError) {
            var coder = StateReader(frame)
            guard let section = Section(rawValue: try coder.byte()) else { throw ByteError.invalid(offset: 0) }
            if self.frames == 0 {
                guard section == .head else { throw ByteError.invalid(offset: 0) }
                self.head = try SnapshotHead().coded(by: &coder)
            }
            guard section <= .instances else { return false }
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

    private mutating func readInstances(_ coder: inout StateReader) throws(ByteError) {
        let end = Int(self.head.ends[EngineSnapshot.instanceTable])
        var expected = 0
        var shapes = try ShapeReader(&coder)
        while !coder.isAtEnd {
            let slot: InstanceNumber = try coder.rowNumber(expected: expected, least: self.instances, below: end)
            expected = slot.index + 1
            self.instances = expected
            let rowEnd = try coder.rowEnd()
            try self.insert(slot, &shapes, &coder)
            // An index does not need the rest, nor the timer behind it.
            coder.move(to: rowEnd)
        }
    }

    private mutating func insert(
        _ slot: InstanceNumber,
        _ shapes: inout ShapeReader,
        _ coder: inout StateReader
    ) throws(ByteError) {
        let row = try InstanceRecord.Head.blank.coded(by: &coder)
        guard row.host.raw < self.head.ends[EngineSnapshot.hostTable] else { throw coder.fault() }
        guard row.flags.contains(.isLive) else { return }
        let shape = try shapes.shape(row.shape, &coder)
        try coder.skipText()
        var when: MatchPattern?
        if try InstanceGroups([]).coded(by: &coder).contains(.conditionOrControl) {
            when = try InstanceDetails.ColdFields().coded(by: &coder).when
        }
        try self.insert(slot, row.host, shape, when, row.flags, &coder)
    }

    private mutating func insert(
        _ slot: InstanceNumber,
        _ host: HostNumber,
        _ shape: InstanceShape,
        _ when: MatchPattern?,
        _ flags: InstanceTable.Flags,
        _ coder: inout StateReader
    ) throws(ByteError) {
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
