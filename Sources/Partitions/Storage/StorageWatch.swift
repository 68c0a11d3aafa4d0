package import Journaling
package import Logging
import NIOPosix
import Synchronization
package import WidgetModel

/// The room in the data directory: measured once a second, counted between two looks, asked for each request.
///
/// ``StorageBudget`` decides; this measures, and says so in the log when something has changed.
package final class StorageWatch: Sendable {
    /// Measures the data directory. Blocks.
    package typealias Measure = @Sendable () throws(JournalError) -> StorageSizes

    /// After how long a refused request may be tried again.
    package static let retryAfterSeconds = 30

    private struct State {
        var settings: StorageBudget.Settings
        var sizes = StorageSizes()
        var isMeasured = false
        /// The level that the log was told of last.
        var toldLevel = StorageBudget.Level.ample
        var isMeasureFailing = false
        /// Whether the log was told that the last backup is old.
        var isBackupOld = false
        var growth = StorageGrowth()
        /// Bytes that were written before the sizes were measured.
        var writtenBefore = 0
    }

    private let state: Mutex<State>
    private let measureSizes: Measure
    private let logger: Logger
    private let now: @Sendable () -> Instant
    /// Bytes on their way to the log.
    private let inFlight = Atomic<Int>(0)
    /// Bytes that the log has taken since the start.
    private let written = Atomic<Int>(0)
    /// At how many written bytes traffic is refused, and reports; none until the first look.
    private let trafficEdge = Atomic<Int>(.max)
    private let reportEdge = Atomic<Int>(.max)
    private let pushes = Atomic<Int>(0)
    private let requests = Atomic<Int>(0)

    /// - Parameters:
    ///   - settings: The operator's settings.
    ///   - logger: Where to write.
    ///   - now: The time, for a day's growth.
    ///   - measure: Measures the data directory.
    package init(
        _ settings: StorageBudget.Settings,
        logger: Logger,
        now: @escaping @Sendable () -> Instant,
        measure: @escaping Measure
    ) {
        self.state = Mutex(State(settings: settings))
        self.logger = logger
        self.now = now
        self.measureSizes = measure
    }

    /// Keeps to other settings from now on.
    package func applySettings(_ settings: StorageBudget.Settings) {
        self.state.withLock { $0.settings = settings }
        self.judge()
    }

    // MARK: Asking

    /// Whether a demand may be written. Two or three loads of a number: it is asked for each request.
    package func admits(_ demand: StorageBudget.Demand) -> Bool {
        let written = self.written.load(ordering: .relaxed) + self.inFlight.load(ordering: .relaxed)
        return switch demand {
        case .traffic: written < self.trafficEdge.load(ordering: .relaxed)
        case .report: written < self.reportEdge.load(ordering: .relaxed)
        case .upkeep: true
        }
    }

    /// The budget of the disk, with the bytes that were written since the last look.
    package var budget: StorageBudget { self.state.withLock { self.budget($0) } }

    /// The sizes of the last look.
    package var sizes: StorageSizes { self.state.withLock { $0.sizes } }

    /// How many bytes the log has taken since the start.
    package var writtenBytes: Int { self.written.load(ordering: .relaxed) }

    /// The log's growth in a day, at the pace of the last one; nil until there has been a minute.
    package var growthPerDay: Int? {
        self.state.withLock { $0.growth.perDay(bytes: self.writtenBytes, at: self.now()) }
    }

    /// How many pushes were refused, and how many requests of hosts and apps.
    package var refused: (pushes: Int, requests: Int) {
        (self.pushes.load(ordering: .relaxed), self.requests.load(ordering: .relaxed))
    }

    package func addRefusedPush() { self.pushes.wrappingAdd(1, ordering: .relaxed) }
    package func addRefusedRequest() { self.requests.wrappingAdd(1, ordering: .relaxed) }

    // MARK: Counting

    /// So many bytes are on their way to the log.
    package func begin(bytes: Int) { self.inFlight.wrappingAdd(bytes, ordering: .relaxed) }

    /// They are in it, or will never be.
    package func end(bytes: Int, isWritten: Bool) {
        if isWritten { self.written.wrappingAdd(bytes, ordering: .relaxed) }
        self.inFlight.wrappingSubtract(bytes, ordering: .relaxed)
    }

    // MARK: Measuring

    /// How old the last backup may be before the log is told of it: two nights.
    private static let backupAgeMax = Interval.hours(48)

    /// Where there was never one, another way of copying may be in use.
    private func tell(lastBackup: Instant?, at now: Instant) {
        guard let lastBackup else { return }
        let isOld = now - lastBackup > Self.backupAgeMax
        let wasOld = self.state.withLock { state in
            defer { state.isBackupOld = isOld }
            return state.isBackupOld
        }
        let metadata: Logger.Metadata = ["lastBackup": "\(RFC3339.nearestText(to: lastBackup))"]
        if isOld, !wasOld { self.logger.warning("the last backup is old", metadata: metadata) }
        if !isOld, wasOld { self.logger.notice("there is a new backup", metadata: metadata) }
    }

    /// How often the data directory is looked at.
    private static let lookSpacing = Duration.seconds(1)

    /// Measures once a second, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            await self.look()
            try? await Task.sleep(for: Self.lookSpacing)
        }
    }

    /// Measures on another thread.
    package func look() async {
        // The pool is there as long as the process.
        try? await NIOThreadPool.singleton.runIfActive { self.measure() }
    }

    /// Measures the data directory and judges its room. Blocks.
    package func measure() {
        // Bytes that are written during the measurement count twice until the next look, rather than not at all.
        let writtenBefore = self.writtenBytes
        do throws(JournalError) {
            let sizes = try self.measureSizes()
            let now = self.now()
            let wasFailing = self.state.withLock { state in
                defer { state.isMeasureFailing = false }
                state.sizes = sizes
                state.isMeasured = true
                state.writtenBefore = writtenBefore
                state.growth.add(bytes: writtenBefore, at: now)
                return state.isMeasureFailing
            }
            if wasFailing { self.logger.notice("\(sizes.subject) can be measured again") }
            self.tell(lastBackup: sizes.lastBackup, at: now)
            self.judge()
        } catch {
            let isNew = self.state.withLock { state in
                defer { state.isMeasureFailing = true }
                return !state.isMeasureFailing
            }
            guard isNew else { return }
            self.logger.error(
                "the size of \(self.sizes.subject) cannot be measured; the last measurement counts",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private func budget(_ state: State) -> StorageBudget {
        var sizes = state.sizes
        let since = self.writtenBytes - state.writtenBefore
        sizes.log += since
        sizes.free -= since
        return StorageBudget(state.settings, sizes)
    }

    /// Puts the edges where the last look says, and tells of a change.
    private func judge() {
        let change = self.state.withLock { state -> (from: StorageBudget.Level, StorageBudget, subject: String)? in
            guard state.isMeasured else { return nil }
            let measured = StorageBudget(state.settings, state.sizes)
            let start = state.writtenBefore
            self.trafficEdge.store(start + measured.left(for: .traffic), ordering: .relaxed)
            self.reportEdge.store(start + measured.left(for: .report), ordering: .relaxed)
            let budget = self.budget(state)
            let told = state.toldLevel
            state.toldLevel = budget.level
            return told == budget.level ? nil : (told, budget, state.sizes.subject)
        }
        if let change { self.tell(change.1, of: change.subject, before: change.from) }
    }

    private func tell(_ budget: StorageBudget, of subject: String, before: StorageBudget.Level) {
        let metadata: Logger.Metadata = [
            "used": "\(budget.used)", "room": "\(budget.room(for: .traffic))", "reserve": "\(budget.reserve)",
        ]
        if budget.level >= .full, before < .full {
            self.logger.error(
                "\(subject) is full: until it has space, only reports and removals are accepted",
                metadata: metadata
            )
        } else if budget.level < .full, before >= .full {
            self.logger.notice("\(subject) is no longer full", metadata: metadata)
        } else if budget.level >= .filling, before == .ample {
            self.logger.warning("\(subject) fills up", metadata: metadata)
        } else if budget.level == .ample {
            self.logger.notice("\(subject) no longer fills up", metadata: metadata)
        }
    }
}
