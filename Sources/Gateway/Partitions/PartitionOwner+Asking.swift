package import Engine
package import NIOCore
package import WidgetModel

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
    package func query<Answer: Sendable>(_ body: @escaping @Sendable (borrowing Engine) throws -> Answer) async throws
        -> Answer
    {
        try await self.loop.submit { try body(self.state.value.engine) }.get()
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
            OwnerProgress(
                partition: self.partition,
                applied: self.state.value.applied,
                announced: max(self.state.value.announced, self.state.value.applied),
                uncommittedEffects: self.state.value.uncommitted.count
                    + (self.state.value.committing?.remaining ?? 0),
                outputPieces: self.state.value.outputPieces,
                appliedBytes: self.state.value.appliedBytes,
                hasFailed: self.state.value.hasFailed
            )
        }.get()
    }
}
