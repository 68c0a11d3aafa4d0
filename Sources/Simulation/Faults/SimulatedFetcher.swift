import Engine
import Journaling
import Ownership
import Scenarios
import TimelineProviding
import Timelines
import WidgetModel

/// The fetcher of one start of the gateway: the machine that a gateway runs, and what its surroundings know of it.
final class SimulatedFetcher {
    /// Timelines on their way into the log.
    struct Storing {
        let exchange: FetchExchange
        let timelines: [FetchedTimeline]
        /// By timeline: the content that was here before.
        let before: [ReloadID?]
        /// The partitions whose logs have not answered.
        var waiting: Set<PartitionID>
        var receipts: [PartitionID: AppendReceipt] = [:]
        var hasFailed = false
    }

    /// The start that it belongs to.
    let start: Int
    let limits: FetchLimits
    var machine: FetchMachine
    /// When it is called next, in milliseconds, if that is planned.
    var wakesAt: Int64?
    /// The timelines whose content is here.
    var contents: [InstanceAddress: StoredTimeline]
    var placeholders: Set<TimelineProviderContext> = []
    /// The requests that have no answer yet.
    var inFlight: Set<Int> = []
    var hold = ProviderHold()
    var storing: [Storing] = []
    /// The results that the machine was told of.
    var stored: [FetchExchange: FetchStored] = [:]
    /// By record: the results of the applied timelines.
    var results: [PartitionID: [LogPosition: [Int: RecordAnswer.Result]]] = [:]
    /// The number of the last request whose timeline was stored.
    var lastRequest: [InstanceAddress: Int] = [:]
    /// The engines' first answers about each exchange.
    var firstWanted: [FetchExchange: FetchWanted] = [:]

    init(start: Int, contents: [InstanceAddress: StoredTimeline], _ dice: inout Dice) {
        var limits = FetchLimits()
        limits.inFlightMax = dice.pick([1, 2, 4])
        limits.batchMax = dice.pick([1, 3, 100])
        limits.waitingMax = dice.pick([2, 6, 100_000])
        limits.failuresMax = dice.pick([1, 3, 5])
        limits.retry = Backoff(first: .seconds(1), max: .seconds(60))
        limits.breaker = Backoff(first: .seconds(5), max: .seconds(60))
        self.start = start
        self.limits = limits
        self.contents = contents
        self.machine = FetchMachine(limits: limits, name: "faults.example/boards")
    }

    func has(_ shown: ShownTimeline) -> Bool {
        guard let kept = self.contents[shown.subject.address], kept.digest == shown.timeline.digest else {
            return false
        }
        return kept.entries.map(\.date) == shown.timeline.entries.map(\.date).sorted()
    }
}

/// The instant before which a provider is not to be asked, by its own words.
struct ProviderHold {
    /// By the gateway's clock, and in milliseconds that pass: a clock that is put back makes it no later.
    private var clock = Instant.distantPast
    private var passed = Int64.min

    func isOver(_ now: Instant, _ passed: Int64) -> Bool { now >= self.clock || passed >= self.passed }

    mutating func extend(by wait: Interval, _ now: Instant, _ passed: Int64) {
        self.clock = max(self.clock, now + wait)
        self.passed = max(self.passed, passed + wait.milliseconds)
    }
}
