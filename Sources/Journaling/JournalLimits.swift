package import WidgetModel

/// How much a journal takes at once. Every journal has the same limits by default.
package struct JournalLimits: Hashable, Sendable {
    /// How many bytes of different submissions are packed into one entry. Default 65,536. More makes fewer, larger
    /// entries; a single submission that is larger gets an entry of its own.
    package var entryBytesMax: Int
    /// The most bytes of one submission; records for all partitions count once. Default 900,000: a log of several
    /// machines stores it in one message of at most 1 MB.
    package var batchBytesMax: Int
    /// The most bytes of submissions that may wait for their commit. Default 8,388,608. Beyond it submissions are
    /// refused with `.unavailable`.
    package var appendBytesInFlightMax: Int
    /// The most bytes of effects in one output. Default ``effectBytesMax`` and their count.
    package var outputBytesMax: Int
    /// The most bytes of outputs that may wait for their commit. Default 268,435,456. A single output is always let in, so
    /// that a busy log cannot lock its owners out.
    package var outputBytesInFlightMax: Int
    /// The bytes of effects in one commit. Default 262,144. Owners cut larger outputs into chunks, and an output that
    /// would make a commit larger waits for the next one, so no record waits for more than this beside other records. A
    /// single output is always accepted.
    package var outputBytesPerCommit: Int

    /// The most bytes of one effect: no record that could cause a larger one is accepted. An output has at least one
    /// effect.
    package static let effectBytesMax = 900_000
    /// The most bytes that the number of an output's effects takes.
    private static let countBytesMax = 9

    package init(
        entryBytesMax: Int = 65_536,
        batchBytesMax: Int = 900_000,
        appendBytesInFlightMax: Int = 8_388_608,
        outputBytesMax: Int = Self.effectBytesMax + Self.countBytesMax,
        outputBytesInFlightMax: Int = 268_435_456,
        outputBytesPerCommit: Int = 262_144
    ) {
        precondition(entryBytesMax > 0 && batchBytesMax > 0 && appendBytesInFlightMax > 0)
        precondition(outputBytesMax > 0 && outputBytesInFlightMax > 0 && outputBytesPerCommit > 0)
        self.entryBytesMax = entryBytesMax
        self.batchBytesMax = batchBytesMax
        self.appendBytesInFlightMax = appendBytesInFlightMax
        self.outputBytesMax = outputBytesMax
        self.outputBytesInFlightMax = outputBytesInFlightMax
        self.outputBytesPerCommit = outputBytesPerCommit
    }

    /// Why a submission cannot be appended to a log with this number of partitions; nil if it can.
    ///
    /// - Parameters:
    ///   - submission: The submission.
    ///   - partitions: The number of partitions of the log.
    ///   - waiting: The bytes of the submissions that wait for their commit already.
    package func refusal(of submission: Submission, partitions: Int, waiting: Int) -> JournalError? {
        let partition = submission.partition
        if Int(partition.rawValue) >= partitions {
            return JournalError(.invalid, "append to partition \(partition) of a log with \(partitions)")
        }
        if submission.records.count == 0 {
            return JournalError(.invalid, "append of no records to partition \(partition)")
        }
        if submission.byteCount > self.batchBytesMax {
            return JournalError(
                .invalid,
                "append of \(submission.byteCount) bytes to partition \(partition), the limit is \(self.batchBytesMax)"
            )
        }
        return self.refusal(ofBytes: submission.byteCount, waiting: waiting)
    }

    /// Why a submission cannot be appended to all partitions of a log; nil if it can.
    ///
    /// - Parameters:
    ///   - submission: The submission.
    ///   - partitions: The number of partitions of the log.
    ///   - waiting: The bytes of the submissions that wait for their commit already.
    package func refusal(of submission: SubmissionToAll, partitions: Int, waiting: Int) -> JournalError? {
        let parts = submission.distinctRecords
        if !submission.isSame, parts.count != partitions {
            return JournalError(.invalid, "append to all \(partitions) partitions of records for \(parts.count)")
        }
        if parts.contains(where: { $0.count == 0 }) {
            return JournalError(.invalid, "append of no records to a partition among all")
        }
        if submission.byteCount > self.batchBytesMax {
            return JournalError(
                .invalid,
                "append of \(submission.byteCount) bytes to all partitions, the limit is \(self.batchBytesMax)"
            )
        }
        return self.refusal(ofBytes: submission.byteCount, waiting: waiting)
    }

    private func refusal(ofBytes bytes: Int, waiting: Int) -> JournalError? {
        guard waiting + bytes > self.appendBytesInFlightMax else { return nil }
        return JournalError(
            .unavailable,
            "append of \(bytes) bytes while \(waiting) of at most \(self.appendBytesInFlightMax) bytes wait for their "
                + "commit"
        )
    }

    /// Why an output cannot be committed; nil if it can.
    ///
    /// - Parameters:
    ///   - output: The output.
    ///   - partition: The partition of its output log.
    ///   - partitions: The number of partitions of the log.
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
        if waiting > 0, waiting + size > self.outputBytesInFlightMax {
            return JournalError(
                .unavailable,
                "output of \(size) bytes for partition \(partition) while \(waiting) of at most "
                    + "\(self.outputBytesInFlightMax) bytes wait for their commit"
            )
        }
        return nil
    }
}
