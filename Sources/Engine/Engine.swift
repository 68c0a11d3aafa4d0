package import IntentMatching
import Storage
import Timelines
package import WidgetModel

/// The deterministic heart of one partition: (state, record, time) -> (state, effects).
///
/// Holds the registry of hosts and widget instances, their budgets and timelines, the pushes that wait or are in
/// flight, and what became of every push. No clock, no dice, no I/O: time is the log's, and applying the same records
/// at the same positions and times gives the same state and the same effects, to the bit. Timers fire
/// before the record that comes after their due seconds, in the order of those. A record is applied whole, see
/// ``apply(_:in:recordIndex:at:logTime:into:)``, or in slices, see ``advance(_:into:)``.
///
/// One owner at a time: it is gigabytes of tables, and is copied by ``duplicate()`` alone. Queries are read-only and give
/// values.
package struct Engine: ~Copyable, Sendable {
    /// The version of the decision rules.
    package static let version = 1
    /// The last instant that the engine's time comes to, as its timing wheels do (2106-02-07T06:28:13Z): what is due
    /// later is never due, and what the log says to have happened later happens then.
    package static let latest = Instant(seconds: Int64(UInt32.max) - 2)
    /// The furthest `apns-expiration` that counts: 30 days, as APNs stores a notification at most.
    static let expirationMax = Interval.days(30)
    /// The least time that a reload has to be acknowledged, also for a push that is now or never.
    static let acknowledgementMin = Interval.seconds(30)
    /// How shortly before a policy reload a push waits for it.
    static let policyJoin = Interval.minutes(5)
    /// When a timeline that could not be fetched is asked for again.
    static let retryInterval = Interval.minutes(15)

    package let partition: PartitionID
    /// How many partitions the log has.
    package let partitions: Int
    /// The position of the last applied record.
    package internal(set) var position = LogPosition.start
    /// The log's time: the greatest log time applied.
    package internal(set) var time = Instant.epoch
    /// A hash over all records, their positions and times, and the effects: equal for equal histories.
    package internal(set) var runningHash: UInt64 = 0

    var catalogue: Catalogue
    var registry: Registry
    var schedule = Schedule()
    var reloads = Reloads()
    var ledger: Ledger
    var channels = ChannelTable()
    /// The pauses in force, in the order in which they were given; the catalogue and the ledger have their ends from here.
    var standing: [StandingOrder] = []
    /// What operators have changed of the configuration, in the order in which that began.
    package internal(set) var amendments: [StandingAmendment] = []
    /// Counters alone; the rest of it is filled in when asked.
    var counters = EngineStats()
    var prefetched = PrefetchedRows()
    /// What is left to do of the record that was begun: nothing, but between two slices of it.
    var work = RecordWork()
    /// The output that is being filled: the caller's, while a record is applied.
    var output = EngineOutput()

    /// An empty engine.
    ///
    /// - Parameters:
    ///   - partition: The partition whose log it applies.
    ///   - partitions: How many partitions the log has.
    ///   - seed: Hides from untrusted peers where tables keep their rows; nothing that comes out depends on it. By default the
    ///     process's own.
    ///   - interning: When the index keeps what instances are configured with once for many of them; nothing that comes out
    ///     depends on it.
    package init(
        partition: PartitionID,
        partitions: Int,
        seed: UInt64? = nil,
        interning: Interning = .observed(atLeast: 4096)
    ) {
        let seed = seed ?? SeededHash.processSeed
        self.partition = partition
        self.partitions = partitions
        self.catalogue = Catalogue(seed: seed)
        self.registry = Registry(seed: seed, interning: interning)
        self.ledger = Ledger(seed: seed)
    }

    /// Another engine in the same state. For comparisons of two futures and for tests: O(state). Precondition: the last record
    /// was applied whole.
    package func duplicate() -> Engine {
        precondition(self.isRecordDone, "a record is still being applied")
        var copy = Engine(partition: self.partition, partitions: self.partitions)
        copy.position = self.position
        copy.time = self.time
        copy.runningHash = self.runningHash
        copy.catalogue = self.catalogue.duplicate()
        copy.registry = self.registry.duplicate()
        copy.schedule = self.schedule.duplicate()
        copy.reloads = self.reloads.duplicate()
        copy.ledger = self.ledger.duplicate()
        copy.channels = self.channels
        copy.standing = self.standing
        copy.amendments = self.amendments
        copy.counters = self.counters
        return copy
    }

    /// Makes ready for targeted pushes, once the log was replayed: until the first of them, or this, instances are
    /// collected and not yet listed by what they are configured with, which is less work where there are many. Changes no
    /// outcome. O(instances) the first time.
    package mutating func finishLoading() {
        self.registry.finishLoading()
    }

    /// The engine version of a record that holds settings: their first word in every version.
    static func settingsVersion(_ bytes: [UInt8], in range: Range<Int>) -> Int? {
        guard range.first.map({ bytes[$0] }) == Record.Tag.settings.rawValue else { return nil }
        var reader = ByteReader(bytes, in: range.dropFirst())
        return (try? reader.readVarint()).map { Int(truncatingIfNeeded: $0) }
    }

    /// The settings in force, nil before the first.
    package var settings: EngineSettings? { self.catalogue.settings }

    /// The limits in force.
    var limits: EngineLimits { self.catalogue.limits }

    /// Takes a word into the running hash.
    @inline(__always)
    mutating func combine(_ word: UInt64) {
        self.runningHash = ReplayHash.mix(self.runningHash ^ word)
    }

    /// The log's time in milliseconds.
    @inline(__always)
    var now: Int64 { self.time.milliseconds }
}
