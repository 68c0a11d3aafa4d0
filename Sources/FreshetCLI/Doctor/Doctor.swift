import APNSWire
import ArgumentParser
import Gateway
import JournalSQLite
import Journaling
import Partitions
import Serving
import Settings
import WidgetModel

/// `freshet doctor`
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a gateway and its machine for common faults, and give a remedy for each.",
        discussion: """
            It checks the configuration and the files that it names, the ports, the data directory, its free space, the \
            time of a flush, the limit of open files and the clock. It connects to all brokers, upstreams, webhooks, \
            receivers of receipts and timeline providers. You can run it while the gateway runs. Run it as the gateway's user.

              freshet doctor --config /etc/freshet/freshet.yaml

            Exit codes: 0 good, also with warnings; 78 a fault must be mended.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The timeout of a connection to an upstream, a webhook or a timeline provider, 1 to 60 seconds.")
    var seconds = 5
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...60).contains(self.seconds) else { throw ValidationError("--seconds takes 1 to 60") }
    }

    func run() async throws {
        let findings: [CheckupFinding]
        do {
            findings = await self.findings(try self.options.parse())
        } catch let faults as SettingsError {
            findings = Checkup.findings(of: faults.faults, .fault)
        }
        let worst = findings.map(\.verdict).max() ?? .good
        if self.json {
            let found = JSONValue.object(of: [
                ("verdict", .string(worst.rawValue)), ("findings", .array(findings.map(\.json))),
            ])
            print(String(decoding: found.jsonText, as: UTF8.self))
        } else {
            for finding in findings {
                let verdict = finding.verdict.rawValue
                let gap = String(repeating: " ", count: max(1, 9 - verdict.count))
                print("\(verdict)\(gap)\(finding.subject): \(finding.sentence)")
            }
        }
        if worst == .fault { throw ExitCode(78) }
    }

    private static func finding(ofBrokers fault: JournalError?) -> CheckupFinding {
        let subject = "journal.jetstream"
        guard let fault else {
            return CheckupFinding(subject, .good, "the brokers answer, and write every message to the disk")
        }
        return CheckupFinding(subject, .fault, fault.message)
    }

    private func findings(_ parsed: ConfigurationFile.Parsed) async -> [CheckupFinding] {
        let configuration = parsed.configuration
        let check = ConfigurationCheck(parsed, now: LogClock.wallTime())
        var findings = Checkup.findings(of: check, configuration)
        let owner = LogDirectory.lastOwner(of: configuration.dataDirectory)
        findings += await MachineReading.ports(configuration).map { Checkup.finding(of: $0, owner: owner) }
        let isLogHere = configuration.journal.jetStream == nil
        findings += Checkup.findings(
            of: MachineReading.directory(configuration, triesFlush: isLogHere),
            configuration.storage
        )
        if !isLogHere { findings.append(Self.finding(ofBrokers: ChosenJournal.fault(of: configuration))) }
        // As the gateway itself does at its start.
        DescriptorLimit.raise()
        findings.append(Checkup.finding(of: DescriptorLimit.current, configuration))
        findings.append(Checkup.finding(of: MachineReading.clock(configuration)))
        // A file that cannot be read is among the check's faults.
        if let peers = try? PeerReading(configuration, seconds: self.seconds) {
            findings += await peers.run().map { Checkup.finding(of: $0) }
        }
        return findings
    }
}
