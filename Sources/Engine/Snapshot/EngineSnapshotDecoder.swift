import IntentMatching
import Storage
import Timelines
package import WidgetModel

/// Reads the frames of an ``EngineSnapshotEncoder``, one by one.
package struct EngineSnapshotDecoder: ~Copyable, Sendable {
    private typealias Section = EngineSnapshot.Section

    private let partition: PartitionID
    private let partitions: Int
    private let seed: UInt64
    /// The one host that is kept, nil for all of them.
    private let host: HostKey?
    /// Whether another decoder reads the rows of instances.
    private let leavesInstances: Bool
    private let rules: Int
    private let adoptsRules: Bool
    private var frames = 0
    private var section: Section?
    private var head = SnapshotHead()
    private var free: [[UInt32]] = Array(repeating: [], count: 6)
    private var hosts: HostTable
    private var registeredHosts = 0
    private var usages = UsageTable()
    private var instances: EngineInstancesDecoder
    private var days = Table<RollingDay, RollingDay>()
    private var matches = Table<NumberTag.Match, Reloads.Match>()
    private var reloads = ReloadTable(free: [], expecting: 0)
    private var pushes = Table<NumberTag.Push, PushTable.Row>()
    private var collapseIDs: [PushNumber: [UInt8]] = [:]
    private var repeats = RowChunks<RepeatWindow.Entry>()
    private var decisions = DecisionLog(capacity: 1)
    private var tokens: TokenTable
    private var channels = ChannelTable()
    private var hostTimers = Timers<NumberTag.Host>()
    /// Rows, but for those of instances, and free numbers read.
    private var rows: UInt64 = 0
    /// Whether the end was read, and was right.
    private var isWhole = false

    /// Nothing read yet; the parameters are those of the resulting engine.
    ///
    /// - Parameters:
    ///   - host: The one host to keep, as if no other had ever registered: records that are replayed for it neither
    ///     match nor wake any other. The other hosts' earlier work stays in the counters, and such an engine writes no
    ///     snapshot. nil keeps all hosts.
    ///   - leavesInstances: Whether the rows of instances are left to an ``EngineInstancesDecoder``.
    ///   - rules: The version of the decision rules by which the state goes on.
    ///   - adoptsRules: Whether other decision rules may have led to the state. Only where those rules decided nothing after the snapshot:
    ///     this program's rules decide all that follows.
    package init(
        partition: PartitionID,
        partitions: Int,
        seed: UInt64? = nil,
        only host: HostKey? = nil,
        leavesInstances: Bool = false,
        rules: Int = Engine.version,
        adoptsRules: Bool = false
    ) {
        precondition(host == nil || !leavesInstances, "one host's instances are few")
        self.host = host
        self.leavesInstances = leavesInstances
        self.rules = rules
        self.adoptsRules = adoptsRules
        self.partition = partition
        self.partitions = partitions
        self.seed = seed ?? SeededHash.processSeed
        self.hosts = HostTable(seed: self.seed)
        self.tokens = TokenTable(seed: self.seed)
        self.instances = EngineInstancesDecoder(only: host.map { _ in .none })
    }

    /// Whether a decoder that leaves the rows of instances to another one is to be given a frame with this first byte.
    package static func needsWithoutInstances(_ firstByte: UInt8) -> Bool {
        firstByte != Section.instances.rawValue
    }

    /// Reads the next frame. O(frame).
    package mutating func takeFrame(_ frame: [UInt8]) throws(SnapshotError) {
        let section: Section
        do throws(ByteError) {
            section = try self.read(frame)
        } catch {
            throw .damaged(frame: self.frames, error)
        }
        if self.frames == 0 { try self.checkHead() }
        if section <= .instances, !self.leavesInstances { _ = try self.instances.takeFrame(frame) }
        self.section = section
        self.frames += 1
    }

    /// Reads a frame, unless it is one of instances.
    private mutating func read(_ frame: [UInt8]) throws(ByteError) -> Section {
        var coder = StateReader(frame)
        guard let section = Section(rawValue: try coder.byte()),
            self.section.map({ $0 <= section }) ?? (section == .head)
        else { throw ByteError.invalid(offset: 0) }
        if section == .head, self.section == nil {
            self.head = try SnapshotHead().coded(by: &coder)
            return section
        }
        if section > .free, let last = self.section, last <= .free { try self.makeRoom() }
        self.expected = 0
        if section != .instances {
            while !coder.isAtEnd { try self.read(section, &coder) }
        }
        return section
    }

    private func checkHead() throws(SnapshotError) {
        try self.head.checkVersions(rules: self.adoptsRules ? nil : self.rules)
        guard self.head.partition == UInt64(self.partition.rawValue), self.head.partitions == UInt64(self.partitions)
        else { throw .otherPartition }
    }

    /// Makes the tables, once it is known which of their numbers are free.
    private mutating func makeRoom() throws(ByteError) {
        for (table, free) in self.free.enumerated() {
            for slot in free where slot >= self.head.ends[table] { throw .invalid(offset: 0) }
        }
        let hosts = self.host == nil ? self.head.expectedRows(EngineSnapshot.hostTable) : 1
        self.hosts = HostTable(seed: self.seed, free: self.numbers(EngineSnapshot.hostTable), expecting: hosts)
        self.tokens.reserve(hosts)
        self.days = Table(free: self.numbers(2))
        let others = self.host == nil ? (3...5).map { self.head.expectedRows($0) } : [0, 0, 0]
        self.matches = Table(free: self.numbers(3), expecting: others[0])
        self.reloads = ReloadTable(free: self.numbers(4), expecting: others[1])
        self.pushes = Table(free: self.numbers(5), expecting: others[2])
        let (capacity, count) = (self.head.decisionCapacity, self.head.decisionCount)
        self.decisions = DecisionLog(
            capacity: capacity,
            count: count,
            expecting: min(capacity, Int(clamping: count), SnapshotHead.expectedMax)
        )
        self.hostTimers = Timers(startingAt: self.head.time)
    }

    /// The number of the row that the last one read had, plus one; rows of a frame count from it.
    private var expected = 0

    private mutating func read(_ section: Section, _ coder: inout StateReader) throws(ByteError) {
        switch section {
        case .head, .instances: throw coder.fault()
        case .free:
            let table = Int(try coder.byte())
            guard table < self.free.count else { throw coder.fault() }
            while !coder.isAtEnd {
                self.free[table].append(try coder.number(0))
                self.rows += 1
            }
            return
        case .hosts: try self.readHost(&coder)
        case .days:
            let slot: Number<RollingDay> = try self.slot(2, from: self.days.end, &coder)
            self.days.restore(slot, try coder.value(RollingDay()), blank: RollingDay())
        case .matches:
            let slot: MatchNumber = try self.slot(3, from: self.matches.end, &coder)
            self.matches.restore(slot, try Reloads.Match.blank.coded(by: &coder), blank: .blank)
        case .reloads:
            let slot: ReloadNumber = try self.slot(4, from: self.reloads.rows.end, &coder)
            let row = try ReloadTable.Whole(row: .blank).coded(by: &coder)
            if self.instances.keeps(row.instance) {
                self.reloads.restore(slot, row)
            } else {
                self.reloads.leaveOut(slot)
            }
        case .pushes:
            let slot: PushNumber = try self.slot(5, from: self.pushes.end, &coder)
            let row = try PushTable.Row.blank.coded(by: &coder)
            self.pushes.restore(slot, row, blank: .blank)
            if row.hasCollapseID { self.collapseIDs[slot] = try coder.bytes([]) }
        case .repeats: self.repeats.append(try RepeatWindow.Entry.blank.coded(by: &coder))
        case .decisions:
            guard self.decisions.restore(try DecisionLog.Entry.blank.coded(by: &coder)) else { throw coder.fault() }
        case .removals: self.tokens.restore(try TokenTable.Removal.blank.coded(by: &coder))
        case .channels: try self.readChannels(&coder)
        case .end:
            // The reader of the instances counts their rows.
            let instances =
                UInt64(self.head.ends[EngineSnapshot.instanceTable])
                &- UInt64(self.free[EngineSnapshot.instanceTable].count)
            guard try coder.number(0) == self.rows + instances, !self.isWhole else { throw coder.fault() }
            self.isWhole = true
            return
        }
        self.rows += 1
    }

    private mutating func readHost(_ coder: inout StateReader) throws(ByteError) {
        let slot: HostNumber = try self.slot(EngineSnapshot.hostTable, from: self.hosts.rows.end, &coder)
        let end = try coder.rowEnd()
        if let host = self.host {
            let start = coder.offset
            guard HostKey(text: try coder.text("")) == host else {
                coder.move(to: end)
                return self.hosts.rows.release(slot)
            }
            coder.move(to: start)
            self.instances.host = slot
        }
        let record = try HostTable.Record.blank.coded(by: &coder)
        var firstToken = TokenNumber.none
        try TokenTable.BoundToken.each([], by: &coder) { self.tokens.restore($0, of: slot, to: &firstToken) }
        let next: UInt64 = try coder.number(0)
        guard let second = UInt32(exactly: next), coder.offset == end, record.row.app.index < self.head.apps.count
        else {
            throw coder.fault()
        }
        if second > 0 { self.hostTimers.arm(slot, at: Instant(seconds: Int64(second - 1))) }
        self.hosts.restore(slot, record.row, named: record.key, saying: record.context, firstToken: firstToken)
        guard record.row.isRegistered else { return }
        self.registeredHosts += 1
        self.usages[record.row.app].hosts += 1
        self.usages[record.row.app].textBytes += self.hosts.keyByteCount(of: slot)
    }

    private mutating func readChannels(_ coder: inout StateReader) throws(ByteError) {
        let app = BundleID(try coder.text(""))
        for channel in try coder.value([] as [Channel]) {
            guard self.channels.find(channel.id, of: app) == nil else { throw coder.fault() }
            self.channels.insert(channel, of: app)
        }
    }

    private mutating func slot<Tag>(
        _ table: Int,
        from least: Int,
        _ coder: inout StateReader
    ) throws(ByteError) -> Number<Tag> {
        let end = Int(self.head.ends[table])
        let slot: Number<Tag> = try coder.rowNumber(expected: self.expected, least: least, below: end)
        self.expected = slot.index + 1
        return slot
    }

    /// The numbers of a table that are not in use.
    private func numbers<Tag>(_ table: Int) -> [Number<Tag>] { self.free[table].map { Number(raw: $0) } }

    /// The engine, once the last frame was read. Call ``Engine/finishLoading()`` for its index. O(state).
    package consuming func finish() throws(SnapshotError) -> Engine {
        var instances = EngineInstancesDecoder()
        swap(&instances, &self.instances)
        var engine = try self.finishWithoutInstances()
        try engine.adopt(instances.finish())
        engine.fillIndex()
        return engine
    }

    /// The engine without its instances and its index, for ``Engine/adopt(_:)``; until then it is asked nothing.
    package consuming func finishWithoutInstances() throws(SnapshotError) -> Engine {
        guard self.isWhole, self.repeats.count <= self.head.repeatCapacity,
            self.head.repeatOldest <= self.repeats.count
        else { throw .incomplete(frames: self.frames) }
        self.hosts.finishRestoring(end: Int(self.head.ends[EngineSnapshot.hostTable]))
        self.tokens.finishRestoring()
        guard !self.tokens.hasDuplicates else { throw .incomplete(frames: self.frames) }
        self.days.finishRestoring(end: Int(self.head.ends[2]), blank: RollingDay())
        self.matches.finishRestoring(end: Int(self.head.ends[3]), blank: .blank)
        self.reloads.finishRestoring(end: Int(self.head.ends[4]))
        self.pushes.finishRestoring(end: Int(self.head.ends[5]), blank: .blank)
        var engine = Engine(partition: self.partition, partitions: self.partitions, seed: self.seed, rules: self.rules)
        engine.position = self.head.position
        engine.time = self.head.time
        engine.runningHash = self.head.runningHash
        engine.catalogue = Catalogue(
            seed: self.seed,
            settings: self.head.settings,
            teams: self.head.teams,
            apps: self.head.apps,
            kinds: self.head.kinds
        )
        engine.counters = self.head.counters
        engine.counters.hosts = self.registeredHosts
        engine.registry.hosts = self.hosts
        engine.registry.tokens = self.tokens
        engine.registry.usages = self.usages
        engine.schedule.days = self.days
        engine.schedule.instanceTimers = Timers(startingAt: self.head.time)
        engine.schedule.hostTimers = self.hostTimers
        engine.reloads = Reloads(table: self.reloads, matches: self.matches)
        engine.ledger = Ledger(
            pushes: PushTable(
                seed: self.seed,
                rows: self.pushes,
                collapseIDs: self.collapseIDs,
                sums: self.head.pushes
            ),
            repeats: RepeatWindow(
                capacity: self.head.repeatCapacity,
                seed: self.seed,
                entries: self.repeats,
                oldest: self.head.repeatOldest
            ),
            decisions: self.decisions,
            accounts: SenderAccounts(accounts: self.head.accounts)
        )
        engine.standing = self.head.pauses
        for pause in self.head.pauses { engine.applyPause(pause.scope, until: pause.end) }
        engine.channels = self.channels
        engine.amendments = self.head.amendments
        engine.settingsVersion = self.head.settingsVersion
        return engine
    }
}
