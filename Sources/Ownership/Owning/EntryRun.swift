package import Engine
package import Journaling

/// An entry on its way through an engine: the one loop over its records.
///
/// Owners and their replays apply it in slices of work (``advance(_:_:)``); the rows that its records will need are fetched for some
/// records ahead. Readers that look at each record apply it record by record (``applyNext(_:)``), and may leave some out.
package struct EntryRun: Sendable {
    /// Of how many records the rows are fetched before the first of them is applied.
    private static let recordsPrefetched = 32

    package let entry: LogEntry
    /// Its results so far, except the effects.
    package private(set) var output = EngineOutput()
    package private(set) var effects = EffectQueue()
    /// The work of its effects so far.
    private var effectUnits = 0
    /// How many records were begun: the index of the one that comes next.
    package private(set) var recordsBegun = 0
    private var records: PackedRecords.Ranges.Iterator
    /// The place of the record that comes next, in the entry's bytes; nil behind the last one.
    package private(set) var next: Range<Int>?
    private var ahead: PackedRecords.Ranges.Iterator
    private var prefetched = 0

    /// The work that it has taken, see ``WorkUnits``. O(answers).
    package var unitsDone: Int { self.effectUnits + WorkUnits.done(self.output.answers[...]) }

    package init(_ entry: LogEntry) {
        self.entry = entry
        self.records = entry.records.makeIterator()
        self.ahead = self.records
        self.next = self.records.next()
    }

    /// Applies a part of it.
    ///
    /// - Parameters:
    ///   - engine: The engine after the entry before, or after the last slice of this one.
    ///   - units: The most work, see ``WorkUnits``; returns the unused rest, which is negative if the last record took
    ///     more.
    /// - Returns: Whether the entry is applied whole.
    /// - Throws: If a record cannot be applied. It is the last that was begun.
    package mutating func advance(_ engine: inout Engine, _ units: inout Int) throws(EngineError) -> Bool {
        defer { self.takeEffects() }
        while true {
            if !engine.isRecordDone {
                guard units > 0 else { return false }
                engine.advance(&units, into: &self.output)
            } else if let range = self.next {
                guard units > 0 else { return false }
                self.prefetchIfNeeded(&engine)
                try self.begin(range, &engine)
                units -= engine.isRecordDone ? WorkUnits.done(self.output.answers.suffix(1)) : WorkUnits.record
            } else {
                return true
            }
        }
    }

    /// Applies the next record whole.
    ///
    /// - Returns: Its results, which are not in ``output`` and ``effects``; nil if there is no other record.
    package mutating func applyNext(_ engine: inout Engine) throws(EngineError) -> EngineOutput? {
        guard let range = self.next else { return nil }
        try self.begin(range, &engine)
        var units = Int.max
        while !engine.isRecordDone { engine.advance(&units, into: &self.output) }
        defer { self.output = EngineOutput() }
        return self.output
    }

    /// Leaves the next record out.
    package mutating func skipNext() {
        self.recordsBegun += 1
        self.next = self.records.next()
    }

    private mutating func begin(_ range: Range<Int>, _ engine: inout Engine) throws(EngineError) {
        self.skipNext()
        try engine.begin(
            self.entry.bytes,
            in: range,
            recordIndex: self.recordsBegun - 1,
            at: self.entry.position,
            logTime: self.entry.logTime,
            into: &self.output
        )
    }

    /// Applies all that is left of it.
    package mutating func finish(_ engine: inout Engine) throws(EngineError) {
        var units = Int.max
        while try !self.advance(&engine, &units) { units = .max }
    }

    /// Puts the effects of a slice behind those of the slices before.
    private mutating func takeEffects() {
        self.effectUnits += WorkUnits.done(self.output.effects)
        self.effects.append(self.output.effects)
        self.output.effects = []
    }

    private mutating func prefetchIfNeeded(_ engine: inout Engine) {
        guard self.recordsBegun == self.prefetched else { return }
        while self.prefetched < self.recordsBegun + Self.recordsPrefetched, let range = self.ahead.next() {
            engine.prefetch(self.entry.bytes, in: range)
            self.prefetched += 1
        }
        engine.finishPrefetch()
    }
}
