package import WidgetModel

/// Copies submissions to all partitions into each, in their order, as a value.
///
/// A copy is stored only behind the copy before it, so that however many copiers there are, each partition has each submission exactly
/// once. If a partition has no copy any more, the next one is stored only behind the end that its stream had before that was found out: see
/// ``MessageWriter``. A partition takes exactly the next copy. If it is ahead, its known progress is old.
package struct FanCopier: Sendable {
    /// How far a partition is.
    package struct Progress: Hashable, Sendable {
        /// The sequence of the newest original that it has.
        package var fan: UInt64
        /// The condition for the next copy to be stored.
        package var expected: Expectation

        package init(fan: UInt64, expected: Expectation) {
            self.fan = fan
            self.expected = expected
        }

        /// - Parameters:
        ///   - end: The end of the partition's stream, before the others were asked for.
        ///   - newest: The newest copy in it, and its original; nil if there is none.
        ///   - trimmed: The newest original of which a copy was trimmed, asked for behind that; 0 for none.
        package init(end: UInt64, newest: (sequence: UInt64, fan: UInt64)?, trimmed: UInt64) {
            self.fan = newest?.fan ?? trimmed
            self.expected = newest.map { .lastOfSubject($0.sequence) } ?? .lastOfStream(end)
        }
    }

    /// The next step.
    package enum Step: Sendable {
        /// Find out how far a partition is: ``found(_:of:)``.
        case findProgress(PartitionID)
        /// Follow the originals from one on: ``followed()``.
        case follow(from: UInt64)
        /// Wait for the next original: ``received(_:at:)``, ``nothingCame(last:)`` or ``startOver()``.
        case read
        /// Append a copy to a partition: ``copied(_:to:)``.
        case copy(FanMessage, fan: UInt64, to: PartitionID, Expectation)
        /// Wait a little, then ask for the next step.
        case pause
    }

    /// By partition; nil where it is to be found out.
    private var progress: [Progress?]
    private var isFollowing = false
    private var mustPause = false
    /// The original that comes next.
    private var next: UInt64 = 1
    /// The original that is copied.
    private var message: FanMessage?

    package init(partitions: Int) { self.progress = Array(repeating: nil, count: partitions) }

    /// The next step. Precondition: the result of the one before was told.
    package mutating func step() -> Step {
        if self.mustPause {
            self.mustPause = false
            return .pause
        }
        if let missing = self.progress.firstIndex(where: { $0 == nil }) {
            return .findProgress(PartitionID(UInt16(missing)))
        }
        let all = self.progress.compactMap(\.self)
        guard self.isFollowing else {
            self.next = (all.map(\.fan).min() ?? 0) + 1
            return .follow(from: self.next)
        }
        guard let message = self.message else { return .read }
        if let index = all.firstIndex(where: { $0.fan < self.next }) {
            guard all[index].fan + 1 == self.next else {
                self.failed()
                return self.step()
            }
            return .copy(message, fan: self.next, to: PartitionID(UInt16(index)), all[index].expected)
        }
        self.message = nil
        self.next += 1
        return .read
    }

    package mutating func found(_ progress: Progress, of partition: PartitionID) {
        self.progress[Int(partition.rawValue)] = progress
    }

    package mutating func followed() { self.isFollowing = true }

    /// An original came. One that all have is left out.
    package mutating func received(_ message: FanMessage, at sequence: UInt64) {
        guard sequence >= self.next else { return }
        // A message that is gone was removed only when all partitions had it.
        (self.message, self.next) = (message, sequence)
    }

    /// No original came for a while.
    ///
    /// - Parameter last: The newest that the stream has.
    package mutating func nothingCame(last: UInt64) {
        // The consumer is gone, or slow.
        if last >= self.next { self.startOver() }
    }

    /// Takes the outcome of a copy.
    package mutating func copied(_ outcome: PublishOutcome, to partition: PartitionID) {
        let index = Int(partition.rawValue)
        guard case .stored(let sequence) = outcome else {
            // The submission is accepted, and must get there in any case.
            self.progress[index] = nil
            if case .otherEnd = outcome { return }
            self.mustPause = true
            return
        }
        self.progress[index] = Progress(fan: self.next, expected: .lastOfSubject(sequence))
    }

    /// The brokers could not be asked.
    package mutating func failed() {
        self.startOver()
        self.mustPause = true
    }

    /// Forgets how far all are.
    package mutating func startOver() {
        self.progress = Array(repeating: nil, count: self.progress.count)
        self.isFollowing = false
        self.message = nil
    }
}
