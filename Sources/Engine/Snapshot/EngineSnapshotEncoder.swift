import DequeModule
import Storage
import Timelines
import WidgetModel

/// Writes an engine's state frame by frame, each in a bounded step.
///
/// It holds a place in the state and no part of it: the engine is lent for each frame, and must not change between them.
package struct EngineSnapshotEncoder: Sendable {
    private typealias Section = EngineSnapshot.Section

    private var section: Section? = .head
    /// The next row of the section.
    private var cursor = 0
    /// Of the section's table: which numbers are not in use.
    private var isFree: [Bool] = []
    /// How many rows and free numbers were written.
    private var rows: UInt64 = 0

    /// Whether the rules are named that decided; a digest is of the state alone.
    private let namesRules: Bool

    /// Nothing written yet.
    package init() { self.init(namesRules: true) }

    init(namesRules: Bool) { self.namesRules = namesRules }

    /// The next frame, nil behind the last. O(frame), but for the first of a table, which is O(free rows of it).
    ///
    /// - Parameter engine: The same one for all frames, which has applied its last record whole.
    package mutating func next(_ engine: borrowing Engine) -> [UInt8]? {
        precondition(engine.isRecordDone, "a record is still being applied")
        while let section = self.section {
            var coder = StateWriter()
            coder.writer.write(byte: section.rawValue)
            let isDone: Bool
            do throws(ByteError) {
                isDone = try self.write(section, engine, &coder)
            } catch {
                preconditionFailure("writing fails at nothing")
            }
            let isEmpty = coder.writer.bytes.count == 1
            if isDone {
                self.section = Section(rawValue: section.rawValue + 1)
                self.cursor = 0
            }
            if !isEmpty { return coder.writer.bytes }
        }
        return nil
    }

    /// Writes rows of a section until the frame is full.
    ///
    /// - Returns: Whether it is finished.
    private mutating func write(
        _ section: Section,
        _ engine: borrowing Engine,
        _ coder: inout StateWriter
    ) throws(ByteError) -> Bool {
        switch section {
        case .head:
            var head = SnapshotHead(engine)
            // As if by the first rules, so that equal states have one digest in every program.
            if !self.namesRules { head.engineVersion = 1 }
            _ = try head.coded(by: &coder)
            return true
        case .free: return self.writeFree(engine, &coder)
        case .hosts:
            return try self.write(engine.registry.hosts.rows, &coder) { (slot, row, coder) throws(ByteError) in
                try coder.row { (coder) throws(ByteError) in
                    let (key, context) = (engine.hostKey(of: slot), engine.registry.hosts.context(of: slot))
                    _ = try HostTable.Record(key: key, row: row, context: context).coded(by: &coder)
                    try TokenTable.BoundToken.each(engine.registry.tokens(of: slot), by: &coder) { _ in }
                    try Self.write(timer: engine.schedule.hostTimers.dueTime(of: slot), &coder)
                }
            }
        case .instances: return try self.writeInstances(engine, &coder)
        case .days:
            return try self.write(engine.schedule.days, &coder) { (_, row, coder) throws(ByteError) in
                _ = coder.value(row)
            }
        case .matches:
            return try self.write(engine.reloads.matches, &coder) { (_, row, coder) throws(ByteError) in
                _ = try row.coded(by: &coder)
            }
        case .reloads:
            return try self.write(engine.reloads.table.rows, &coder) { (slot, _, coder) throws(ByteError) in
                _ = try engine.reloads[slot].coded(by: &coder)
            }
        case .pushes:
            return try self.write(engine.ledger.pushes.rows, &coder) { (slot, row, coder) throws(ByteError) in
                _ = try row.coded(by: &coder)
                if row.hasCollapseID { _ = coder.bytes(engine.ledger.pushes.collapseID(of: slot)) }
            }
        case .repeats:
            return try self.write(engine.ledger.repeats.entries.count, &coder) { (place, coder) throws(ByteError) in
                _ = try engine.ledger.repeats.entries[place].coded(by: &coder)
            }
        case .decisions:
            return try self.write(engine.ledger.decisions.kept, &coder) { (place, coder) throws(ByteError) in
                _ = try engine.ledger.decisions.entry(atPlace: place).coded(by: &coder)
            }
        case .removals:
            return try self.write(engine.registry.tokens.removals.count, &coder) { (place, coder) throws(ByteError) in
                _ = try engine.registry.tokens.removals[place].coded(by: &coder)
            }
        case .channels: return self.writeChannels(engine, &coder)
        case .end:
            _ = coder.number(self.rows)
            return true
        }
    }

    /// Writes the shapes of some rows, then the rows.
    private mutating func writeInstances(
        _ engine: borrowing Engine,
        _ coder: inout StateWriter
    ) throws(ByteError) -> Bool {
        var shapes = ShapeWriter()
        var rows = StateWriter()
        let isDone = try self.write(engine.registry.instances.rows, &rows, beside: { shapes.byteCount }) {
            (slot, row, coder) throws(ByteError) in
            let details = engine.registry.instances.details.whole(slot)
            let configuration = engine.registry.configuration(of: slot)
            let record = InstanceRecord(row: row, resting: engine.schedule[slot], cold: engine.schedule[cold: slot])
            let number = try shapes.intern(InstanceShape(kind: row.kind, details, configuration))
            try coder.row { (coder) throws(ByteError) in
                let head = InstanceRecord.Head(
                    host: row.host,
                    flags: row.flags,
                    scheduleFlags: record.resting.flags,
                    shape: number
                )
                _ = try head.coded(by: &coder)
                _ = coder.text(details.row.id.rawValue)
                let groups = try InstanceGroups(record, details).coded(by: &coder)
                _ = try details.coded(by: &coder, groups)
                if groups.contains(.active) {
                    _ = try engine.schedule[active: slot].coded(by: &coder)
                    _ = coder.number(UInt64(engine.schedule.active[owner: record.resting.active].since))
                }
                let hash = engine.addressHash(of: slot)
                _ = try record.coded(
                    by: &coder,
                    head,
                    kind: row.kind,
                    groups,
                    active: record.resting.active,
                    addressHash: hash
                )
                try Self.write(timer: engine.schedule.dueTime(of: slot), &coder)
            }
        }
        guard !rows.writer.bytes.isEmpty else { return isDone }
        shapes.write(to: &coder.writer)
        coder.writer.bytes += rows.writer.bytes
        return isDone
    }

    private static func write(timer: Instant?, _ coder: inout StateWriter) throws(ByteError) {
        _ = coder.number(timer.map { UInt64($0.seconds) + 1 } ?? 0)
    }

    /// The numbers that are not in use, of one table after the other: the table, then its numbers.
    private mutating func writeFree(_ engine: borrowing Engine, _ coder: inout StateWriter) -> Bool {
        var skipped = self.cursor
        return
            !(self.writeRun(of: engine.registry.hosts.rows.free, 0, &skipped, &coder)
            || self.writeRun(of: engine.registry.instances.rows.free, 1, &skipped, &coder)
            || self.writeRun(of: engine.schedule.days.free, 2, &skipped, &coder)
            || self.writeRun(of: engine.reloads.matches.free, 3, &skipped, &coder)
            || self.writeRun(of: engine.reloads.table.rows.free, 4, &skipped, &coder)
            || self.writeRun(of: engine.ledger.pushes.rows.free, 5, &skipped, &coder))
    }

    /// Writes a frame's worth of a table's free numbers.
    ///
    /// - Parameter skipped: How many were written before, of this table and those behind it.
    /// - Returns: Whether any were left to write.
    private mutating func writeRun<Tag>(
        of free: [Number<Tag>],
        _ table: UInt8,
        _ skipped: inout Int,
        _ coder: inout StateWriter
    ) -> Bool {
        guard skipped < free.count else {
            skipped -= free.count
            return false
        }
        let run = free[skipped..<min(free.count, skipped + EngineSnapshot.frameBytes / 4)]
        _ = coder.byte(table)
        for number in run { _ = coder.number(UInt64(number.raw)) }
        self.cursor += run.count
        self.rows += UInt64(run.count)
        return true
    }

    /// Rows of a table, each behind how many numbers were left out before it.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - coder: Where they are written.
    ///   - extra: How many bytes the frame has beside them.
    ///   - body: Writes a row.
    private mutating func write<Tag, Row>(
        _ table: borrowing Table<Tag, Row>,
        _ coder: inout StateWriter,
        beside extra: () -> Int = { 0 },
        _ body: (Number<Tag>, Row, inout StateWriter) throws(ByteError) -> Void
    ) throws(ByteError) -> Bool {
        if self.cursor == 0 {
            self.isFree = Array(repeating: false, count: table.end)
            for slot in table.free { self.isFree[slot.index] = true }
        }
        var expected = 0
        while self.cursor < table.end, coder.writer.bytes.count + extra() < EngineSnapshot.frameBytes {
            defer { self.cursor += 1 }
            guard !self.isFree[self.cursor] else { continue }
            _ = coder.number(UInt64(self.cursor - expected))
            expected = self.cursor + 1
            let number = Number<Tag>(self.cursor)
            try body(number, table[number], &coder)
            self.rows += 1
        }
        return self.cursor >= table.end
    }

    /// Elements of a list, by their places.
    private mutating func write(
        _ count: Int,
        _ coder: inout StateWriter,
        _ body: (Int, inout StateWriter) throws(ByteError) -> Void
    ) throws(ByteError) -> Bool {
        while self.cursor < count, coder.writer.bytes.count < EngineSnapshot.frameBytes {
            try body(self.cursor, &coder)
            self.cursor += 1
            self.rows += 1
        }
        return self.cursor >= count
    }

    /// An app's channels a frame.
    private mutating func writeChannels(_ engine: borrowing Engine, _ coder: inout StateWriter) -> Bool {
        guard self.cursor < engine.channels.apps.count else { return true }
        let app = engine.channels.apps[self.cursor]
        _ = coder.text(app.id.rawValue)
        _ = coder.value(app.channels)
        self.cursor += 1
        self.rows += 1
        return false
    }
}
