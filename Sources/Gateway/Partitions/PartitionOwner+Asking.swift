package import Engine
package import NIOCore
package import WidgetModel

/// What a question to an engine reads.
package enum QuestionSubject: Sendable {
    /// A host and what it shows.
    case host(HostKey)
    /// What became of pushes, as counts; whom a push matches; which hosts and instances are registered; totals, settings and
    /// time.
    case totals
    case everything
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
                promise.fail(OwnerFault.stopped(partition: self.partition))
            } else {
                self.state.value.expected[AnswerKey(position: position, index: index)] = promise
            }
        }
    }

    /// Asks the engine something, between two entries.
    ///
    /// - Parameters:
    ///   - subject: What the question reads, which is settled before.
    ///   - body: Asks it.
    package func query<Answer: Sendable>(
        about subject: QuestionSubject = .everything,
        _ body: @escaping @Sendable (borrowing Engine) throws -> Answer
    ) async throws -> Answer {
        while true {
            if let answer = try await self.loop.submit({ try self.answer(subject, body) }).get() { return answer }
        }
    }

    /// - Returns: Nil if there was more to settle than a turn of the loop should take.
    private func answer<Answer>(_ subject: QuestionSubject, _ body: (borrowing Engine) throws -> Answer) throws
        -> Answer?
    {
        switch subject {
        case .host(let host): self.state.value.engine.settle(host)
        case .totals: break
        case .everything:
            self.state.value.engine.settle(atMost: Self.settledPerTurn)
            guard self.state.value.engine.postponedMatches == 0 else { return nil }
        }
        return try body(self.state.value.engine)
    }

    /// An output that goes as far as the owner is now, or a later one: written without effects if there is none yet, so
    /// that a snapshot can be compared with what the owner came to.
    func checkpoint() async throws -> OwnerCheckpoint {
        let promise = self.loop.makePromise(of: OwnerCheckpoint.self)
        self.loop.execute {
            guard !self.state.value.hasFailed, self.state.value.applied > .start else {
                return promise.fail(OwnerFault.stopped(partition: self.partition))
            }
            self.state.value.checkpoints.append(promise)
            self.commit()
        }
        return try await promise.futureResult.get()
    }

    /// How far the owner is.
    package func progress() async throws -> OwnerProgress {
        try await self.loop.submit {
            let lag = self.work.lag(at: .now())
            return OwnerProgress(
                partition: self.partition,
                applied: self.state.value.applied,
                announced: max(lag.announced, self.state.value.applied),
                uncommittedEffects: self.state.value.uncommitted.count
                    + (self.state.value.committing?.remaining ?? 0),
                outputPieces: self.state.value.outputPieces,
                appliedBytes: self.state.value.appliedBytes,
                hasFailed: self.state.value.hasFailed,
                lagTime: lag.time,
                unitsDone: self.state.value.unitsDone
            )
        }.get()
    }
}
