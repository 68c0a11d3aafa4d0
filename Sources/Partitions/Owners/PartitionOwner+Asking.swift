package import Engine
package import NIOCore
import Ownership
import WidgetModel

extension PartitionOwner {
    /// The answer to a record that was just appended.
    ///
    /// Call it from the journal's receipt callback, before that returns: the entry is announced after it.
    ///
    /// - Parameters:
    ///   - place: Where the record is.
    ///   - promise: Succeeded once the record is applied; failed if the partition stops.
    package func expectAnswer(
        at place: RecordPlace,
        _ promise: EventLoopPromise<RecordAnswer.Result>
    ) {
        self.loop.execute { self.expect(place, promise) }
    }

    private func expect(_ place: RecordPlace, _ promise: EventLoopPromise<RecordAnswer.Result>) {
        if self.isAway || self.state.value.hasFailed {
            promise.fail(self.absence)
        } else if let other = self.state.value.expected[place] {
            other.futureResult.cascade(to: promise)
        } else {
            self.state.value.expected[place] = promise
        }
    }

    /// The answers to records that are in the log, whichever node appended them; nil for one that is not known any more. Waits until they
    /// are applied, and no longer than `time`.
    func answers(at places: [RecordPlace], within time: Interval) async throws -> [RecordAnswer.Result?] {
        let futures = places.map { place in
            self.loop.flatSubmit { () -> EventLoopFuture<RecordAnswer.Result?> in
                guard !self.isAway else { return self.loop.makeFailedFuture(self.absence) }
                if let known = self.state.value.recentAnswers[place] { return self.loop.makeSucceededFuture(known) }
                guard self.state.value.machine.applied < place.position else {
                    return self.loop.makeSucceededFuture(nil)
                }
                let answer = self.loop.makePromise(of: RecordAnswer.Result.self)
                let inTime = self.loop.makePromise(of: RecordAnswer.Result?.self)
                let end = self.loop.scheduleTask(in: .milliseconds(time.milliseconds)) { inTime.fail(self.absence) }
                self.expect(place, answer)
                answer.futureResult.map { $0 }.cascade(to: inTime)
                return inTime.futureResult.always { _ in end.cancel() }
            }
        }
        var answers: [RecordAnswer.Result?] = []
        for future in futures { answers.append(try await future.get()) }
        return answers
    }

    /// Asks the engine something.
    package func ask<Question: EngineQuestion>(_ question: Question) async throws -> Question.Answer {
        let promise = self.loop.makePromise(of: Question.Answer.self)
        self.loop.execute { self.answer(question, promise) }
        return try await promise.futureResult.get()
    }

    private func answer<Question: EngineQuestion>(_ question: Question, _ promise: EventLoopPromise<Question.Answer>) {
        guard !self.isAway else { return promise.fail(self.absence) }
        if let answer = self.state.value.machine.answer(question) { return promise.succeed(answer) }
        guard !self.state.value.hasFailed else {
            return promise.fail(self.absence)
        }
        self.state.value.questions.append { self.answer(question, promise) }
    }

    /// Answers the questions that waited until no entry is applied in part; once the partition has stopped, the answer
    /// says so.
    func answerWaitingQuestions() {
        let questions = self.state.value.questions
        self.state.value.questions = []
        for question in questions { question() }
    }

    /// An output that goes as far as the owner is now, or a later one: written without effects if there is none yet, so
    /// that a snapshot can be compared with the owner's state.
    func checkpoint() async throws -> OwnerCheckpoint {
        let promise = self.loop.makePromise(of: OwnerCheckpoint.self)
        self.loop.execute {
            guard !self.isAway, !self.state.value.hasFailed, self.state.value.machine.applied > .start else {
                return promise.fail(self.absence)
            }
            self.state.value.checkpoints.append(promise)
            self.drive { machine in machine.askForCheckpoint() }
        }
        return try await promise.futureResult.get()
    }

    /// How far the owner is.
    ///
    /// - Throws: ``OwnerError/away(partition:owner:)`` where the partition is another node's.
    package func progress() async throws -> OwnerProgress {
        try await self.loop.submit {
            if self.isAway { throw self.absence }
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
    /// Finds the widgets that a push would match, a slice a turn of the loop, and then answers.
    ///
    /// The log is not applied meanwhile, since the index must not change, but between two searches some of it is.
    package func ask(_ question: MatchQuestion) async throws -> DryRunView {
        let promise = self.loop.makePromise(of: DryRunView.self)
        self.loop.execute { self.beginSearch(question, promise) }
        return try await promise.futureResult.get()
    }

    func beginSearch(_ question: MatchQuestion, _ promise: EventLoopPromise<DryRunView>) {
        guard !self.isAway else { return promise.fail(self.absence) }
        self.state.value.searches.append(HeldSearch(question, promise))
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
        guard let answer = search.goOn(self.state.value.engine) else { return true }
        self.state.value.searches.removeFirst()
        search.promise.succeed(answer)
        return false
    }

    /// Does all searches to their ends: they fail once the partition has stopped.
    func endSearches() {
        let searches = self.state.value.searches
        self.state.value.searches = []
        for search in searches {
            var answer: DryRunView?
            while answer == nil, !self.state.value.hasFailed { answer = search.goOn(self.state.value.engine) }
            if let answer {
                search.promise.succeed(answer)
            } else {
                search.promise.fail(self.absence)
            }
        }
    }

    /// A search that only the loop touches.
    final class HeldSearch {
        private let question: MatchQuestion
        fileprivate let promise: EventLoopPromise<DryRunView>
        /// Nil until it is begun.
        private var search: MatchSearch?

        fileprivate init(_ question: MatchQuestion, _ promise: EventLoopPromise<DryRunView>) {
            (self.question, self.promise) = (question, promise)
        }

        /// Does a slice of it; returns the answer once it is over.
        fileprivate func goOn(_ engine: borrowing Engine) -> DryRunView? {
            var search: MatchSearch
            if let begun = self.search.take() {
                search = begun
            } else {
                search = self.question.begin(in: engine)
            }
            var units = PartitionOwner.unitsPerTurn
            guard search.advance(in: engine, &units) else {
                self.search = consume search
                return nil
            }
            return self.question.answer(from: engine, search)
        }
    }
}
