import Clustering
import Engine
import Journaling
import NIOCore
import OperatorAPI
import Ownership
import Partitions
import Serving
import Testing
import TransportSupport
import WidgetModel

/// The log's notices of the gateway's state: once when something begins, and once when it is over.
@Suite struct StateNoticesTests {
    @Test func `what is missing is told when it changes`() {
        let log = RecordedLog()
        var notices = StateNotices(log.logger)
        for missing in [[], [.clock], [.clock], [.journal, .clock], [], []] as [[Readiness.Condition]] {
            notices.tell(missing: missing)
        }
        let clock = "the wall clock stepped by more than 5 minutes"
        #expect(
            log.lines == [
                "error not ready: \(clock) conditions=clockSteady",
                "error not ready: the log cannot be written; \(clock) conditions=logWritable, clockSteady",
                "notice ready again",
            ]
        )
    }

    /// An upstream that refuses everything since then.
    private static func upstream(failingSince instant: Int64?) -> CalledTarget {
        var health = TargetHealth()
        if let instant {
            let at = Instant(milliseconds: instant)
            _ = health.takeAnswer(.init(.failure, status: 503, at: at), heldUntil: at + TargetHealth.patience)
        }
        return CalledTarget(.upstream(BundleID("a.b")), health, isHeld: false)
    }

    @Test func `outages and readings of the configuration are marked when they begin`() {
        var marks: [String] = []
        var notices = StateNotices(RecordedLog().logger) { kind, text, at in
            marks.append("\(kind) \(text) \(at.map { "\($0.milliseconds)" } ?? "now")")
        }
        // What a gateway that starts or ends lacks is no outage.
        for missing in [[.replay, .listeners], [], [.clock], [.journal, .clock], [], [.draining]]
            as [[Readiness.Condition]]
        {
            notices.tell(missing: missing)
        }
        for (at, isRefused) in [(1, false), (1, false), (2, true), (2, true), (3, false)] as [(Int64, Bool)] {
            notices.tell(configurationReadAt: Instant(milliseconds: at), isRefused: isRefused)
        }
        let failing = [Self.upstream(failingSince: 5), Self.upstream(failingSince: 6)]
        for upstream in [failing[0], failing[0], Self.upstream(failingSince: nil), failing[1]] {
            notices.tell([upstream])
        }
        #expect(
            marks == [
                "outage Not ready: the wall clock stepped by more than 5 minutes now",
                "outage Not ready: the log cannot be written now",
                "configuration The configuration was refused 2", "configuration The configuration was read again 3",
                "outage The upstream of a.b began to fail 5", "outage The upstream of a.b began to fail 6",
            ]
        )
    }

    @Test func `a partition is behind its log from more than five seconds on, until all is applied`() {
        let log = RecordedLog()
        var notices = StateNotices(log.logger)
        let work = PartitionWork(PartitionID(0))
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        work.noteArrival(LogPosition(1), at: start)
        work.noteArrival(LogPosition(2), at: start + .seconds(9))
        for milliseconds in [4_999, 5_000, 5_001, 6_000] as [Int64] {
            notices.tell(lags: [work.lag(at: start + .milliseconds(milliseconds))])
            #expect(log.lines.count == (milliseconds > 5_000 ? 1 : 0), "\(milliseconds)")
        }
        work.advance(to: LogPosition(1), PartitionWork.Turn())
        notices.tell(lags: [work.lag(at: start + .seconds(10))])
        #expect(log.lines.count == 1)
        work.advance(to: LogPosition(2), PartitionWork.Turn())
        notices.tell(lags: [work.lag(at: start + .seconds(10))])
        #expect(
            log.lines == [
                "warning a partition is behind its log: pushes wait to be decided entries=2 partition=0 seconds=5",
                "notice a partition has caught up with its log partition=0",
            ]
        )
    }

    @Test func `clocks that do not agree are told of, until five minutes without such an entry`() {
        let log = RecordedLog()
        var notices = StateNotices(log.logger)
        let start = ContinuousClock.now
        func trouble(_ partition: UInt16, _ entries: Int, _ readAt: Duration) -> ClockTrouble {
            ClockTrouble(
                partition: PartitionID(partition),
                entries: entries,
                storedAt: Instant(seconds: 1_795_262_400),
                writtenAt: Instant(seconds: 1_795_262_800),
                readAt: start + readAt
            )
        }
        notices.tell([], at: start)
        notices.tell([trouble(3, 1, .zero)], at: start)
        notices.tell([trouble(3, 9, .seconds(60))], at: start + .seconds(60))
        notices.tell([trouble(3, 9, .seconds(60))], at: start + .seconds(359))
        #expect(log.lines.count == 1)
        notices.tell([trouble(3, 9, .seconds(60))], at: start + .seconds(360))
        let apart =
            "the clocks of a broker and a gateway are more than 5 minutes apart: a partition's time stands still"
        let (broker, gateway) = (Instant(seconds: 1_795_262_400), Instant(seconds: 1_795_262_800))
        #expect(
            log.lines == [
                "error \(apart) broker=\(broker) entries=1 gateway=\(gateway) partition=3",
                "notice the clocks of brokers and gateways agree again partition=3",
            ]
        )
    }

    @Test func `a team is told of while more of it is refused`() {
        let log = RecordedLog()
        var notices = StateNotices(log.logger)
        for refused in [0, 1, 5, 5, 5, 6] { notices.tell(refusals: [(team: TeamID("TEAM"), refused: refused)]) }
        let share =
            "warning a team has used up its share of undecided work in the log: its further requests are answered 503 team=TEAM"
        #expect(log.lines == [share, "notice a team's requests are accepted again team=TEAM", share])
    }

    @Test func `bad credentials keep coming from so many within a minute on, until two minutes after the last`() {
        let log = RecordedLog()
        var notices = StateNotices(log.logger)
        let counters = PushCounters()
        for number in 1...BadCredentials.toldFrom {
            #expect(!counters.badCredentials(at: 119).keepComing)
            counters.add(badCredentialOf: "192.0.2.7:\(number)", at: 119)
        }
        for second in [119, 120, 179, 180] as [UInt32] {
            let found = counters.badCredentials(at: second)
            #expect(found.keepComing == (second < 180) && found.peer == "192.0.2.7:30")
            notices.tell(found)
        }
        #expect(
            log.lines == [
                "warning pushes with invalid credentials keep coming peer=192.0.2.7:30 withinMinute=30",
                "notice pushes with invalid credentials have stopped peer=192.0.2.7:30 withinMinute=0",
            ]
        )
        // As many over two minutes are fewer in each.
        for second in [299, 300] as [UInt32] {
            for _ in 0..<BadCredentials.toldFrom - 1 { counters.add(badCredentialOf: "192.0.2.8:1", at: second) }
            #expect(!counters.badCredentials(at: second).keepComing)
        }
    }

    @Test func `a kind is without budget from more than a quarter of its widgets on`() {
        let log = RecordedLog()
        var notices = StateNotices(log.logger)
        for exhausted in [25, 26, 27, 25, 25] {
            let rows = [("scores", exhausted), ("weather", 0)].map { (kind, exhausted) in
                var row = BudgetSurvey.KindRow(app: BundleID("com.example.app"), kind: WidgetKind(kind))
                (row.instances, row.exhausted) = (100, exhausted)
                return row
            }
            notices.tell(budgets: rows)
        }
        let text = "app=com.example.app exhausted="
        #expect(
            log.lines == [
                "warning more than a quarter of a kind's widgets have used up their budgets \(text)26 instances=100 kind=scores",
                "notice a kind's widgets have budget again \(text)25 instances=100 kind=scores",
            ]
        )
    }

    @Test func `a backup is old from more than two days on`() {
        let log = RecordedLog()
        let disk = FakeDisk()
        let watch = disk.watch(logger: log.logger)
        #expect(log.lines.isEmpty)
        let made = disk.time.wall
        disk.change { $0.lastBackup = made }
        for (time, lines) in [(Interval.hours(48), 0), (.milliseconds(1), 1), (.hours(1), 1)] {
            disk.time.pass(time)
            watch.measure()
            #expect(log.lines.count == lines)
        }
        disk.change { $0.lastBackup = made + .hours(49) }
        watch.measure()
        #expect(log.lines.first?.hasPrefix("warning the last backup is old lastBackup=") == true)
        #expect(log.lines.last?.hasPrefix("notice there is a new backup lastBackup=") == true && log.lines.count == 2)
    }
}
