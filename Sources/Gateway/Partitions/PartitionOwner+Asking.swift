package import Engine
package import NIOCore
import Ownership
package import WidgetModel

/// When a question to an engine may be answered.
package enum QuestionMoment: Sendable {
    /// At once, also while an entry is applied in part: what is decided so far is the answer.
    case anyTime
    /// When no entry is applied in part: for what says how far the log is applied, and for when the next timer is due.
    case betweenEntries
}

extension PartitionOwner {
    /// The answer to a record that was just appended.
    ///
    /// Call it from the journal's receipt callback, before that returns: the entry is announced after it.
    ///
    /// - Parameters:
    ///   - position: The entry the record is in.
    ///   - index: The record's place in that entry.
    ///   - promise: Succeeded once the record is applied; failed if the partition stops.
    package func expectAnswer(
        at position: LogPosition,
        index: Int,
        _ promise: EventLoopPromise<RecordAnswer>
    ) {
        self.loop.execute {
            if self.state.value.hasFailed {
                promise.fail(OwnerError.stopped(partition: self.partition))
            } else {
                self.state.value.expected[AnswerKey(position: position, index: index)] = promise
            }
        }
    }

    /// Asks the engine something.
    ///
    /// - Parameters:
    ///   - moment: When it may be answered.
    ///   - body: Asks it.
    package func query<Answer: Sendable>(
        at moment: QuestionMoment = .anyTime,
        _ body: @escaping @Sendable (borrowing Engine) throws -> Answer
    ) async throws -> Answer {
        let promise = self.loop.makePromise(of: Answer.self)
        self.loop.execute { self.answer(moment, promise, body) }
        return try await promise.futureResult.get()
    }

    private func answer<Answer: Sendable>(
        _ moment: QuestionMoment,
        _ promise: EventLoopPromise<Answer>,
        _ body: @escaping @Sendable (borrowing Engine) throws -> Answer
    ) {
        let isWaiting =
            !self.state.value.machine.isBetweenEntries
            && (moment == .betweenEntries || !self.state.value.engine.isAskable)
        guard isWaiting else {
            return promise.completeWith(Result { try body(self.state.value.engine) })
        }
        guard !self.state.value.hasFailed else {
            return promise.fail(OwnerError.stopped(partition: self.partition))
        }
        self.state.value.questions.append { self.answer(moment, promise, body) }
    }

    /// Answers what waited until no entry is applied in part; once the partition has stopped, it says so.
    func answerWaitingQuestions() {
        let questions = self.state.value.questions
        self.state.value.questions = []
        for question in questions { question() }
    }

    /// An output that goes as far as the owner is now, or a later one: written without effects if there is none yet, so
    /// that a snapshot can be compared with what the owner came to.
    func checkpoint() async throws -> OwnerCheckpoint {
        let promise = self.loop.makePromise(of: OwnerCheckpoint.self)
        self.loop.execute {
            guard !self.state.value.hasFailed, self.state.value.machine.applied > .start else {
                return promise.fail(OwnerError.stopped(partition: self.partition))
            }
            self.state.value.checkpoints.append(promise)
            self.drive { machine in machine.askForCheckpoint() }
        }
        return try await promise.futureResult.get()
    }

    /// How far the owner is.
    package func progress() async throws -> OwnerProgress {
        try await self.loop.submit {
            let lag = self.work.lag(at: .now())
            return OwnerProgress(
                partition: self.partition,
                applied: self.state.value.machine.applied,
                announced: max(lag.announced, self.state.value.machine.applied),
                uncommittedEffects: self.state.value.machine.uncommittedCount,
                outputChunks: self.state.value.machine.chunksWritten,
                appliedBytes: self.state.value.appliedBytes,
                hasFailed: self.state.value.hasFailed,
                lagTime: lag.time,
                unitsDone: self.state.value.unitsDone
            )
        }.get()
    }
}
