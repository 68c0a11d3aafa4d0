import Engine
import Journaling
import NIOCore
import Tracing
import WidgetModel

/// How the owner follows the log: entry by entry, in slices between which others have the loop.
extension PartitionOwner {
    /// How much work is done before other work of the loop gets its turn: at most some 5 ms.
    private static let unitsPerTurn = 2048

    func announce(_ position: LogPosition) {
        self.loop.assertInEventLoop()
        self.state.value.announced = max(self.state.value.announced, position)
        if !self.state.value.isDraining { self.drain() }
    }

    /// Applies what is announced, a slice a turn.
    private func drain() {
        guard !self.state.value.hasFailed else { return }
        let begunAt = NIODeadline.now()
        do {
            let isAnyDone = try self.applySlice(upTo: self.state.value.announced, units: Self.unitsPerTurn)
            if isAnyDone { self.outlets.applied() }
        } catch {
            return self.fail(error)
        }
        self.tellWork(since: begunAt)
        self.commit()
        if self.state.value.applied < self.state.value.announced {
            self.state.value.isDraining = true
            self.loop.execute {
                self.state.value.isDraining = false
                self.drain()
            }
        }
        self.armTick()
    }

    /// Goes on with the entry that is applied in part, and with those behind it, as far as units go.
    ///
    /// - Returns: Whether an entry was finished.
    func applySlice(upTo last: LogPosition, units: Int) throws -> Bool {
        var (units, entries) = (units, 0)
        while units > 0, entries < Self.entriesPerTurn {
            if self.state.value.partial == nil {
                guard let entry = try self.nextEntry(upTo: last) else { break }
                self.begin(entry)
            }
            guard let done = try self.advance(&units) else { break }
            if let begunAt = done.begunAt { self.state.value.traces?.applied(done.entry, done.output, from: begunAt) }
            self.state.value.uncommitted.append(done.effects)
            entries += 1
        }
        return entries > 0
    }

    /// Applies an entry whole.
    ///
    /// - Returns: What comes out of it, and the effects apart.
    func apply(_ entry: LogEntry) throws -> (EngineOutput, EffectQueue) {
        self.begin(entry)
        var units = Int.max
        guard let done = try self.advance(&units) else { preconditionFailure("there are units for all of it") }
        return (done.output, done.effects)
    }

    private func nextEntry(upTo last: LogPosition) throws -> LogEntry? {
        if self.state.value.entries.isEmpty, self.state.value.applied < last {
            let next = self.state.value.applied.next
            let entries = try self.journal.read(self.partition, from: next, entriesMax: Self.entriesPerTurn)
            // Answers are expected before an entry is announced, so none is applied earlier.
            self.state.value.entries = entries.prefix { $0.position <= last }
        }
        return self.state.value.entries.popFirst()
    }

    private func begin(_ entry: LogEntry) {
        precondition(entry.position == self.state.value.applied.next, "an entry was skipped")
        self.state.value.partial = PartialEntry(entry, begunAt: self.isTraced ? DefaultTracerClock.now : nil)
    }

    /// Does some of what is left of the entry that is applied in part.
    ///
    /// - Returns: The entry and what came of it, once all of it is applied.
    private func advance(_ units: inout Int) throws -> PartialEntry? {
        let isDone = try self.state.withValue { state throws in
            try state.partial?.advance(&state.held.engine, &units, checkStop: self.checkStop) ?? true
        }
        guard isDone, let partial = self.state.value.partial else { return nil }
        self.state.value.partial = nil
        self.finish(partial.entry, partial.output)
        self.countWork(partial)
        return partial
    }

    /// Tells of an entry that was applied whole.
    private func finish(_ entry: LogEntry, _ output: EngineOutput) {
        self.state.value.applied = entry.position
        self.state.value.appliedHash = self.state.value.engine.runningHash
        self.state.value.appliedBytes += entry.bytes.count
        if !output.directory.isEmpty { self.outlets.directory(self.partition, output.directory) }
        if !output.audit.isEmpty { self.outlets.audit(output.audit, self.partition, entry.position, entry.logTime) }
        self.tellUsage()
        // No sender waits for what became of a push, so most of the time none of these is expected.
        for answer in output.answers where !self.state.value.expected.isEmpty {
            let key = AnswerKey(position: entry.position, index: answer.recordIndex)
            self.state.value.expected.removeValue(forKey: key)?.succeed(answer)
        }
        self.answerWaitingQuestions()
    }

    /// Tells what each app has of the registry, if that has changed.
    private func tellUsage() {
        let version = self.state.value.engine.usageVersion
        guard let told = self.state.value.toldUsage, told != version else { return }
        self.state.value.toldUsage = version
        self.outlets.usage(self.partition, self.state.value.engine.appUsages)
    }
}
