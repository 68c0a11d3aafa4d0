import Storage
package import WidgetModel

/// The widget instances of a snapshot's state, read beside all the rest of it.
package struct EngineInstances: ~Copyable, Sendable {
    let position: LogPosition
    let runningHash: UInt64
    let rows: InstanceRows

    /// Those that have a token of their own.
    package var controls: [InstanceNumber] { self.rows.controls }
}

/// Reads the tables of instances, the largest part, from a snapshot's frames.
package struct EngineInstancesDecoder: ~Copyable, Sendable {
    private typealias Section = EngineSnapshot.Section

    private var frames = 0
    private var head = SnapshotHead()
    private var free: [InstanceNumber] = []
    private var rows = InstanceRows(free: [])
    private var hasRoom = false
    private var configurations = ConfigurationCache()
    /// The one host whose instances are kept; nil for those of all.
    var host: HostNumber?

    /// Nothing read yet.
    package init() {}

    init(only host: HostNumber?) { self.host = host }

    /// Whether a frame with this first byte is to be given to such a decoder.
    package static func needs(_ firstByte: UInt8) -> Bool { firstByte != Section.hosts.rawValue }

    /// Reads the next frame. O(frame).
    ///
    /// The other decoder reports faults of a frame as a whole; this one only never ends the process.
    ///
    /// - Returns: False once no later frame has data of instances.
    package mutating func takeFrame(_ frame: [UInt8]) throws(SnapshotError) -> Bool {
        do throws(ByteError) {
            var coder = StateReader(frame)
            guard let section = Section(rawValue: try coder.byte()) else { throw ByteError.invalid(offset: 0) }
            switch section {
            case .head where self.frames == 0: self.head = try SnapshotHead().coded(by: &coder)
            case _ where self.frames == 0: throw ByteError.invalid(offset: 0)
            case .head, .hosts: break
            case .free: try self.readFree(&coder)
            case .instances:
                if !self.hasRoom { self.makeRoom() }
                try self.readInstances(&coder)
            default: return false
            }
        } catch {
            throw .damaged(frame: self.frames, error)
        }
        if self.frames == 0 { try self.head.checkVersions(rules: nil) }
        self.frames += 1
        return true
    }

    private mutating func readFree(_ coder: inout StateReader) throws(ByteError) {
        guard try coder.byte() == EngineSnapshot.instanceTable else { return }
        while !coder.isAtEnd {
            let slot: InstanceNumber = try coder.number(.none)
            guard slot.raw < self.head.ends[EngineSnapshot.instanceTable] else { throw coder.fault() }
            self.free.append(slot)
        }
    }

    /// Makes the tables, once it is known which of their numbers are free.
    private mutating func makeRoom() {
        let rows = self.host == nil ? self.head.expectedRows(EngineSnapshot.instanceTable) : 0
        self.rows = InstanceRows(free: self.free, expecting: rows)
        self.hasRoom = true
    }

    private mutating func readInstances(_ coder: inout StateReader) throws(ByteError) {
        let end = Int(self.head.ends[EngineSnapshot.instanceTable])
        let bounds = InstanceRows.Bounds(self.head)
        var expected = 0
        swap(&coder.configurations, &self.configurations)
        defer { swap(&coder.configurations, &self.configurations) }
        var shapes = try ShapeReader(&coder)
        while !coder.isAtEnd {
            let slot: InstanceNumber = try coder.rowNumber(expected: expected, least: self.rows.end, below: end)
            expected = slot.index + 1
            let rowEnd = try coder.rowEnd()
            guard try self.isKept(&coder) else {
                self.rows.leaveOut(slot)
                coder.move(to: rowEnd)
                continue
            }
            try self.rows.read(slot, bounds, &shapes, &coder)
            guard coder.offset == rowEnd else { throw coder.fault() }
        }
    }

    /// Whether the row that begins here is of a host whose instances are kept.
    @inline(__always)
    private func isKept(_ coder: inout StateReader) throws(ByteError) -> Bool {
        guard let host = self.host else { return true }
        let start = coder.offset
        let isKept = try coder.slot(HostNumber.none) == host
        coder.move(to: start)
        return isKept
    }

    /// Whether an instance was kept.
    func keeps(_ instance: InstanceNumber) -> Bool {
        guard let host = self.host else { return true }
        return instance.index < self.rows.end && self.rows.instances.rows[instance].host == host
    }

    /// The tables, once no frame is needed any more.
    package consuming func finish() throws(SnapshotError) -> EngineInstances {
        let end = Int(self.head.ends[EngineSnapshot.instanceTable])
        if !self.hasRoom { self.makeRoom() }
        guard Int(self.rows.count) + self.free.count == end else { throw .incomplete(frames: self.frames) }
        self.rows.finish(end: end)
        return EngineInstances(position: self.head.position, runningHash: self.head.runningHash, rows: self.rows)
    }
}
