import IntentMatching
package import WidgetModel

/// How a record is applied: the work that is due before it, the record, and the work that follows from it, in slices if need be.
///
/// Work that is not bounded by a constant is a queue of steps in the state (``RecordWork``). How it is sliced changes
/// nothing: state, effects, answers, decisions and the running hash are equal for every slicing. Between slices the state
/// may be asked (``isAskable``), but only another slice may change it.
extension Engine {
    /// So many complete pushes are forgotten at once, before a record that finds no other work.
    private static let evictedAtOnce = 16

    /// Whether all of the last record was applied.
    package var isRecordDone: Bool { self.work.isDone }

    /// Whether the state may be asked: always, but between two slices of a record that changes settings or erases tokens.
    package var isAskable: Bool { self.work.isConsistent }

    /// Applies one record whole: ``begin(_:in:recordIndex:at:logTime:into:)``, and then all slices at once.
    package mutating func apply(
        _ bytes: [UInt8],
        in range: Range<Int>,
        recordIndex: Int,
        at position: LogPosition,
        logTime: Instant,
        into output: inout EngineOutput
    ) throws(EngineError) {
        try self.begin(bytes, in: range, recordIndex: recordIndex, at: position, logTime: logTime, into: &output)
        var units = Int.max
        while !self.isRecordDone { self.advance(&units, into: &output) }
    }

    /// Begins to apply one record, and does the part that is bounded by a constant. If more work is left,
    /// ``isRecordDone`` is false, and ``advance(_:into:)`` does it.
    ///
    /// Every timer that is due by then fires before the record. Precondition: the record before is done.
    ///
    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - range: The place of the record in them, without its length prefix.
    ///   - recordIndex: The record's index in its entry, returned in the answer.
    ///   - position: The entry's position, not before any applied one.
    ///   - logTime: The entry's time; an earlier one than before counts as the one before.
    ///   - output: Effects, directory changes and the answer are appended to it.
    /// - Throws: If the record cannot be applied; the state is unchanged then.
    package mutating func begin(
        _ bytes: [UInt8],
        in range: Range<Int>,
        recordIndex: Int,
        at position: LogPosition,
        logTime: Instant,
        into output: inout EngineOutput
    ) throws(EngineError) {
        precondition(self.isRecordDone, "a record begins before the one before it is done")
        guard position >= self.position else { throw .outOfOrder(position, applied: self.position) }
        if let version = Self.engineVersion(bytes, in: range), version < Self.version {
            throw .olderVersion(position, version: version)
        }
        let record: IncomingRecord
        do throws(ByteError) {
            record = try self.read(bytes, in: range)
        } catch {
            throw .damaged(position, error)
        }
        swap(&self.output, &output)
        defer { swap(&self.output, &output) }
        self.work.recordIndex = recordIndex
        self.moveTime(bytes, in: range, at: position, logTime: logTime)
        if self.isAnythingDue { self.queue(record) } else { self.perform(record) }
    }

    /// Does a part of the work that is left of the record.
    ///
    /// - Parameters:
    ///   - units: The most units; returns the unused rest. A unit is about the decision of one match, and each reload
    ///     from it is another. An indivisible step may take more.
    ///   - output: As for ``begin(_:in:recordIndex:at:logTime:into:)``.
    package mutating func advance(_ units: inout Int, into output: inout EngineOutput) {
        swap(&self.output, &output)
        defer { swap(&self.output, &output) }
        while units > 0, let step = self.work.popNext() { self.advance(step, &units) }
    }

    /// Does some of a step, and puts the rest of it back.
    private mutating func advance(_ step: consuming RecordWork.Step, _ units: inout Int) {
        switch consume step {
        case .timers(var timers):
            self.advance(&timers, &units)
            if !timers.isDone { self.work.push(.timers(timers)) }
        case .removedTokens:
            if !self.forgetTokens(&units) { self.work.push(.removedTokens) }
        case .completedPushes:
            if !self.evictPushes(&units) { self.work.push(.completedPushes) }
        case .record(let record): self.perform(record)
        case .finding(let work): self.advance(work, &units)
        case .matches(var work):
            self.decide(&work, &units)
            if work.isDone { self.answer(self.close(work)) } else { self.work.push(.matches(work)) }
        case .appReload(var work):
            self.advance(&work, &units)
            if work.isDone { self.answer(work.result) } else { self.work.push(.appReload(work)) }
        case .invalidation(var work):
            self.advance(&work, &units)
            if work.isDone { self.answer(self.close(work)) } else { self.work.push(.invalidation(work)) }
        case .order(var work):
            self.advance(&work, &units)
            if work.isDone { self.answer(work.result) } else { self.work.push(.order(work)) }
        case .erasure(var erasure):
            if self.registry.finish(&erasure, &units) {
                self.answer(.unregistered)
            } else {
                self.work.push(.erasure(erasure))
            }
        case .settings(var work):
            self.advance(&work, &units)
            if work.isDone { self.answer(work.result) } else { self.work.push(.settings(work)) }
        }
    }

    /// Queues the work that is due before a record, and behind it the record.
    private mutating func queue(_ record: consuming IncomingRecord) {
        self.work.push(.record(record))
        self.work.push(.completedPushes)
        self.work.push(.removedTokens)
        self.work.push(.timers(DueTimers()))
    }

    /// Whether more is due before a record than can be done at once.
    private var isAnythingDue: Bool {
        mutating get {
            if let due = self.schedule.nextDue, due <= self.time { return true }
            if let due = self.registry.nextTokenForgetting(after: self.catalogue.limits.removedTokenRetention),
                due <= self.time
            {
                return true
            }
            var units = Self.evictedAtOnce
            return !self.evictPushes(&units)
        }
    }

    /// Forgets the pushes that completed first, as the limits have it.
    ///
    /// - Returns: Whether it is finished.
    private mutating func evictPushes(_ units: inout Int) -> Bool {
        self.ledger.evictPushes(
            above: self.catalogue.limits.pushesRetainedMax,
            completedBefore: self.time - self.catalogue.limits.pushRetention,
            atMost: &units
        )
        return units > 0
    }

    /// Forgets tokens whose removal is long ago.
    ///
    /// - Returns: Whether that were all.
    private mutating func forgetTokens(_ units: inout Int) -> Bool {
        let retention = self.catalogue.limits.removedTokenRetention
        for token in self.registry.forgetTokens(at: self.time, after: retention, atMost: &units) {
            self.output.directory.append(.forgotten(token))
        }
        return units > 0
    }
}

// MARK: - One record

extension Engine {
    /// Reads a record. A push stays as it lies in the bytes.
    private mutating func read(_ bytes: [UInt8], in range: Range<Int>) throws(ByteError) -> IncomingRecord {
        var reader = ByteReader(bytes, in: range)
        guard range.first.map({ bytes[$0] }) == Record.Tag.push.rawValue else {
            return .other(try Record(from: &reader))
        }
        _ = try reader.readByte()
        let head = try PushHead(from: &reader)
        let pattern = head.flags.contains(.pattern) ? try MatchPattern(from: &reader) : nil
        let attributes = head.flags.contains(.attributes) ? try Configuration(from: &reader) : .empty
        guard reader.isAtEnd else { throw ByteError.invalid(offset: reader.offset) }
        let team = try self.catalogue.internTeam(bytes, in: head.team)
        return .push(
            IncomingPushRecord(head: head, pattern: pattern, attributes: attributes, team: team, bytes: bytes)
        )
    }

    /// Moves time on and hashes the record.
    private mutating func moveTime(_ bytes: [UInt8], in range: Range<Int>, at position: LogPosition, logTime: Instant) {
        self.position = position
        self.time = max(self.time, min(logTime, Self.latest))
        self.combine(position.rawValue)
        self.combine(UInt64(bitPattern: self.time.milliseconds))
        self.combine(ReplayHash.of(bytes, in: range, seed: 0))
        self.endPauses()
    }

    /// Applies a record once no work before it is due. A record without an answer yet has queued its work.
    private mutating func perform(_ record: consuming IncomingRecord) {
        switch record {
        case .push(let push):
            if let result = self.acceptPush(push) { self.answer(result) }
        case .other(let record):
            if let audited = AuditedRecord(record, recordIndex: self.work.recordIndex) {
                self.output.audit.append(audited)
            }
            if let result = self.perform(record) { self.answer(result) }
        }
    }

    /// - Returns: Nil if there is work queued that ends with an answer.
    private mutating func perform(_ record: Record) -> RecordAnswer.Result? {
        switch record {
        case .settings(let settings): self.start(settings)
        case .configure(let change): self.configure(change)
        case .push: preconditionFailure("pushes are applied without being decoded")
        case .register(let registration): self.register(registration)
        case .unregister(let removal): self.unregister(removal)
        case .signal(let signal): self.signal(signal)
        case .timeline(let report): self.acceptTimeline(report)
        case .delivery(let report): self.acceptDelivery(report)
        case .appReload(let request): self.acceptAppReload(request)
        case .invalidate(let request): self.acceptInvalidation(request)
        case .order(let order): self.acceptOrder(order)
        case .channel(let command): self.acceptCommand(command)
        case .trace: .traced
        case .audit: .noted
        case .tick: .ticked
        }
    }

    mutating func answer(_ result: RecordAnswer.Result) {
        self.output.answers.append(RecordAnswer(recordIndex: self.work.recordIndex, result: result))
    }
}
