package import IntentMatching
import Timelines
package import WidgetModel

/// Reads back what an ``EngineSnapshotEncoder`` wrote, frame by frame.
package struct EngineSnapshotDecoder: Sendable {
    private typealias Section = EngineSnapshot.Section

    private let partition: PartitionID
    private let partitions: Int
    private let seed: UInt64
    private let interning: Interning
    /// The one host that is kept, nil for all of them; and its number and those of its instances, once they were read.
    private let host: HostID?
    private var hostSlot = HostTable.none
    private var hostInstances: Set<UInt32> = []
    private var frames = 0
    private var section: Section?
    private var head = SnapshotHead()
    private var free: [[UInt32]] = Array(repeating: [], count: 6)
    private var hosts = Slab<HostTable.Row>()
    private var instances = Slab<InstanceTable.Row>()
    private var details = Slab<InstanceTable.Details>()
    private var days = Slab<RollingDay>()
    private var causes = Slab<PendingCauses.Node>()
    private var reloads = Slab<ReloadTable.Row>()
    private var pushes = Slab<PushLedger.Row>()
    private var collapseIDs: [UInt32: [UInt8]] = [:]
    private var repeats = RowChunks<RepeatWindow.Entry>()
    private var decisions = RowChunks<DecisionLog.Entry>()
    private var tokens: TokenTable
    private var channels = ChannelTable()
    private var calendar = TimerCalendar()
    /// Rows and free numbers read.
    private var rows: UInt64 = 0
    /// Whether the end was read, and was right.
    private var isWhole = false

    /// Nothing read yet; the parameters are those of the engine that comes out.
    ///
    /// - Parameter host: The one host that is kept, as if no other had ever registered: what is replayed for its sake
    ///   neither matches nor wakes any other. What they all did before stays in the counters, and such an engine writes
    ///   no snapshot. nil keeps all hosts.
    package init(
        partition: PartitionID,
        partitions: Int,
        seed: UInt64? = nil,
        interning: Interning = .observed(atLeast: 4096),
        only host: HostID? = nil
    ) {
        self.host = host
        self.partition = partition
        self.partitions = partitions
        self.seed = seed ?? ByteHash.processSeed()
        self.tokens = TokenTable(seed: self.seed)
        self.interning = interning
    }

    /// Reads the next frame. O(frame).
    package mutating func take(_ frame: [UInt8]) throws(SnapshotFault) {
        do throws(ByteFault) {
            var coder = StateReader(frame)
            guard let section = Section(rawValue: try coder.byte()),
                section.rawValue >= self.section?.rawValue ?? 0, self.section != nil || section == .head
            else { throw ByteFault.invalid(offset: 0) }
            if section == .head, self.section == nil {
                self.head = try SnapshotHead().coded(by: &coder)
            } else {
                if section.rawValue > Section.free.rawValue, self.section?.rawValue ?? 0 <= Section.free.rawValue {
                    try self.makeRoom()
                }
                while !coder.isAtEnd { try self.read(section, &coder) }
            }
            self.section = section
        } catch {
            throw .damaged(frame: self.frames, error)
        }
        if self.frames == 0 { try self.checkHead() }
        self.frames += 1
    }

    private func checkHead() throws(SnapshotFault) {
        try self.head.checkVersions()
        guard self.head.partition == UInt64(self.partition.rawValue), self.head.partitions == UInt64(self.partitions)
        else { throw .otherPartition }
    }

    /// Makes the tables, once it is known which of their numbers are free.
    private mutating func makeRoom() throws(ByteFault) {
        for (table, free) in self.free.enumerated() {
            for slot in free where slot >= self.head.ends[table] { throw .invalid(offset: 0) }
        }
        self.hosts = Slab(end: Int(self.head.ends[0]), free: self.free[0], blank: .blank)
        self.instances = Slab(end: Int(self.head.ends[1]), free: self.free[1], blank: .blank)
        self.details = Slab(end: Int(self.head.ends[1]), free: self.free[1], blank: .blank)
        self.days = Slab(end: Int(self.head.ends[2]), free: self.free[2], blank: RollingDay())
        self.causes = Slab(end: Int(self.head.ends[3]), free: self.free[3], blank: .blank)
        self.reloads = Slab(end: Int(self.head.ends[4]), free: self.free[4], blank: .blank)
        self.pushes = Slab(end: Int(self.head.ends[5]), free: self.free[5], blank: .blank)
        self.calendar = TimerCalendar(startingAt: self.head.time)
    }

    /// The number of the row that the last one read had, plus one; rows of a frame count from it.
    private var expected = 0

    private mutating func read(_ section: Section, _ coder: inout StateReader) throws(ByteFault) {
        if coder.offset == 1 { self.expected = 0 }
        switch section {
        case .head: throw coder.fault()
        case .free:
            let table = Int(try coder.byte())
            guard table < self.free.count else { throw coder.fault() }
            while !coder.isAtEnd {
                self.free[table].append(try coder.number(0))
                self.rows += 1
            }
            return
        case .hosts:
            let slot = try self.slot(below: self.hosts.end, &coder)
            let end = try self.rowEnd(&coder)
            if try self.skip(
                to: end,
                &coder,
                unless: { (coder) throws(ByteFault) in
                    HostID(try coder.text("")) == self.host
                }
            ) {
                self.hosts.release(slot)
                break
            }
            let row = try HostTable.Row.blank.coded(by: &coder)
            let isKept = self.host.map { $0 == row.id } ?? true
            try self.arm(Engine.timer(ofHost: slot), isKept, &coder)
            guard end == nil || coder.offset == end else { throw coder.fault() }
            guard isKept else {
                self.hosts.release(slot)
                break
            }
            self.hostSlot = slot
            self.hosts[slot] = row
        case .instances:
            let slot = try self.slot(below: self.instances.end, &coder)
            let end = try self.rowEnd(&coder)
            if try self.skip(
                to: end,
                &coder,
                unless: { (coder) throws(ByteFault) in
                    try coder.slot(0) == self.hostSlot
                }
            ) {
                self.releaseInstance(slot)
                break
            }
            let row = try InstanceTable.Row.blank.coded(by: &coder)
            guard row.host < self.head.ends[0], Int(row.kind) < self.head.kinds.count else { throw coder.fault() }
            let details = try InstanceTable.Details.blank.coded(by: &coder)
            let isKept = self.host == nil || row.host == self.hostSlot
            try self.arm(Engine.timer(ofInstance: slot), isKept, &coder)
            guard end == nil || coder.offset == end else { throw coder.fault() }
            guard isKept else {
                self.releaseInstance(slot)
                break
            }
            if self.host != nil { self.hostInstances.insert(slot) }
            self.instances[slot] = row
            self.details[slot] = details
        case .days:
            let slot = try self.slot(below: self.days.end, &coder)
            self.days[slot] = try RollingDay().coded(by: &coder)
        case .causes:
            let slot = try self.slot(below: self.causes.end, &coder)
            self.causes[slot] = try PendingCauses.Node.blank.coded(by: &coder)
        case .reloads:
            let slot = try self.slot(below: self.reloads.end, &coder)
            let row = try ReloadTable.Row.blank.coded(by: &coder)
            let isKept = self.host == nil || self.hostInstances.contains(row.instance)
            if isKept { self.reloads[slot] = row } else { self.reloads.release(slot) }
        case .pushes:
            let slot = try self.slot(below: self.pushes.end, &coder)
            self.pushes[slot] = try PushLedger.Row.blank.coded(by: &coder)
            if self.pushes[slot].hasCollapseID { self.collapseIDs[slot] = try coder.bytes([]) }
        case .repeats: self.repeats.append(try RepeatWindow.Entry.blank.coded(by: &coder))
        case .decisions: self.decisions.append(try DecisionLog.Entry.blank.coded(by: &coder))
        case .removals: self.tokens.restore(try TokenTable.Removal.blank.coded(by: &coder))
        case .channels:
            let app = BundleID(try coder.text(""))
            let channels = try coder.read { (reader) throws(ByteFault) in
                try reader.readEach { (reader) throws(ByteFault) in try Channel(from: &reader) }
            }
            for channel in channels {
                guard self.channels.find(channel.id, of: app) == nil else { throw coder.fault() }
                self.channels.insert(channel, of: app)
            }
        case .end:
            guard try coder.number(0) == self.rows, !self.isWhole else { throw coder.fault() }
            self.isWhole = true
            return
        }
        self.rows += 1
    }

    /// Where a row of hosts or instances ends; nil in versions that do not say.
    private func rowEnd(_ coder: inout StateReader) throws(ByteFault) -> Int? {
        self.head.version >= 2 ? try coder.rowEnd() : nil
    }

    /// Steps over a row where one host alone is kept and the row begins as another's. Does nothing where nobody says where
    /// rows end.
    ///
    /// - Returns: Whether it did; if not, the row is still to be read.
    private func skip(
        to end: Int?,
        _ coder: inout StateReader,
        unless isKept: (inout StateReader) throws(ByteFault) -> Bool
    ) throws(ByteFault) -> Bool {
        guard self.host != nil, let end else { return false }
        let start = coder.offset
        guard try !isKept(&coder) else {
            coder.move(to: start)
            return false
        }
        coder.move(to: end)
        return true
    }

    private mutating func releaseInstance(_ slot: UInt32) {
        self.instances.release(slot)
        self.details.release(slot)
    }

    private mutating func slot(below end: Int, _ coder: inout StateReader) throws(ByteFault) -> UInt32 {
        let skipped: UInt64 = try coder.number(0)
        guard skipped < UInt64(end), self.expected + Int(skipped) < end else { throw coder.fault() }
        let slot = self.expected + Int(skipped)
        self.expected = slot + 1
        return UInt32(slot)
    }

    private mutating func arm(_ timer: UInt32, _ isKept: Bool, _ coder: inout StateReader) throws(ByteFault) {
        let next: UInt64 = try coder.number(0)
        guard next > 0 else { return }
        guard let second = UInt32(exactly: next - 1) else { throw coder.fault() }
        guard isKept else { return }
        self.calendar.arm(timer, at: Instant(seconds: Int64(second)))
    }

    /// The engine, once the last frame was read. Its index still has to be told ``Engine/finishLoading()``. O(state).
    package consuming func finish() throws(SnapshotFault) -> Engine {
        var engine = try self.finishWithoutIndex()
        engine.fillIndex()
        return engine
    }

    /// The engine without its index, for ``Engine/adopt(_:)``; until then it only answers, and of no index.
    package consuming func finishWithoutIndex() throws(SnapshotFault) -> Engine {
        guard self.isWhole, self.hosts.end == Int(self.head.ends[0]),
            self.repeats.count <= self.head.repeatCapacity, self.head.repeatOldest <= self.repeats.count,
            self.decisions.count <= self.head.decisionCapacity
        else { throw .incomplete(frames: self.frames) }
        var engine = Engine(
            partition: self.partition,
            partitions: self.partitions,
            seed: self.seed,
            interning: self.interning
        )
        engine.position = self.head.position
        engine.time = self.head.time
        engine.runningHash = self.head.runningHash
        engine.settings = self.head.settings
        engine.limits = self.head.settings?.limits ?? EngineLimits()
        for team in self.head.teams { _ = engine.teams.intern(team) }
        engine.apps = AppTable(seed: self.seed, apps: self.head.apps, kinds: self.head.kinds)
        for pause in self.head.pauses { engine.senderPauses[pause.team] = pause.until }
        engine.accounts = SenderAccounts(accounts: self.head.accounts)
        engine.counters = self.head.counters
        engine.hosts = HostTable(seed: self.seed, rows: self.hosts)
        engine.instances = InstanceTable(rows: self.instances, details: self.details, days: self.days)
        engine.causes = PendingCauses(nodes: self.causes)
        engine.reloads = ReloadTable(rows: self.reloads)
        engine.ledger = PushLedger(
            seed: self.seed,
            rows: self.pushes,
            collapseIDs: self.collapseIDs,
            totals: self.head.ledger
        )
        engine.repeats = RepeatWindow(
            capacity: self.head.repeatCapacity,
            seed: self.seed,
            entries: self.repeats,
            oldest: self.head.repeatOldest
        )
        engine.log = DecisionLog(
            capacity: self.head.decisionCapacity,
            entries: self.decisions,
            count: self.head.decisionCount
        )
        engine.tokens = self.tokens
        engine.channels = self.channels
        engine.calendar = self.calendar
        engine.rebuild()
        return engine
    }
}

extension Engine {
    /// Makes what follows from the rows: who a token stands for, and counts.
    fileprivate mutating func rebuild() {
        for host in self.hosts.usedSlots() {
            for token in self.hosts[host].tokens {
                self.tokens.bind(token.token, to: TokenTable.Binding(host: host, instance: InstanceTable.none))
            }
        }
        for instance in self.instances.usedSlots() where self.instances[instance].isLive {
            if let token = self.instances[details: instance].controlToken {
                let host = self.instances[instance].host
                self.tokens.bind(token, to: TokenTable.Binding(host: host, instance: instance))
            }
        }
        self.ledger.relist()
        self.recount()
    }

    /// Makes the index of the rows.
    fileprivate mutating func fillIndex() {
        for kind in self.apps.kinds { self.index.declare(kind.schema, app: self.apps.apps[Int(kind.app)].id) }
        for instance in self.instances.usedSlots() where self.instances[instance].isLive {
            self.insertIntoIndex(instance)
        }
    }

    /// Takes the index that an ``EngineIndexDecoder`` made of the same snapshot.
    package mutating func adopt(_ index: EngineIndex) throws(SnapshotFault) {
        guard index.position == self.position, index.runningHash == self.runningHash else { throw .otherPartition }
        self.index = index.index
    }
}
