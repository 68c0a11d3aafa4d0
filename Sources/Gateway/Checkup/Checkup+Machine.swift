package import Journaling
import Partitions
package import Serving
package import Settings
package import WidgetModel

extension Checkup {
    /// A process by its number and its program's name.
    package struct RunningProcess: Hashable, Sendable {
        package let id: Int
        package let name: String

        package init(id: Int, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// A port that a listener is to have.
    package struct PortReading: Hashable, Sendable {
        /// The listener's name in the configuration.
        package let listener: String
        package let address: String
        package let port: Int
        /// Why it cannot be listened on, in words; nil if it can.
        package let refusal: String?
        /// The process that listens there, as far as the system tells.
        package let holder: RunningProcess?

        package init(listener: String, address: String, port: Int, refusal: String?, holder: RunningProcess?) {
            self.listener = listener
            self.address = address
            self.port = port
            self.refusal = refusal
            self.holder = holder
        }
    }

    /// Judges a port.
    ///
    /// - Parameter owner: The process that has the data directory: the gateway itself, where that runs. Nil for a look before a
    ///   start.
    package static func finding(of reading: PortReading, owner: Int? = nil) -> CheckupFinding {
        let subject = "listeners.\(reading.listener).port"
        let place = "\(reading.address):\(reading.port)"
        guard let refusal = reading.refusal else { return CheckupFinding(subject, .good, "\(place) is free") }
        guard let holder = reading.holder else {
            let sentence = "the gateway cannot listen on \(place): \(refusal); free the port, or choose another"
            return CheckupFinding(subject, .fault, sentence)
        }
        if holder.id == owner {
            return CheckupFinding(subject, .good, "this gateway listens on \(place) (process \(holder.id))")
        }
        let sentence =
            "the gateway cannot listen on \(place): \(refusal) (\(holder.name), process \(holder.id)); end that process, or choose another port"
        return CheckupFinding(subject, .fault, sentence)
    }

    /// Judges how many files and connections the process may have open; nil for a limit that the system does not tell.
    package static func finding(
        of limit: DescriptorLimit?,
        _ configuration: GatewayConfiguration
    ) -> CheckupFinding {
        let subject = "descriptors"
        guard let limit else { return CheckupFinding(subject, .good, "the system reports no limit") }
        guard let max = limit.max else { return CheckupFinding(subject, .good, "there is no limit") }
        if max < DescriptorLimit.reserve {
            let sentence =
                "the process may open \(max) files, and needs \(DescriptorLimit.reserve) for itself; raise the limit "
                + "(LimitNOFILE, ulimit -n)"
            return CheckupFinding(subject, .fault, sentence)
        }
        if let warning = limit.warning(of: configuration) { return CheckupFinding(subject, .warning, warning) }
        return CheckupFinding(subject, .good, "the process may open \(max) files")
    }

    /// The reading of the data directory.
    package struct DirectoryReading: Hashable, Sendable {
        package let path: String
        /// The nearest folder above it that there is, links followed, or itself.
        package let existing: String
        package let isFolder: Bool
        package let isWritable: Bool
        /// Its permissions; nil where it is not there yet.
        package var mode: Int?
        /// Nil where it is not there yet.
        package var sizes: StorageSizes?
        /// How long one write took to come to the disk; nil where none was tried.
        package var flush: Duration?

        package init(path: String, existing: String, isFolder: Bool, isWritable: Bool) {
            self.path = path
            self.existing = existing
            self.isFolder = isFolder
            self.isWritable = isWritable
        }
    }

    /// A flush that takes so long is warned of: a push is answered after one.
    package static let flushMax = Duration.milliseconds(50)

    /// Judges the data directory: whether the log can be there, whether others can read it, its room and its disk.
    package static func findings(of reading: DirectoryReading, _ settings: StorageBudget.Settings) -> [CheckupFinding] {
        let subject = "dataDirectory"
        if let reason = self.refusal(of: reading) {
            return [CheckupFinding(subject, .fault, "\(reading.path) \(reason)")]
        }
        guard let mode = reading.mode else {
            return [CheckupFinding(subject, .good, "\(reading.path) does not exist yet; the first start makes it")]
        }
        var findings: [CheckupFinding] = []
        if mode & 0o007 != 0 {
            let sentence = "every user of this machine can read \(reading.path); run chmod 700"
            findings.append(CheckupFinding(subject, .warning, sentence))
        } else {
            findings.append(CheckupFinding(subject, .good, "\(reading.path) can be written to"))
        }
        if let sizes = reading.sizes { findings.append(self.finding(of: StorageBudget(settings, sizes))) }
        if let flush = reading.flush { findings.append(self.finding(ofFlush: flush)) }
        return findings
    }

    /// Why the log cannot be in a directory; nil if it can.
    private static func refusal(of reading: DirectoryReading) -> String? {
        if reading.isFolder, reading.isWritable { return nil }
        let isThere = reading.existing == reading.path
        if !reading.isFolder {
            return isThere
                ? "is not a folder; give another path"
                : "cannot be made: \(reading.existing) is not a folder; give another path"
        }
        let remedy = "run this as the gateway's user, or chown it"
        return isThere
            ? "cannot be written by this user; \(remedy)"
            : "cannot be made: this user may not write to \(reading.existing); make the folder, owned by the gateway's user"
    }

    private static func finding(of budget: StorageBudget) -> CheckupFinding {
        let left = "\(budget.left(for: .traffic) / 1_048_576) MiB are left"
        let remedy = "free some space on its file system, or move dataDirectory to a larger one"
        return switch budget.level {
        case .ample: CheckupFinding("storage", .good, left)
        case .filling, .tight: CheckupFinding("storage", .warning, "\(left) until pushes are refused; \(remedy)")
        case .full, .exhausted: CheckupFinding("storage", .fault, "the disk is full, and pushes are refused; \(remedy)")
        }
    }

    private static func finding(ofFlush time: Duration) -> CheckupFinding {
        let (seconds, attoseconds) = time.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let sentence = "one write took \(microseconds / 1000).\(microseconds % 1000 / 100) ms to reach the disk"
        guard time >= self.flushMax else { return CheckupFinding("flush", .good, sentence) }
        return CheckupFinding(
            "flush",
            .warning,
            "\(sentence), and each push waits for one write; move dataDirectory to a faster disk"
        )
    }

    /// The reading of the clocks.
    package struct ClockReading: Hashable, Sendable {
        package let wall: Instant
        /// Whether the system keeps it right by others; nil where it does not tell.
        package let isSynchronised: Bool?
        /// The time of the log's newest entry; nil without a log.
        package let newestEntry: Instant?

        package init(wall: Instant, isSynchronised: Bool?, newestEntry: Instant? = nil) {
            self.wall = wall
            self.isSynchronised = isSynchronised
            self.newestEntry = newestEntry
        }
    }

    /// From when to when a clock may be right: 2026 up to 2100.
    package static let years = Instant(seconds: 1_767_225_600)..<Instant(seconds: 4_102_444_800)

    /// Judges the wall clock, by which certificates and tokens are judged and the log is stamped.
    package static func finding(of reading: ClockReading) -> CheckupFinding {
        let subject = "clock"
        let text = "it is \(ServerCertificates.text(reading.wall))"
        guard self.years.contains(reading.wall) else {
            return CheckupFinding(subject, .fault, "\(text), which cannot be right; set the clock")
        }
        if let newest = reading.newestEntry, newest - reading.wall > LogClock.stepMax {
            let sentence =
                "\(text), and the log's newest entry is of \(ServerCertificates.text(newest)); set the clock, or wait until then"
            return CheckupFinding(subject, .fault, sentence)
        }
        guard reading.isSynchronised != false else {
            let sentence = "\(text), and no time service sets the clock; run one (chrony, systemd-timesyncd)"
            return CheckupFinding(subject, .warning, sentence)
        }
        return CheckupFinding(
            subject,
            .good,
            "\(text)\(reading.isSynchronised == true ? ", and a time service sets the clock" : "")"
        )
    }

    /// A server that the gateway sends to or asks.
    package struct PeerReading: Hashable, Sendable {
        /// The key that names it.
        package let subject: String
        /// As in `https://push.example:2197`.
        package let place: String
        /// Why there is no connection; nil if there is one.
        package let failure: String?

        package init(subject: String, place: String, failure: String?) {
            self.subject = subject
            self.place = place
            self.failure = failure
        }
    }

    /// Judges whether a server can be reached.
    package static func finding(of reading: PeerReading) -> CheckupFinding {
        guard let failure = reading.failure else {
            return CheckupFinding(reading.subject, .good, "\(reading.place) can be reached")
        }
        let sentence =
            "\(reading.place) cannot be reached: \(failure); check its address, its certificate and the firewall"
        return CheckupFinding(reading.subject, .fault, sentence)
    }
}
