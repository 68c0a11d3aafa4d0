import Gateway
import Journaling
import Partitions
import Serving
import Settings
import Testing
import WidgetModel

/// The findings of `freshet doctor`: one test for each thing that goes wrong.
@Suite struct CheckupTests {
    // MARK: Configuration

    private static func findings(_ text: String) throws -> [CheckupFinding] {
        let parsed = try ConfigurationFile.parse(text)
        return Checkup.findings(
            of: ConfigurationCheck(parsed, now: Instant(seconds: 1_800_000_000)),
            parsed.configuration
        )
    }

    @Test func `without a team or an app there is a warning, and certificates that are not there are a fault`() throws {
        let findings = try Self.findings("{}")
        let warned = findings.filter { $0.verdict == .warning }.map(\.subject)
        #expect(warned == ["teams", "apps"])
        #expect(findings.contains { $0.verdict == .fault && $0.subject.hasPrefix("tls.") }, "\(findings)")
        #expect(!findings.contains { $0.subject == "files" })
    }

    @Test func `what is there is counted`() throws {
        let findings = try Self.findings(FirstConfiguration().text)
        #expect(findings.contains(CheckupFinding("teams", .good, "there is 1")))
        #expect(findings.contains(CheckupFinding("apps", .good, "there is 1")))
    }

    @Test func `a fault of the file has its line`() throws {
        let faults = #expect(throws: SettingsError.self) { try ConfigurationFile.parse("partitions: 0") }
        let findings = Checkup.findings(of: faults?.faults ?? [], .fault)
        #expect(findings.map(\.subject) == ["partitions"])
        #expect(findings.first?.sentence.hasSuffix("(freshet.yaml:1:13)") == true, "\(findings)")
    }

    // MARK: Ports

    private static func port(_ refusal: String?, _ holder: Checkup.RunningProcess? = nil) -> Checkup.PortReading {
        Checkup.PortReading(listener: "push", address: "127.0.0.1", port: 2197, refusal: refusal, holder: holder)
    }

    @Test func `a port is free, the gateway's own, or somebody else's`() {
        let holder = Checkup.RunningProcess(id: 12, name: "nginx")
        let free = Checkup.finding(of: Self.port(nil))
        #expect(free == CheckupFinding("listeners.push.port", .good, "127.0.0.1:2197 is free"))
        #expect(Checkup.finding(of: Self.port("held", holder), owner: 12).verdict == .good)
        let held = Checkup.finding(of: Self.port("held", holder), owner: 13)
        #expect(held.verdict == .fault && held.sentence.contains("(nginx, process 12)"))
        // Before a start there is no gateway that it could be.
        #expect(Checkup.finding(of: Self.port("held", holder)).verdict == .fault)
        let unknown = Checkup.finding(of: Self.port("the system does not allow it"), owner: 12)
        #expect(unknown.verdict == .fault && unknown.sentence.contains("the system does not allow it; "))
    }

    @Test func `the kernel's table tells who listens`() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:0895 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 22123 1 0 100
               1: 0100007F:0895 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 22124 1 0 20
               2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 22125 1 0 100
               3: cut off
            """
        #expect(ListeningSockets.inodes(port: 0x0895, in: table) == [22_123])
        #expect(ListeningSockets.inodes(port: 22, in: table) == [22_125])
        #expect(ListeningSockets.inodes(port: 80, in: table) == [])
        #expect(ListeningSockets.inodes(port: 80, in: "") == [])
    }

    // MARK: Descriptors

    @Test(
        arguments: [
            ("unlimited", .good), ("30256", .good), ("30255", .warning), ("256", .warning), ("255", .fault),
        ] as [(String, CheckupFinding.Verdict)]
    )
    func `the limit of open files is judged by what is needed`(_ files: String, _ verdict: CheckupFinding.Verdict)
        throws
    {
        let limit = try #require(DescriptorLimit(limits: "Max open files   \(files)   1048576   files\n"))
        #expect(Checkup.finding(of: limit, GatewayConfiguration()).verdict == verdict)
        #expect(Checkup.finding(of: nil, GatewayConfiguration()).verdict == .good)
    }

    // MARK: The data directory

    private static func directory(
        existing: String = "/data",
        isFolder: Bool = true,
        isWritable: Bool = true,
        _ change: (inout Checkup.DirectoryReading) -> Void = { _ in }
    ) -> [CheckupFinding] {
        var reading = Checkup.DirectoryReading(
            path: "/data",
            existing: existing,
            isFolder: isFolder,
            isWritable: isWritable
        )
        if existing == "/data" { reading.mode = 0o700 }
        change(&reading)
        return Checkup.findings(of: reading, StorageBudget.Settings())
    }

    @Test func `a data directory that can be written or made is good`() {
        #expect(Self.directory() == [CheckupFinding("dataDirectory", .good, "/data can be written to")])
        #expect(Self.directory(existing: "/").map(\.verdict) == [.good])
    }

    @Test(
        arguments: [
            ("/data", false, true, "/data is not a folder"), ("/data", true, false, "/data cannot be written"),
            ("/", false, true, "/data cannot be made: / is not a folder"),
            ("/", true, false, "/data cannot be made: this user may not write to /"),
        ]
    )
    func `one where the log cannot be is a fault`(existing: String, isFolder: Bool, isWritable: Bool, reason: String) {
        let findings = Self.directory(existing: existing, isFolder: isFolder, isWritable: isWritable)
        #expect(findings.map(\.verdict) == [.fault])
        #expect(findings.first?.sentence.hasPrefix(reason) == true, "\(findings)")
    }

    @Test(arguments: [(0o700, false), (0o750, false), (0o755, true), (0o701, true)])
    func `one that is open to everybody is warned of`(mode: Int, isWarned: Bool) {
        #expect(Self.directory { $0.mode = mode }.map(\.verdict) == [isWarned ? .warning : .good])
    }

    // Of 1,000 GiB 5 % stay free, and 64 MiB are kept for reports.
    @Test(
        arguments: [
            (0, 1_000, .good), (800, 200, .warning), (940, 60, .warning), (950, 50, .fault), (999, 1, .fault),
        ] as [(Int, Int, CheckupFinding.Verdict)]
    )
    func `its room is judged as the gateway does`(used: Int, free: Int, verdict: CheckupFinding.Verdict) throws {
        var sizes = StorageSizes()
        (sizes.log, sizes.free, sizes.fileSystem) = (used << 30, free << 30, 1_000 << 30)
        let findings = Self.directory { $0.sizes = sizes }
        #expect(findings.map(\.subject) == ["dataDirectory", "storage"])
        #expect(findings.last?.verdict == verdict, "\(findings)")
    }

    @Test(arguments: [(49_999, false), (50_000, true), (3_000_000, true)])
    func `a slow flush is warned of`(microseconds: Int, isWarned: Bool) {
        let findings = Self.directory { $0.flush = .microseconds(microseconds) }
        #expect(findings.last?.subject == "flush")
        #expect(findings.last?.verdict == (isWarned ? .warning : .good))
        #expect(Self.directory { $0.flush = .microseconds(3_250) }.last?.sentence.contains("took 3.2 ms") == true)
    }

    // MARK: The clock

    @Test func `a clock of another year is a fault`() {
        let (first, end) = (Checkup.years.lowerBound, Checkup.years.upperBound)
        for (wall, verdict) in [
            (first - .milliseconds(1), .fault), (first, .good), (end - .milliseconds(1), .good), (end, .fault),
            (Instant.epoch, .fault),
        ] as [(Instant, CheckupFinding.Verdict)] {
            #expect(Checkup.finding(of: Checkup.ClockReading(wall: wall, isSynchronised: true)).verdict == verdict)
        }
    }

    @Test func `a clock that nothing keeps right is warned of, and one behind the log is a fault`() {
        let now = Checkup.years.lowerBound + .days(300)
        func verdict(_ isSynchronised: Bool?, newest: Instant? = nil) -> CheckupFinding.Verdict {
            Checkup.finding(
                of: Checkup.ClockReading(wall: now, isSynchronised: isSynchronised, newestEntry: newest)
            ).verdict
        }
        #expect(verdict(false) == .warning)
        #expect(verdict(nil) == .good && verdict(true) == .good)
        #expect(verdict(true, newest: now + LogClock.stepMax) == .good)
        #expect(verdict(true, newest: now + LogClock.stepMax + .milliseconds(1)) == .fault)
    }

    // MARK: Peers

    @Test func `a server that cannot be reached is a fault`() {
        let good = Checkup.PeerReading(subject: "apps[0].upstream", place: "https://push.example", failure: nil)
        #expect(Checkup.finding(of: good).verdict == .good)
        let bad = Checkup.PeerReading(subject: "apps[0].upstream", place: "https://push.example", failure: "refused")
        let finding = Checkup.finding(of: bad)
        #expect(
            finding.verdict == .fault && finding.sentence.contains("https://push.example cannot be reached: refused; ")
        )
    }
}
