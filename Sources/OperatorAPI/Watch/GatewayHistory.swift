package import Engine
package import Journaling
package import Logging
import Partitions
import Settings
import Synchronization
package import WidgetModel

/// The last minutes by the second, the last day by the minute and the last month by the hour: the numbers of the
/// charts, their marks, and the costs of senders.
///
/// All but seconds are archived, so that they outlive the process.
package final class GatewayHistory: Sendable {
    /// How fine samples are.
    package enum Step: String, Hashable, Sendable, CaseIterable {
        case second, minute, hour

        /// How many samples are kept: ten minutes of seconds, a day of minutes, thirty days of hours.
        package var capacity: Int {
            switch self {
            case .second: 600
            case .minute: 1440
            case .hour: 720
            }
        }

        package var seconds: Int {
            switch self {
            case .second: 1
            case .minute: 60
            case .hour: 3600
            }
        }
    }

    /// Over how long ``recentFreshness()`` looks.
    package static let recent = Interval.minutes(5)
    /// Pushes that are answered 503 again after less than this are of one outage.
    private static let outageGap = Interval.minutes(1)

    /// Changes of the archive, of each number only the newest: however long a disk refuses, they are no more than there are numbers.
    private struct Changes: Sendable {
        private(set) var written: [UInt64: [UInt8]] = [:]
        private(set) var removed: Set<UInt64> = []

        var isEmpty: Bool { self.written.isEmpty && self.removed.isEmpty }

        mutating func write(_ number: UInt64, _ bytes: [UInt8]) {
            self.written[number] = bytes
            self.removed.remove(number)
        }

        mutating func remove(_ number: UInt64) {
            self.written[number] = nil
            self.removed.insert(number)
        }

        mutating func add(_ later: Changes) {
            for (number, bytes) in later.written { self.write(number, bytes) }
            for number in later.removed { self.remove(number) }
        }
    }

    private struct State {
        var seconds: [GatewaySample] = []
        var minutes: [GatewaySample] = []
        var hours: [GatewaySample] = []
        /// The sum so far of the newest minute's hour.
        var hour: GatewaySample?
        var last: GatewayTotals?
        var minuteStart: GatewayTotals?
        /// Freshness at the starts of the last minutes.
        var marks: [(at: Instant, freshness: Freshness)] = []
        var happened = GatewayMarks()
        var senders = SenderHours()
        /// When a push was answered 503 last.
        var unavailableAt: Instant?
        var unwritten = Changes()
        /// Those that could not be written, to be written with the next.
        var delayed = Changes()
    }

    private let state: Mutex<State>
    /// One thread writes at a time.
    private let archive: Mutex<any RecordArchive>
    private let logger: Logger

    /// - Parameters:
    ///   - archive: Where minutes, hours, marks and the costs of senders are kept; it is read now. Blocks.
    ///   - now: The present, which is marked as the start. Samples that are newer, or older than the longest kept time of their
    ///     step, stay unread.
    package init(
        archive: any RecordArchive = MemoryArchive(),
        now: Instant = .epoch,
        logger: Logger = GatewayLogs.none.logger(.gateway)
    ) {
        var state = Self.restored(archive, now, logger)
        let last = [state.minutes.last, state.hours.last].compactMap { $0?.at }.max()
        Self.mark(GatewayMark(at: now, kind: .start, text: "The gateway was started", awaySince: last), in: &state)
        self.state = Mutex(state)
        self.archive = Mutex(archive)
        self.logger = logger
    }

    /// Takes totals in.
    ///
    /// - Returns: The sample since the totals before; nil for the first.
    @discardableResult
    package func add(_ totals: GatewayTotals) -> GatewaySample? {
        self.state.withLock { state in
            defer { state.last = totals }
            guard let last = state.last, let start = state.minuteStart else {
                state.minuteStart = totals
                state.marks = [(totals.at, totals.freshness)]
                return nil
            }
            let sample = GatewaySample(from: last, to: totals)
            Self.keep(sample, in: &state.seconds, .second)
            if sample.unavailable > 0 {
                if state.unavailableAt.map({ sample.at - $0 > Self.outageGap }) ?? true {
                    let mark = GatewayMark(at: sample.at, kind: .outage, text: "Pushes were answered 503")
                    Self.mark(mark, in: &state)
                }
                state.unavailableAt = sample.at
            }
            if totals.at - start.at >= .minutes(1) {
                Self.keepMinute(GatewaySample(from: start, to: totals), in: &state)
                state.minuteStart = totals
                state.marks.append((totals.at, totals.freshness))
                if state.marks.count > 1, totals.at - state.marks[1].at >= Self.recent { state.marks.removeFirst() }
            }
            return sample
        }
    }

    private static func keepMinute(_ minute: GatewaySample, in state: inout State) {
        self.keep(minute, in: &state.minutes, .minute)
        state.unwritten.write(self.number(minute, .minute), minute.bytes)
        if let hour = state.hour, self.slot(hour, .hour) != self.slot(minute, .hour) {
            self.keep(hour, in: &state.hours, .hour)
            state.unwritten.write(self.number(hour, .hour), hour.bytes)
            state.hour = nil
        }
        state.hour = state.hour.map { $0.merged(with: minute) } ?? minute
    }

    private static func keep(_ sample: GatewaySample, in samples: inout [GatewaySample], _ step: Step) {
        // In slices, so that not every sample moves all others.
        if samples.count >= step.capacity + step.capacity / 4 { samples.removeFirst(samples.count - step.capacity) }
        samples.append(sample)
    }

    /// Marks an event.
    package func mark(_ mark: GatewayMark) { self.state.withLock { Self.mark(mark, in: &$0) } }

    private static func mark(_ mark: GatewayMark, in state: inout State) {
        let record = state.happened.add(mark)
        state.unwritten.write(Self.marksBase + record.number, record.bytes)
    }

    /// The marks after an instant, the oldest first.
    package func marks(after instant: Instant? = nil, now: Instant) -> [GatewayMark] {
        self.state.withLock { $0.happened }.all(after: instant, now: now)
    }

    /// Takes in the costs of senders since the log began, by partition.
    package func add(_ costs: [PartitionID: [TeamID: SenderCounts]], at now: Instant) {
        self.state.withLock { state in
            guard let change = state.senders.add(costs, at: now) else { return }
            for number in change.dropped { state.unwritten.remove(Self.sendersBase + number) }
            state.unwritten.write(Self.sendersBase + change.record.number, change.record.bytes)
        }
    }

    /// The hours of senders' costs that end after an instant, the oldest first.
    package func senderHours(after instant: Instant? = nil, now: Instant) -> [SenderHours.Hour] {
        self.state.withLock { $0.senders }.all(after: instant, now: now)
    }

    /// The newest samples after an instant, oldest first. The last one by the hour is of the hour that is not over.
    package func samples(_ step: Step, after instant: Instant? = nil, limit: Int) -> [GatewaySample] {
        let kept = self.state.withLock { state in
            switch step {
            case .second: state.seconds
            case .minute: state.minutes
            case .hour: state.hours + (state.hour.map { [$0] } ?? [])
            }
        }.suffix(step.capacity)
        guard let instant else { return kept.suffix(limit) }
        return kept.filter { $0.at > instant }.suffix(limit)
    }

    /// How old news was when users saw it in the last minutes, and over how long that is.
    package func recentFreshness() -> (length: Interval, freshness: Freshness)? {
        self.state.withLock { state in
            guard let last = state.last, let mark = state.marks.first else { return nil }
            return (last.at - mark.at, last.freshness.since(mark.freshness))
        }
    }
}

// MARK: - The archive

extension GatewayHistory {
    /// The number behind which marks have theirs: minutes and hours come before.
    private static let marksBase = UInt64(Step.minute.capacity + Step.hour.capacity)
    /// The number behind which the costs of senders have theirs, far behind any mark.
    private static let sendersBase: UInt64 = 1 << 16

    /// Which of all minutes or hours a sample is: it ends in the one after, if not late.
    private static func slot(_ sample: GatewaySample, _ step: Step) -> Int64 {
        max(0, (sample.at - .seconds(30)).milliseconds) / Int64(step.seconds * 1000)
    }

    /// Slots go round: a sample takes the record of the one that is out of reach, minutes before hours.
    private static func number(_ sample: GatewaySample, _ step: Step) -> UInt64 {
        let place = UInt64(Self.slot(sample, step) % Int64(step.capacity)) + 1
        let base = step == .hour ? UInt64(Step.minute.capacity) : 0
        return base + place
    }

    private static func restored(_ archive: any RecordArchive, _ now: Instant, _ logger: Logger) -> State {
        var state = State()
        do throws(JournalError) {
            try archive.readAll { record in
                // A record that cannot be read is of another version, and will be written over.
                guard record.number <= Self.sendersBase else {
                    let own = ArchivedRecord(number: record.number - Self.sendersBase, bytes: record.bytes)
                    try? state.senders.restore(own, now: now)
                    return
                }
                guard record.number <= Self.marksBase else {
                    try? state.happened.restore(record.bytes, now: now)
                    return
                }
                guard let sample = try? GatewaySample(bytes: record.bytes) else { return }
                let step: Step = record.number > UInt64(Step.minute.capacity) ? .hour : .minute
                let reach = Interval.seconds(Int64(step.capacity * step.seconds))
                guard sample.at <= now, now - sample.at <= reach else { return }
                if step == .hour { state.hours.append(sample) } else { state.minutes.append(sample) }
            }
        } catch {
            logger.error("the charts' data from before the start cannot be read", metadata: ["error": "\(error)"])
        }
        for number in state.senders.bound() { state.unwritten.remove(Self.sendersBase + number) }
        state.minutes.sort { $0.at < $1.at }
        state.hours.sort { $0.at < $1.at }
        let last = state.hours.last.map { Self.slot($0, .hour) } ?? -1
        let rest = state.minutes.filter { Self.slot($0, .hour) > last }
        // Of the newest hour, which is not over or was not when the process ended.
        let newest = rest.last.map { Self.slot($0, .hour) }
        state.hour = rest.filter { Self.slot($0, .hour) == newest }.reduce(nil) { $0?.merged(with: $1) ?? $1 }
        return state
    }

    /// Writes the samples, marks and senders' costs since the last time. Blocks.
    package func write() {
        self.archive.withLock { archive in
            let changes = self.state.withLock { state -> Changes in
                // What could not be written waits for something new: a disk that refuses is not asked every second.
                guard !state.unwritten.isEmpty else { return Changes() }
                var changes = state.delayed
                changes.add(state.unwritten)
                (state.unwritten, state.delayed) = (Changes(), Changes())
                return changes
            }
            guard !changes.isEmpty else { return }
            let records = changes.written.map { ArchivedRecord(number: $0.key, bytes: $0.value) }
            do throws(JournalError) {
                try archive.write(records.sorted { $0.number < $1.number }, removing: changes.removed.sorted())
            } catch {
                self.state.withLock { $0.delayed = changes }
                self.logger.error(
                    "the charts' data cannot be stored yet",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }
}
