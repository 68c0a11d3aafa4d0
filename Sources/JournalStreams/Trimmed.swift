package import Journaling
package import WidgetModel

/// The facts that are still needed about the trimmed part of a partition's log. Written before the part is trimmed.
package struct Trimmed: Hashable, Sendable {
    /// The last entry that is gone, or may be.
    package let through: LogPosition
    /// Its time.
    package let logTime: Instant
    /// The sequence of the newest submission to all partitions of which a copy is gone; 0 for none.
    package let fan: UInt64

    package init(through: LogPosition, logTime: Instant, fan: UInt64) {
        self.through = through
        self.logTime = logTime
        self.fan = fan
    }

    /// - Parameters:
    ///   - bytes: Of a note.
    ///   - journalID: The log's.
    ///   - subject: The note's.
    /// - Throws: `.corrupt` if it is damaged.
    package init(_ bytes: [UInt8], _ journalID: String, in subject: String) throws(JournalError) {
        do {
            var reader = try MessageFormat.reader(of: bytes, .note, journalID, in: subject)
            self.through = LogPosition(try reader.readVarint())
            self.logTime = try reader.readInstant()
            self.fan = try reader.readVarint()
        } catch {
            throw JournalError(.corrupt, "the note \(subject) on trimming is damaged")
        }
    }

    package func bytes(_ journalID: String, in subject: String) -> [UInt8] {
        MessageFormat.message(.note, journalID, in: subject) { writer in
            writer.write(varint: self.through.rawValue)
            writer.write(self.logTime)
            writer.write(varint: self.fan)
        }
    }
}

/// Lets go of the beginning of one partition's log, as a value: outputs first, then a note, then the entries.
///
/// It removes only decided entries, and keeps the newest output. Any number of nodes may do this at once, also one that was asleep: the
/// note never goes back.
package struct Trimming: Sendable {
    /// The next step.
    package enum Step: Sendable {
        /// Ask for the ends of the entries' stream, then for the newest output: ``looked(entries:newest:)``.
        case look
        /// Read some entries from a position on: ``read(_:)``.
        case readEntries(from: LogPosition)
        /// Ask where the outputs begin: ``outputs(from:)``.
        case findOutputs
        /// Read one output: ``read(output:)``.
        case readOutput(OutputPosition)
        case purgeOutputs(before: OutputPosition)
        /// Ask for the newest copy of a submission to all partitions, and for the first one behind a position:
        /// ``found(newestCopy:behind:)``.
        case findCopies(behind: LogPosition)
        /// Read the note: ``found(note:sequence:)``.
        case readNote
        case writeNote(Trimmed, Expectation)
        case purgeEntries(before: LogPosition)
        /// Whether anything went.
        case done(Bool)
    }

    private enum Phase {
        case looking
        case entries(next: LogPosition, last: LogPosition)
        case outputs(low: UInt64?, high: UInt64)
        case purgingOutputs(before: UInt64)
        case copies
        case note(fan: UInt64)
        case writing(Trimmed, Expectation)
        case purging
        case over(Bool)
    }

    private let position: LogPosition
    private let instant: Instant
    private var phase = Phase.looking
    private var through: LogPosition = .start
    private var logTime = Instant(milliseconds: .min)
    private var newest = OutputPosition.first
    private var firstOutput: UInt64 = 1

    /// - Parameters:
    ///   - position: The newest entry that may go.
    ///   - instant: Only entries that were logged before.
    package init(through position: LogPosition, loggedBefore instant: Instant) {
        self.position = position
        self.instant = instant
    }

    /// The next step; the same one again until its result was told.
    package var step: Step {
        switch self.phase {
        case .looking: .look
        case .entries(let next, _): .readEntries(from: next)
        case .outputs(nil, _): .findOutputs
        case .outputs(let low?, let high): .readOutput(OutputPosition(low + (high - low) / 2))
        case .purgingOutputs(let before): .purgeOutputs(before: OutputPosition(before))
        case .copies: .findCopies(behind: self.through)
        case .note: .readNote
        case .writing(let trimmed, let expectation): .writeNote(trimmed, expectation)
        case .purging: .purgeEntries(before: self.through.next)
        case .over(let isAny): .done(isAny)
        }
    }

    package mutating func looked(entries ends: StreamEnds, newest: OutputEntry?) {
        guard let newest else { return self.phase = .over(false) }
        self.newest = newest.position
        // Nothing that is not decided, whatever is asked.
        let last = min(self.position, LogPosition(ends.last), newest.record.through)
        self.phase = .entries(next: LogPosition(ends.first), last: last)
        if ends.first > last.rawValue { self.phase = .over(false) }
    }

    /// Takes entries that follow each other; time never goes back.
    package mutating func read(_ entries: [LogEntry]) {
        guard case .entries(_, let last) = self.phase else { return }
        let old = entries.prefix { $0.position <= last && $0.logTime < self.instant }
        if let newest = old.last { (self.through, self.logTime) = (newest.position, newest.logTime) }
        if let end = entries.last, old.count == entries.count, end.position < last {
            self.phase = .entries(next: end.position.next, last: last)
        } else {
            self.phase = self.through == .start ? .over(false) : .outputs(low: nil, high: self.newest.rawValue)
        }
    }

    /// - Parameter first: The first output that is there.
    package mutating func outputs(from first: UInt64) {
        self.firstOutput = first
        self.search(first, self.newest.rawValue)
    }

    /// - Parameter output: Nil if it is gone: another one trims, too.
    package mutating func read(output: OutputEntry?) {
        guard case .outputs(let low?, let high) = self.phase else { return }
        let middle = low + (high - low) / 2
        guard let output else { return self.phase = .copies }
        if output.record.through <= self.through { self.search(middle + 1, high) } else { self.search(low, middle) }
    }

    /// The first that stays: the one after which nothing needs those before it.
    private mutating func search(_ low: UInt64, _ high: UInt64) {
        if low < high { return self.phase = .outputs(low: low, high: high) }
        let before = min(low, self.newest.rawValue)
        self.phase = before > self.firstOutput ? .purgingOutputs(before: before) : .copies
    }

    package mutating func purgedOutputs() { self.phase = .copies }

    /// - Parameters:
    ///   - newest: The newest copy of all; nil if there is none.
    ///   - behind: The first one behind the position; nil if there is none.
    package mutating func found(newestCopy newest: InputMessage?, behind first: InputMessage?) {
        // The first one behind the position is the one after it: they are copied in order.
        self.phase = .note(fan: first?.fan.map { $0 - 1 } ?? newest?.fan ?? 0)
    }

    /// - Parameters:
    ///   - known: The present note; nil for none.
    ///   - sequence: The note's; 0 if there is none.
    package mutating func found(note known: Trimmed?, sequence: UInt64) {
        guard case .note(let fan) = self.phase else { return }
        if let known, known.through >= self.through { return self.phase = .purging }
        let trimmed = Trimmed(through: self.through, logTime: self.logTime, fan: max(fan, known?.fan ?? 0))
        self.phase = .writing(trimmed, .lastOfSubject(sequence))
    }

    /// The note was written, or perhaps not: it is read again then.
    package mutating func noted(_ outcome: PublishOutcome) {
        guard case .writing(let trimmed, _) = self.phase else { return }
        if case .stored = outcome { self.phase = .purging } else { self.phase = .note(fan: trimmed.fan) }
    }

    package mutating func purged() { self.phase = .over(true) }
}
