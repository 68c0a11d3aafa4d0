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

// MARK: - Searches

extension PartitionOwner {
    /// Finds what a push would match, a slice a turn of the loop, and then asks the engine about it.
    ///
    /// The log is not applied meanwhile, since the index must not change, but between two searches some of it is.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - decidedMax: How many matches are to be decided, as a sample of all; nil if they are only counted.
    ///   - body: Asks it.
    package func search<Answer: Sendable>(
        _ push: PushRecord,
        sampling decidedMax: Int? = nil,
        _ body: @escaping @Sendable (borrowing Engine, borrowing MatchSearch) -> Answer
    ) async throws -> Answer {
        let promise = self.loop.makePromise(of: Answer.self)
        self.loop.execute { self.beginSearch(push, decidedMax, promise, body) }
        return try await promise.futureResult.get()
    }

    func beginSearch<Answer: Sendable>(
        _ push: PushRecord,
        _ decidedMax: Int?,
        _ promise: EventLoopPromise<Answer>,
        _ body: @escaping @Sendable (borrowing Engine, borrowing MatchSearch) -> Answer
    ) {
        let held = HeldSearch()
        self.state.value.searches.append {
            guard !self.state.value.hasFailed else {
                promise.fail(OwnerError.stopped(partition: self.partition))
                return true
            }
            let answer = held.goOn(push, decidedMax, self.state.value.engine, body)
            if let answer { promise.succeed(answer) }
            return answer != nil
        }
        if self.state.value.machine.isReplaying || self.state.value.hasFailed {
            self.endSearches()
        } else if !self.state.value.isTurnPlanned {
            self.takeTurn()
        }
    }

    /// Goes on with the first search.
    ///
    /// - Returns: Whether there is more to do of it, and nothing may be applied.
    func isSearching() -> Bool {
        // Amid a change of settings none can be begun.
        guard let search = self.state.value.searches.first, self.state.value.engine.isAskable else { return false }
        guard search() else { return true }
        self.state.value.searches.removeFirst()
        return false
    }

    /// Does all searches to their ends: they fail once the partition has stopped.
    func endSearches() {
        let searches = self.state.value.searches
        self.state.value.searches = []
        for search in searches { while !search() {} }
    }

    /// A search that only the loop touches; nil until it is begun.
    private final class HeldSearch {
        private var search: MatchSearch?

        /// Does a slice of it; returns the answer once it is over.
        func goOn<Answer>(
            _ push: PushRecord,
            _ decidedMax: Int?,
            _ engine: borrowing Engine,
            _ body: (borrowing Engine, borrowing MatchSearch) -> Answer
        ) -> Answer? {
            var search: MatchSearch
            if let begun = self.search.take() {
                search = begun
            } else {
                search = MatchSearch(push, sampling: decidedMax, in: engine)
            }
            var units = PartitionOwner.unitsPerTurn
            if search.advance(in: engine, &units) { return body(engine, search) }
            self.search = consume search
            return nil
        }
    }
}
