package import WidgetModel

/// Copies submissions to all partitions into each, in their order, as a value.
///
/// A copy is stored only behind the copy before it, so that however many copiers there are, each partition has each submission exactly
/// once. If a partition has no copy any more, the next one is stored only behind the end that its stream had before that was found out: see
/// ``MessageWriter``. A partition takes exactly the next copy. If it is ahead, its known progress is old.
///
/// A partition that cannot take its copy, because its stream is full or has no leader, is left behind, and the others go on. After
/// ``retryAfter`` it is tried again, with the original that it lacks.
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
        /// Find out how far a partition is: ``found(_:of:)`` or ``missed(_:at:)``.
        case findProgress(PartitionID)
        /// Follow the originals from one on: ``followed()``.
        case follow(from: UInt64)
        /// Wait for the next original: ``received(_:at:)``, ``nothingCame(last:)`` or ``startOver()``.
        case read
        /// Append a copy to a partition: ``copied(_:to:at:)``.
        case copy(FanMessage, fan: UInt64, to: PartitionID, Expectation)
        /// Wait a little, then ask for the next step.
        case pause
    }

    /// How long a partition that took no copy is left behind.
    package static let retryAfter = Interval.seconds(1)

    /// The known progress of a partition.
    private enum Place: Sendable {
        case unknown
        case known(Progress)
        case leftBehind
    }

    /// By partition.
    private var places: [Place]
    /// When those that are left behind are tried again; nil if there are none.
    private var retryAt: Instant?
    private var isFollowing = false
    private var mustPause = false
    /// The original that comes next.
    private var next: UInt64 = 1
    /// The original that is copied.
    private var message: FanMessage?

    /// Whether a partition is to be tried again, also if no original comes.
    package var hasLeftBehind: Bool { self.retryAt != nil }

    package init(partitions: Int) { self.places = Array(repeating: .unknown, count: partitions) }

    /// The next step. Precondition: the result of the one before was told.
    package mutating func step(at now: Instant) -> Step {
        if let retryAt = self.retryAt, now >= retryAt { self.retryLeftBehind() }
        if self.mustPause {
            self.mustPause = false
            return .pause
        }
        var known: [(partition: PartitionID, progress: Progress)] = []
        for (index, place) in self.places.enumerated() {
            switch place {
            case .unknown: return .findProgress(PartitionID(UInt16(index)))
            case .known(let progress): known.append((PartitionID(UInt16(index)), progress))
            case .leftBehind: continue
            }
        }
        guard let least = known.map(\.progress.fan).min() else { return .pause }
        guard self.isFollowing else {
            self.next = least + 1
            return .follow(from: self.next)
        }
        guard let message = self.message else { return .read }
        if let (partition, progress) = known.first(where: { $0.progress.fan < self.next }) {
            guard progress.fan + 1 == self.next else {
                self.failed()
                return self.step(at: now)
            }
            return .copy(message, fan: self.next, to: partition, progress.expected)
        }
        self.message = nil
        self.next += 1
        return .read
    }

    package mutating func found(_ progress: Progress, of partition: PartitionID) {
        self.places[Int(partition.rawValue)] = .known(progress)
    }

    /// A partition could not be asked, or took no copy: the others go on, from where they are.
    package mutating func missed(_ partition: PartitionID, at now: Instant) {
        self.places[Int(partition.rawValue)] = .leftBehind
        self.retryAt = self.retryAt ?? now + Self.retryAfter
        self.stopFollowing()
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
    package mutating func copied(_ outcome: PublishOutcome, to partition: PartitionID, at now: Instant) {
        let index = Int(partition.rawValue)
        switch outcome {
        case .stored(let sequence):
            self.places[index] = .known(Progress(fan: self.next, expected: .lastOfSubject(sequence)))
        case .otherEnd: self.places[index] = .unknown
        // The submission is accepted, and must get there in any case.
        case .refused, .notTaken, .unknown: self.missed(partition, at: now)
        }
    }

    /// The brokers could not be asked.
    package mutating func failed() {
        self.startOver()
        self.mustPause = true
    }

    /// Forgets how far all are.
    package mutating func startOver() {
        self.places = Array(repeating: .unknown, count: self.places.count)
        self.retryAt = nil
        self.stopFollowing()
    }

    private mutating func retryLeftBehind() {
        for (index, place) in self.places.enumerated() {
            if case .leftBehind = place { self.places[index] = .unknown }
        }
        self.retryAt = nil
        self.stopFollowing()
    }

    /// Begins again with the original that the last one lacks.
    private mutating func stopFollowing() { (self.isFollowing, self.message) = (false, nil) }
}
