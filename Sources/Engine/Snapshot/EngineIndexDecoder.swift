package import IntentMatching
import WidgetModel

/// The intent index of a snapshot's state, made beside the ``EngineSnapshotDecoder`` of the same frames: on two processors a
/// restart takes half as long.
package struct EngineIndex: Sendable {
    let position: LogPosition
    let runningHash: UInt64
    let index: IntentIndex
}

/// Reads of a snapshot's frames what its intent index is made of.
package struct EngineIndexDecoder: Sendable {
    private typealias Section = EngineSnapshot.Section

    private var frames = 0
    private var head = SnapshotHead()
    /// By number.
    private var hosts: [HostID] = []
    private var index: IntentIndex
    /// The number that the next row has if none is left out.
    private var expected = 0

    /// Nothing read yet.
    ///
    /// - Parameter interning: As the engine's.
    package init(interning: Interning = .observed(atLeast: 4096)) {
        self.index = IntentIndex(interning: interning)
        self.index.startLoading()
    }

    /// Reads the next frame. O(frame).
    ///
    /// What is wrong with a frame as a whole is the other decoder's to say; this one only never ends the process.
    ///
    /// - Returns: False once no later frame has anything that the index needs.
    package mutating func take(_ frame: [UInt8]) throws(SnapshotFault) -> Bool {
        do throws(ByteFault) {
            var coder = StateReader(frame)
            guard let section = Section(rawValue: try coder.byte()) else { throw ByteFault.invalid(offset: 0) }
            if self.frames == 0 {
                guard section == .head else { throw ByteFault.invalid(offset: 0) }
                self.head = try SnapshotHead().coded(by: &coder)
            }
            guard section <= .instances else { return false }
            self.expected = 0
            if section == .hosts || section == .instances {
                while !coder.isAtEnd { try self.read(section, &coder) }
            }
        } catch {
            throw .damaged(frame: self.frames, error)
        }
        if self.frames == 0 { try self.declareKinds() }
        self.frames += 1
        return true
    }

    private mutating func declareKinds() throws(SnapshotFault) {
        try self.head.checkVersions()
        for kind in self.head.kinds where kind.app < self.head.apps.count {
            self.index.declare(kind.schema, app: self.head.apps[Int(kind.app)].id)
        }
    }

    private mutating func read(_ section: Section, _ coder: inout StateReader) throws(ByteFault) {
        let end = Int(self.head.ends[section == .hosts ? 0 : 1])
        let skipped: UInt64 = try coder.number(0)
        guard skipped < UInt64(end), self.expected + Int(skipped) < end else { throw coder.fault() }
        let slot = self.expected + Int(skipped)
        self.expected = slot + 1
        let rowEnd = self.head.version >= 2 ? try coder.rowEnd() : nil
        if section == .hosts {
            let id: HostID
            if let rowEnd {
                // The id is a row's first word, and all that is asked of it.
                id = HostID(try coder.text(""))
                coder.move(to: rowEnd)
            } else {
                id = try HostTable.Row.blank.coded(by: &coder).id
            }
            while self.hosts.count < slot { self.hosts.append(HostID("")) }
            self.hosts.append(id)
        } else {
            try self.insert(UInt32(slot), &coder)
        }
        // The timer, which stands behind every row.
        if let rowEnd { coder.move(to: rowEnd) } else { _ = try coder.number() }
    }

    private mutating func insert(_ slot: UInt32, _ coder: inout StateReader) throws(ByteFault) {
        let row = try InstanceTable.Row.blank.coded(by: &coder)
        guard row.host < self.hosts.count, Int(row.kind) < self.head.kinds.count else { throw coder.fault() }
        let details = try InstanceTable.Details.blank.coded(by: &coder)
        guard row.isLive else { return }
        let kind = self.head.kinds[Int(row.kind)]
        guard kind.app < self.head.apps.count else { throw coder.fault() }
        self.index.insert(
            slot,
            app: self.head.apps[Int(kind.app)].id,
            kind: kind.name,
            family: details.family,
            host: self.hosts[Int(row.host)],
            tags: details.tags,
            configuration: details.configuration,
            when: details.when,
            pushEnabled: row.pushEnabled
        )
    }

    /// The index, once no frame is needed any more.
    package consuming func finish() -> EngineIndex {
        self.index.finishLoading()
        return EngineIndex(position: self.head.position, runningHash: self.head.runningHash, index: self.index)
    }
}
