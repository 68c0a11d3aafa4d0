package import WidgetModel

/// How much a journal takes at once. Every journal has the same limits by default.
package struct JournalLimits: Hashable, Sendable {
    /// How many bytes of different submissions are packed into one entry. Default 65,536. More makes fewer, larger
    /// entries; a single submission that is larger gets an entry of its own.
    package var entryBytesMax: Int
    /// The most bytes of one submission for one partition. Default 1,048,576.
    package var batchBytesMax: Int
    /// The most bytes of submissions that may wait for their commit. Default 8,388,608. Beyond it submissions are
    /// refused with `.unavailable`.
    package var appendBytesInFlightMax: Int
    /// The most bytes of effects in one output. Default 268,435,456. As many may wait for their commit; a single
    /// output is always let in, so that a busy log cannot lock its owners out.
    package var outputBytesMax: Int
    /// The bytes of effects in one commit. Default 262,144. Owners cut what is larger into chunks, and outputs that would
    /// make a commit larger wait for the next one: no record waits for more than this beside its own kind. A single
    /// output is always let in.
    package var outputBytesPerCommit: Int

    package init(
        entryBytesMax: Int = 65_536,
        batchBytesMax: Int = 1_048_576,
        appendBytesInFlightMax: Int = 8_388_608,
        outputBytesMax: Int = 268_435_456,
        outputBytesPerCommit: Int = 262_144
    ) {
        precondition(entryBytesMax > 0 && batchBytesMax > 0 && appendBytesInFlightMax > 0)
        precondition(outputBytesMax > 0 && outputBytesPerCommit > 0)
        self.entryBytesMax = entryBytesMax
        self.batchBytesMax = batchBytesMax
        self.appendBytesInFlightMax = appendBytesInFlightMax
        self.outputBytesMax = outputBytesMax
        self.outputBytesPerCommit = outputBytesPerCommit
    }

    /// Why a submission cannot be appended to a log of that many partitions, or nil if it can.
    ///
    /// - Parameters:
    ///   - submission: What is to be appended.
    ///   - partitions: How many partitions the log has.
    ///   - waiting: The bytes of the submissions that wait for their commit already.
    package func refusal(of submission: Submission, partitions: Int, waiting: Int) -> JournalError? {
        if submission.batches.isEmpty {
            return JournalError(.invalid, "append of a submission that names no partition")
        }
        var previous: PartitionID?
        for batch in submission.batches {
            if Int(batch.partition.rawValue) >= partitions {
                return JournalError(.invalid, "append to partition \(batch.partition) of a log with \(partitions)")
            }
            if let previous, previous >= batch.partition {
                return JournalError(.invalid, "append names partition \(batch.partition) after partition \(previous)")
            }
            previous = batch.partition
            if batch.records.count == 0 {
                return JournalError(.invalid, "append of no records to partition \(batch.partition)")
            }
            if batch.records.bytes.count > self.batchBytesMax {
                let size = batch.records.bytes.count
                return JournalError(
                    .invalid,
                    "append of \(size) bytes to partition \(batch.partition), the limit is \(self.batchBytesMax)"
                )
            }
        }
        if waiting + submission.byteCount > self.appendBytesInFlightMax {
            return JournalError(
                .unavailable,
                "append of \(submission.byteCount) bytes while \(waiting) of at most "
                    + "\(self.appendBytesInFlightMax) bytes wait for their commit"
            )
        }
        return nil
    }

    /// Why an output cannot be committed, or nil if it can.
    ///
    /// - Parameters:
    ///   - output: What is to be committed.
    ///   - partition: To which partition's output log.
    ///   - partitions: How many partitions the log has.
    ///   - waiting: The bytes of the outputs that wait for their commit already.
    package func refusal(
        of output: OutputRecord,
        to partition: PartitionID,
        partitions: Int,
        waiting: Int
    ) -> JournalError? {
        let size = output.effects.count
        if Int(partition.rawValue) >= partitions {
            return JournalError(.invalid, "output for partition \(partition) of a log with \(partitions)")
        }
        if size > self.outputBytesMax {
            return JournalError(
                .invalid,
                "output of \(size) bytes for partition \(partition), the limit is \(self.outputBytesMax)"
            )
        }
        if waiting > 0, waiting + size > self.outputBytesMax {
            return JournalError(
                .unavailable,
                "output of \(size) bytes for partition \(partition) while \(waiting) of at most "
                    + "\(self.outputBytesMax) bytes wait for their commit"
            )
        }
        return nil
    }
}
