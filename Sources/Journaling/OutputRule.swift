package import WidgetModel

/// The rule of compare-and-append, the same in every journal.
package enum OutputRule {
    /// Why an output cannot be the next one; nil if it can.
    ///
    /// - Parameters:
    ///   - output: The output.
    ///   - partition: The partition of the output log.
    ///   - expected: The newest output that its owner knows.
    ///   - newest: The newest output.
    ///   - tail: The newest durable entry.
    package static func refusal(
        of output: OutputRecord,
        to partition: PartitionID,
        expected: OutputPosition?,
        newest: OutputPosition?,
        tail: LogPosition
    ) -> JournalError? {
        if expected != newest {
            let known = expected.map(\.description) ?? "none"
            let found = newest.map(\.description) ?? "none"
            return JournalError(
                .fenced,
                "output for partition \(partition) expected \(known) as the newest one, but it is \(found)"
            )
        }
        if output.through > tail {
            return JournalError(
                .invalid,
                "output for partition \(partition) goes through entry \(output.through), the newest is \(tail)"
            )
        }
        return nil
    }
}
