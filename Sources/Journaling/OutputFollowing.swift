package import WidgetModel

/// The news for a reader of outputs.
package enum OutputNews: Sendable {
    /// The next output is at this position, or behind it: the log has none before it any more, or it is where reading begins.
    case begins(at: OutputPosition)
    case output(OutputEntry)
    /// None has come for a while.
    case quiet
}

/// A log whose outputs are read as they come: where several nodes write them, each reads those of the others.
package protocol OutputFollowing: Sendable {
    /// Reads a partition's outputs in order for as long as it is open, and asks brokers again that do not answer.
    ///
    /// - Parameters:
    ///   - partition: The outputs' partition.
    ///   - position: The first one wanted; nil for some of the newest ones, and those behind them.
    ///   - take: Told the outputs, one after the other, on a thread that may wait for it. Returns whether to read on.
    func followOutputs(
        _ partition: PartitionID,
        from position: OutputPosition?,
        _ take: @escaping @Sendable (OutputNews) -> Bool
    )
}
