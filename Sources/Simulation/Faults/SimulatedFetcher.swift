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
    /// When each request was sent that has no answer yet.
    var inFlight: [Int: Instant] = [:]
    /// What the provider's answers demand, as an observer counts it.
    var manners: ProviderManners
    var storing: [Storing] = []
    /// By record: what came of the timelines that are applied.
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
        self.manners = ProviderManners(limits)
        self.machine = FetchMachine(limits: limits, name: "faults.example/boards")
    }

    func has(_ shown: ShownTimeline) -> Bool {
        guard let kept = self.contents[shown.subject.address], kept.digest == shown.timeline.digest else {
            return false
        }
        return kept.entries.map(\.date) == shown.timeline.entries.map(\.date).sorted()
    }
}

/// When a provider may be asked, counted from its answers: never sooner than a breaker has to wait at least.
struct ProviderManners {
    /// An end by the gateway's clock, and in milliseconds that pass: a clock that is put back makes none later.
    private struct End {
        var clock = Instant.distantPast
        var passed = Int64.min

        func isOver(_ clock: Instant, _ passed: Int64) -> Bool { clock >= self.clock || passed >= self.passed }
    }

    private let limits: FetchLimits
    private var failures = 0
    private var rest = End()
    private var hold = End()

    init(_ limits: FetchLimits) { self.limits = limits }

    /// - Parameter passed: The milliseconds that have passed.
    func mayAsk(at now: Instant, _ passed: Int64) -> Bool {
        self.rest.isOver(now, passed) && self.hold.isOver(now, passed)
    }

    /// A request failed that was sent at an instant.
    mutating func failed(sentAt: Instant, retryAfter: Interval?, at now: Instant, _ passed: Int64) {
        if let retryAfter {
            let wait = min(retryAfter, self.limits.retryAfterMax)
            self.hold.clock = max(self.hold.clock, now + wait)
            self.hold.passed = max(self.hold.passed, passed + wait.milliseconds)
        }
        // A request from before a rest says nothing of the next one.
        guard sentAt >= self.rest.clock else { return }
        self.failures += 1
        guard self.failures >= self.limits.failuresMax else { return }
        let wait = self.limits.breaker.first.milliseconds / 2
        self.rest = End(clock: now + .milliseconds(wait), passed: passed + wait)
    }

    /// A request was answered well, or its answer is stored.
    mutating func succeeded() { self.failures = 0 }
}
