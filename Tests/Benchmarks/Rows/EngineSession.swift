import Engine
import IntentMatching
import TestSupport
import WidgetModel

/// An engine with hosts of three instances each, three parameters an instance, that answers commands on standard input:
///
///     burst TOPIC,TOPIC    one push to every instance of these topics
///     try TOPIC,TOPIC      the same push, counted and then tried out, and not made; "*" for all topics
///     ask COUNT            so many questions about an instance each, all about one whose window is over
///     pass SECONDS         time passes, and timers fire
///     pushes COUNT         so many pushes, each to a host at random
///     reregister COUNT     so many instances change a parameter, three at a time
struct EngineSession: ~Copyable {
    private static let team = TeamID("BENCHTEAM1")
    private static let chunk = 20_000
    /// `dryRun.decidedMax`, as it is by default.
    private static let decidedMax = 500
    /// As a gateway's partition has them.
    private static let sliceUnits = 2048

    private let population: Population
    /// Whether hosts acknowledge their first reloads as they register: then instances are at rest.
    private let acknowledges: Bool
    private var engine = Engine(partition: PartitionID(0), partitions: 1)
    private var output = EngineOutput()
    private var position = LogPosition.start
    private var now = Instant(seconds: 1_793_638_800)
    private var pushes: UInt64 = 0
    private var revision: UInt64 = 1

    private var hosts: Int { self.population.count / 3 }

    init(_ count: Int, acknowledges: Bool) {
        self.population = Population(count: count / 3 * 3)
        self.acknowledges = acknowledges
    }

    mutating func run() throws {
        try self.load()
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 1 else { break }
            switch words[0] {
            case "burst": try self.burst(words[1].split(separator: ",").map(String.init))
            case "try": try self.tryOut(words[1] == "*" ? nil : words[1].split(separator: ",").map(String.init))
            case "ask": try self.ask(Int(words[1]) ?? 0)
            case "pass": try self.pass(Int64(words[1]) ?? 0)
            case "pushes": try self.push(Int(words[1]) ?? 0)
            case "reregister": try self.reregister(Int(words[1]) ?? 0)
            default: Report.line("unknown command", [:])
            }
        }
    }

    private mutating func apply(_ bytes: [UInt8]) throws {
        self.position = self.position.next
        try self.engine.apply(
            bytes,
            in: 0..<bytes.count,
            recordIndex: 0,
            at: self.position,
            logTime: self.now,
            into: &self.output
        )
    }

    private mutating func load() throws {
        let schema = try KindSchema(
            kind: Population.kind,
            parameters: ["league", "team", "topic"].map { ParameterSchema($0, .string) }
        )
        let app = AppSettings(app: Population.app, team: Self.team, kinds: [KindSettings(schema: schema)])
        try self.apply(Record.settings(EngineSettings(apps: [app])).bytes)
        let before = Report.residentBytes()
        let seconds = try self.register(self.hosts)
        self.output = EngineOutput()
        let count = Double(self.population.count)
        Report.line(
            "load",
            ["perSecond": count / seconds, "resident": Double(Report.residentBytes() - before) / count]
        )
    }

    /// So many hosts in a random order, another one with each revision: memory that lies in the order of use would flatter the engine.
    private func randomHosts(_ count: Int) -> ArraySlice<Int> {
        var dice = SplitMix64(seed: self.revision)
        return (0..<self.hosts).shuffled(using: &dice).prefix(count)
    }

    /// Seconds that the engine takes for so many hosts; the records are made in chunks that are not timed.
    private mutating func register(_ count: Int) throws -> Double {
        var seconds = 0.0
        let hosts = self.randomHosts(count)
        for start in stride(from: 0, to: hosts.count, by: Self.chunk) {
            let records = hosts.dropFirst(start).prefix(Self.chunk).map { self.registration($0).bytes }
            seconds += try Stopwatch.seconds { for record in records { try self.apply(record) } }
            if self.acknowledges { try self.acknowledgeReloads() }
            self.output.removeAll()
        }
        return seconds
    }

    /// The hosts have reloaded what was issued last.
    private mutating func acknowledgeReloads() throws {
        let reports = self.output.effects.compactMap { effect -> [UInt8]? in
            guard case .reload(let reload) = effect else { return nil }
            return Record.delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged)).bytes
        }
        for report in reports { try self.apply(report) }
        precondition(self.engine.stats().reloadsOutstanding == 0, "an acknowledgement was not accepted")
    }

    private func registration(_ host: Int) -> Record {
        let numbers = host * 3..<host * 3 + 3
        return .register(
            HostRegistration(
                host: Population.key(ofHost: UInt32(host)),
                token: DeviceToken(bytes: (0..<32).map { UInt8(truncatingIfNeeded: host >> ($0 % 4 * 8) &+ $0) }),
                revision: self.revision,
                instances: numbers.map { number in
                    let row = self.population.row(number, version: Int(self.revision) - 1)
                    return InstanceRegistration(
                        id: InstanceID("w\(number % 3)"),
                        kind: Population.kind,
                        family: Population.family(number),
                        configuration: Configuration([
                            Configuration.Parameter(name: "league", value: .string("league-\(row.league)")),
                            Configuration.Parameter(name: "team", value: .string("team-\(row.team)")),
                            Configuration.Parameter(name: "topic", value: .string("k\(row.topic)")),
                        ])
                    )
                }
            )
        )
    }

    private mutating func reregister(_ count: Int) throws {
        self.revision += 1
        let hosts = min(self.hosts, count / 3)
        let seconds = try self.register(hosts)
        Report.line("reregister", ["perSecond": Double(hosts * 3) / seconds])
    }

    /// One push to the hosts that have one of the topics. Timers that are due by now fire before, and are not timed.
    private mutating func burst(_ topics: [String]) throws {
        self.now = self.now + .seconds(1)
        try self.apply(Record.tick.bytes)
        self.output.removeAll()
        let before = self.engine.stats()
        let push = Record.push(self.makePush(.app(Population.app), try Self.pattern(topics))).bytes
        let time = try self.timeSlices(of: push)
        let after = self.engine.stats()
        self.output.removeAll()
        Report.line(
            "burst",
            [
                "microseconds": time.all * 1e6, "first": time.first * 1e6, "longest": time.longest * 1e6,
                "matched": Double(after.matched - before.matched),
                "issued": Double(after.reloadsIssued - before.reloadsIssued),
                "armed": Double(after.timersArmed - before.timersArmed),
            ]
        )
    }

    /// The timers that are due after so many seconds fire, in slices as a gateway's are.
    private mutating func pass(_ seconds: Int64) throws {
        self.now = self.now + .seconds(seconds)
        let before = self.engine.stats()
        let time = try self.timeSlices(of: Record.tick.bytes)
        let after = self.engine.stats()
        self.output.removeAll()
        Report.line(
            "pass",
            [
                "microseconds": time.all * 1e6, "first": time.first * 1e6, "longest": time.longest * 1e6,
                "issued": Double(after.reloadsIssued - before.reloadsIssued),
                "decisions": Double(after.decisions - before.decisions),
            ]
        )
    }

    /// How many seconds a record takes in slices as a gateway's are: in all, until its first slice, and the longest slice.
    private mutating func timeSlices(of bytes: [UInt8]) throws -> (all: Double, first: Double, longest: Double) {
        self.position = self.position.next
        let first = try Stopwatch.seconds {
            try self.engine.begin(
                bytes,
                in: 0..<bytes.count,
                recordIndex: 0,
                at: self.position,
                logTime: self.now,
                into: &self.output
            )
        }
        var (all, longest) = (first, 0.0)
        while !self.engine.isRecordDone {
            let slice = Stopwatch.seconds {
                var units = Self.sliceUnits
                self.engine.advance(&units, into: &self.output)
            }
            all += slice
            longest = max(longest, slice)
        }
        return (all, first, longest)
    }

    /// The cost of a push that is refused by the number of its matches, and of its dry run.
    private mutating func tryOut(_ topics: [String]?) throws {
        let push = self.makePush(.app(Population.app), try topics.map(Self.pattern))
        var matched = 0
        let counting = Stopwatch.seconds { matched = self.engine.matchCount(push).matched }
        var decided = 0
        let deciding = Stopwatch.seconds {
            var search = MatchSearch(push, sampling: Self.decidedMax, in: self.engine)
            var units = Int.max
            while !search.advance(in: self.engine, &units) { units = .max }
            decided = self.engine.dryRun(search).decided
        }
        Report.line(
            "try",
            [
                "matched": Double(matched), "decided": Double(decided), "counting": counting * 1e6,
                "deciding": deciding * 1e6,
            ]
        )
    }

    /// The cost of `GET /v1/instances/…` for the partition, two days after the widget was last looked at.
    private mutating func ask(_ count: Int) throws {
        self.now = self.now + .days(2)
        try self.apply(Record.tick.bytes)
        self.output.removeAll()
        let addresses = self.randomHosts(count).map { host in
            InstanceAddress(
                host: Population.key(ofHost: UInt32(host)),
                instance: InstanceID("w1")
            )
        }
        var known = 0
        let seconds = Stopwatch.seconds {
            for address in addresses where self.engine.instance(address) != nil { known += 1 }
        }
        Report.line("ask", ["known": Double(known), "microseconds": seconds * 1e6 / Double(max(1, count))])
    }

    private static func pattern(_ topics: [String]) throws -> MatchPattern {
        let topic = IndexQueries.member("topic", .array(topics.map { .string($0) }))
        return try MatchPattern.parse(.object([topic]))
    }

    private mutating func push(_ count: Int) throws {
        self.now = self.now + .seconds(1)
        try self.apply(Record.tick.bytes)
        var dice = SplitMix64(seed: UInt64(count))
        let records = (0..<count).map { _ in
            Record.push(self.makePush(.host(Population.key(ofHost: UInt32(dice.below(self.hosts))), nil), nil)).bytes
        }
        let seconds = try Stopwatch.seconds {
            for record in records {
                try self.apply(record)
                if self.output.answers.count > 1000 { self.output.removeAll() }
            }
        }
        Report.line("pushes", ["microseconds": seconds * 1e6 / Double(count)])
    }

    private mutating func makePush(_ target: PushDestination, _ pattern: MatchPattern?) -> PushRecord {
        self.pushes += 1
        return PushRecord(
            id: PushID(high: 1, low: self.pushes &* 0x9E37_79B9_7F4A_7C15),
            team: Self.team,
            contentHash: self.pushes,
            target: target,
            pattern: pattern
        )
    }
}
