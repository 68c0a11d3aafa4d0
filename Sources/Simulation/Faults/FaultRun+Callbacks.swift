import Engine
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// The journal's callbacks and its answers, and their faults on the way.
extension FaultRun {
    /// Takes a callback that has come: now or later, once or twice, or not at all.
    mutating func follow(_ message: JournalInbox.Message) {
        guard !self.goesAstray(message) else { return }
        self.takeMessage(message)
        guard !self.isDown, self.dice.chance(self.plan.doubled) else { return }
        self.checker.noteOccurrence(message.repetition)
        if self.mayComeLate(message), self.dice.chance(0.5) {
            self.queue.insert(.callback(message), at: self.now + 1 + Int64(self.dice.below(self.plan.delayMax)))
        } else {
            self.takeMessage(message)
        }
    }

    /// A failure does not say which try it is of, and so counts for the output that is under way.
    private func mayComeLate(_ message: JournalInbox.Message) -> Bool {
        if case .committed(_, _, .failure) = message { false } else { true }
    }

    /// Whether a callback does not come now. The others come as long as the process lives: a death takes them with it.
    private mutating func goesAstray(_ message: JournalInbox.Message) -> Bool {
        switch message {
        case .appended(_, .some, .success):
            // The connection of the client is gone.
            guard self.dice.chance(self.plan.lost) else { return false }
            self.checker.noteOccurrence(.lostAppend)
            return true
        case .announced:
            // The next hint may come first, and tells of these entries, too.
            guard self.dice.chance(self.plan.lost) else { return false }
            self.checker.noteOccurrence(.lateHint)
            self.queue.insert(.callback(message), at: self.now + 1 + Int64(self.dice.below(1000)))
            return true
        case .appended, .reported, .fetched, .committed: return false
        }
    }

    /// Takes a callback; one for an earlier start is ignored.
    mutating func takeMessage(_ message: JournalInbox.Message) {
        switch message {
        case .appended(let start, let request, let result):
            guard start == self.start, let request, case .success = result else { return }
            // After the commit, before the answer.
            guard !self.dies() else { return }
            if self.mutation != .acknowledgesEarly { self.answer(request) }
        case .announced(let start, let partition, let position):
            if self.mutation == .losesHints, self.dice.chance(0.2) { return }
            self.owner(partition, start: start)?.machine.announce(position)
        case .reported(let start, let number, let tryNumber, let partition, let result):
            self.takeReported(number, try: tryNumber, partition, result, start: start)
        case .fetched(let start, let exchange, let partition, let result):
            self.takeFetched(exchange, partition, result, start: start)
        case .committed(let start, let partition, let result):
            guard let owner = self.owner(partition, start: start) else { return }
            do {
                try owner.machine.committed(self.mutated(result))
            } catch {
                self.stopped(owner, error)
            }
        }
    }

    // MARK: Reading

    /// Gives an owner the entries that it asks for, if they can be read.
    ///
    /// - Parameter units: How much the owner applies at a time.
    mutating func read(from position: LogPosition, _ owner: SimulatedOwner, slice units: Int) throws {
        if self.dice.chance(self.plan.failedReads) {
            self.checker.noteOccurrence(.failedRead)
            // The log is away for a while, or its disk fails, and the process ends by that.
            let code: JournalError.Code = self.mayDie && self.dice.chance(0.1) ? .failing : .unavailable
            return try owner.machine.takeEntries(.failure(JournalError(code, "a fault of the simulation")))
        }
        let entries = try self.journal.read(owner.partition, from: position, entriesMax: 1 + self.dice.below(8))
        let result = Result<[LogEntry], JournalError>.success(
            entries.map { self.misread(self.mutated($0), slice: units) }
        )
        try owner.machine.takeEntries(result)
        guard self.dice.chance(self.plan.doubled) else { return }
        self.checker.noteOccurrence(.repeatedRead)
        try owner.machine.takeEntries(result)
    }

    /// The newest output, behind one with an unknown outcome. The disk is in trouble then, and often cannot be read either.
    mutating func lookUpOutput(of partition: PartitionID) throws(JournalError) -> OutputEntry? {
        if self.dice.chance(self.plan.failedReads * 5) {
            self.checker.noteOccurrence(.failedLookUp)
            throw JournalError(.failing, "a fault of the simulation")
        }
        return try self.journal.lastOutput(partition)
    }
}
