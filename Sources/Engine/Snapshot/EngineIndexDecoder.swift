package import IntentMatching
import WidgetModel

/// The intent index of a snapshot's state, made beside the tables of the same frames: nobody waits for the other.
package struct EngineIndex: Sendable {
    let position: LogPosition
    let runningHash: UInt64
    let index: IntentIndex
}

/// Reads of a snapshot's frames what its intent index is made of.
package struct EngineIndexDecoder: Sendable {
    private typealias Section = EngineSnapshot.Section

    /// An instance without tags and conditions, which pushes reach.
    private struct Model {
        /// Of its configuration.
        let number: Int
        let kind: UInt32
        let family: WidgetFamily
        let instance: UInt32
    }

    private var frames = 0
    private var head = SnapshotHead()
    /// By number.
    private var hosts: [HostID] = []
    /// The number that the next instance has at least.
    private var instances = 0
    private var index: IntentIndex
    private var configurations = ConfigurationCache()
    /// By their configuration's place in the cache: instances that others may be like.
    private var models: [Model?] = []
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
                swap(&coder.configurations, &self.configurations)
                defer { swap(&coder.configurations, &self.configurations) }
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
        let isHost = section == .hosts
        let end = Int(self.head.ends[isHost ? EngineSnapshot.hostTable : EngineSnapshot.instanceTable])
        let least = isHost ? self.hosts.count : self.instances
        let slot = Int(try coder.rowNumber(expected: self.expected, least: least, below: end))
        self.expected = slot + 1
        let rowEnd = self.head.version >= 2 ? try coder.rowEnd() : nil
        if isHost {
            let id: HostID
            if let rowEnd {
                // The id is a row's first word, and all that is asked of it.
                id = HostID(try coder.text(""))
                coder.move(to: rowEnd)
            } else {
                id = try HostTable.Record.blank.coded(by: &coder).row.id
                try TokenTable.BoundToken.each([], by: &coder) { _ in }
            }
            while self.hosts.count < slot { self.hosts.append(HostID("")) }
            self.hosts.append(id)
        } else {
            self.instances = slot + 1
            try self.insert(UInt32(slot), &coder)
        }
        // The timer, which stands behind every row.
        if let rowEnd { coder.move(to: rowEnd) } else { _ = try coder.number() }
    }

    private mutating func insert(_ slot: UInt32, _ coder: inout StateReader) throws(ByteFault) {
        let row: InstanceTable.Row.Head
        if self.head.version >= 3 {
            row = try InstanceTable.Row.blank.head(by: &coder)
        } else {
            row = try InstanceTable.Row.blank.coded(by: &coder, nil).head
        }
        guard row.host < self.hosts.count, Int(row.kind) < self.head.kinds.count else { throw coder.fault() }
        let details = try InstanceDetails.Whole.blank.coded(by: &coder)
        guard row.flags.contains(.isLive) else { return }
        let host = self.hosts[Int(row.host)]
        // Where many are configured alike, most of them are like one that came before.
        let isPlain = details.tags.isEmpty && details.when == nil && row.flags.contains(.pushEnabled)
        let place = isPlain ? coder.configurations.latest : nil
        if let place {
            if self.models.isEmpty { self.models = Array(repeating: nil, count: ConfigurationCache.size) }
            if let model = self.models[place.place], model.number == place.number, model.kind == row.kind,
                model.family == details.row.family, self.index.insert(slot, like: model.instance, host: host)
            {
                return
            }
        }
        let kind = self.head.kinds[Int(row.kind)]
        guard kind.app < self.head.apps.count else { throw coder.fault() }
        self.index.insert(
            slot,
            app: self.head.apps[Int(kind.app)].id,
            kind: kind.name,
            family: details.row.family,
            host: host,
            tags: details.tags,
            configuration: details.row.configuration,
            when: details.when,
            pushEnabled: row.flags.contains(.pushEnabled)
        )
        if let place {
            self.models[place.place] = Model(
                number: place.number,
                kind: row.kind,
                family: details.row.family,
                instance: slot
            )
        }
    }

    /// The index, once no frame is needed any more.
    package consuming func finish() -> EngineIndex {
        self.index.finishLoading()
        return EngineIndex(position: self.head.position, runningHash: self.head.runningHash, index: self.index)
    }
}
