import Engine
import Journaling
import Tracing

/// An entry on its way through the engine: record by record, and each in slices of work.
///
/// The rows that its records will need are fetched for some records ahead.
struct PartialEntry: Sendable {
    /// Of how many records the rows are fetched before the first of them is applied.
    private static let recordsPrefetched = 32

    let entry: LogEntry
    /// When its first record was begun, if that is asked for.
    let begunAt: DefaultTracerClock.Timestamp?
    /// What has come out of it, but for the effects.
    private(set) var output = EngineOutput()
    private(set) var effects = EffectQueue()
    /// What it has taken, see ``WorkUnits``.
    private(set) var unitsDone = 0
    private var records: PackedRecords.Ranges.Iterator
    /// The record that comes next.
    private var next: Range<Int>?
    private var index = 0
    private var ahead: PackedRecords.Ranges.Iterator
    private var prefetched = 0

    init(_ entry: LogEntry, begunAt: DefaultTracerClock.Timestamp?) {
        self.entry = entry
        self.begunAt = begunAt
        self.records = entry.records.makeIterator()
        self.ahead = self.records
        self.next = self.records.next()
    }

    /// Applies some of it.
    ///
    /// - Parameters:
    ///   - units: How much at most, see ``WorkUnits``; left with what is not used up, which is less than nothing where
    ///     the last record took more.
    ///   - checkStop: Called before each piece; throws if there has to be no other.
    /// - Returns: Whether that was all of it.
    mutating func advance(_ engine: inout Engine, _ units: inout Int, checkStop: () throws -> Void) throws -> Bool {
        defer { self.takeEffects() }
        while true {
            try checkStop()
            if !engine.isRecordDone {
                guard units > 0 else { return false }
                engine.advance(&units, into: &self.output)
            } else if let range = self.next {
                guard units > 0 else { return false }
                self.prefetchIfNeeded(&engine)
                try engine.begin(
                    self.entry.bytes,
                    in: range,
                    recordIndex: self.index,
                    at: self.entry.position,
                    logTime: self.entry.logTime,
                    into: &self.output
                )
                units -= engine.isRecordDone ? WorkUnits.done(self.output.answers.suffix(1)) : WorkUnits.record
                self.index += 1
                self.next = self.records.next()
            } else {
                return true
            }
        }
    }

    /// Puts the effects of a slice behind those of the slices before.
    private mutating func takeEffects() {
        self.unitsDone += WorkUnits.done(self.output.effects)
        self.effects.append(self.output.effects)
        self.output.effects = []
    }

    private mutating func prefetchIfNeeded(_ engine: inout Engine) {
        guard self.index == self.prefetched else { return }
        while self.prefetched < self.index + Self.recordsPrefetched, let range = self.ahead.next() {
            engine.prefetch(self.entry.bytes, in: range)
            self.prefetched += 1
        }
        engine.finishPrefetch()
    }
}
