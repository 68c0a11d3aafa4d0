import IntentMatching
import Storage
import Timelines
package import WidgetModel

/// The deterministic core of one partition: (state, record, time) -> (state, effects).
///
/// It has the registry of hosts and widget instances, their budgets and timelines, the pushes that wait or are in
/// flight, and the outcomes of every push. It has no clock, no random numbers and no I/O: time is the log's, and the
/// same records at the same positions and times give the same state and the same effects, to the bit. Timers fire
/// before the first record after their due seconds, in the order of those. A record is applied whole, see
/// ``apply(_:in:recordIndex:at:logTime:into:)``, or in slices, see ``advance(_:into:)``.
///
/// It has one owner at a time. It has gigabytes of tables, and only ``duplicate()`` copies it. Queries are read-only
/// and return values.
package struct Engine: ~Copyable, Sendable {
    /// The version of the decision rules.
    package static let version = 1

    /// Which release brought which version of the decision rules.
    package static let releases = [1: "0.2.0"]

    /// The release that brought a version of the rules, as a person reads it.
    package static func program(of rules: Int) -> String {
        self.releases[rules].map { "Freshet \($0)" } ?? "another version of Freshet"
    }

    /// The last instant of the engine's time, as of its timing wheels (2106-02-07T06:28:13Z): a later timer is never
    /// due, and a later record of the log happens at this instant.
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
    /// The version of the rules that it decides by: the program's, but in tests that play another program.
    package let rules: Int
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
    /// The operators' changes of the configuration, in the order in which they began.
    package internal(set) var amendments: [StandingAmendment] = []
    /// How often the settings changed by a reading of the file or by a request: equal in all partitions, which have these in one order.
    package internal(set) var settingsVersion = 0
    /// Counters alone; the rest of it is filled in when asked.
    var counters = EngineStats()
    var prefetched = PrefetchedRows()
    /// The work that is left of the record that was begun: none, except between two slices of it.
    var work = RecordWork()
    /// The output that is being filled: the caller's, while a record is applied.
    var output = EngineOutput()

    /// An empty engine.
    ///
    /// - Parameters:
    ///   - partition: The partition whose log it applies.
    ///   - partitions: The number of partitions of the log.
    ///   - seed: Hides the places of rows in tables from untrusted peers; no result depends on it. By default the
    ///     process's own.
    ///   - rules: See ``rules``.
    package init(
        partition: PartitionID,
        partitions: Int,
        seed: UInt64? = nil,
        rules: Int = Engine.version
    ) {
        let seed = seed ?? SeededHash.processSeed
        self.partition = partition
        self.partitions = partitions
        self.rules = rules
        self.catalogue = Catalogue(seed: seed)
        self.registry = Registry(seed: seed)
        self.ledger = Ledger(seed: seed)
    }

    /// Prepares for targeted pushes after the log was replayed. Before that, or before the first of them, the engine
    /// collects instances without listing them by their configurations, which is less work for many of them. Does not
    /// change outcomes. O(instances) the first time.
    package mutating func finishLoading() {
        self.registry.finishLoading()
    }

    /// The engine version of a record that holds settings: their first word, in every version.
    static func engineVersion(_ bytes: [UInt8], in range: Range<Int>) -> Int? {
        guard let tag = range.first.flatMap({ Record.Tag(rawValue: bytes[$0]) }) else { return nil }
        var reader = ByteReader(bytes, in: range.dropFirst())
        switch tag {
        case .settings: break
        case .configure: guard (try? reader.readBool()) == true else { return nil }
        default: return nil
        }
        return (try? reader.readVarint()).map { Int(truncatingIfNeeded: $0) }
    }

    /// The settings in force, nil before the first.
    package var settings: EngineSettings? { self.catalogue.settings }

    /// Takes a word into the running hash.
    @inline(__always)
    mutating func combine(_ word: UInt64) {
        self.runningHash = ReplayHash.mix(self.runningHash ^ word)
    }
}
