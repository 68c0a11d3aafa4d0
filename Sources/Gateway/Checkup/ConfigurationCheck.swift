import Delivery
import FoundationEssentials
import OperatorAPI
import Serving
package import Settings
import TLS
package import WidgetModel

/// The faults that keep a configuration from working, now or soon, beyond those of its text: certificates that have ended, keys and
/// certificates that do not go together, keys that others can read. Reads the files that it names, as a start would, and opens nothing.
package struct ConfigurationCheck: Sendable {
    /// The faults, which must be mended.
    package private(set) var faults: [SettingFault] = []
    /// The settings that work, and are hardly meant.
    package private(set) var warnings: [SettingFault] = []
    private let files: [ConfigurationFile.NamedFile]

    /// - Parameters:
    ///   - parsed: As ``ConfigurationFile/read(path:environment:options:)`` gives it.
    ///   - now: Wall time, which certificates are judged by.
    package init(_ parsed: ConfigurationFile.Parsed, now: Instant) {
        self.files = parsed.files.filter(\.isNeeded)
        self.checkThatFilesGoTogether(parsed.configuration)
        for file in self.files {
            if file.purpose == .certificates, !Self.authorities.contains(where: { file.key.hasSuffix($0) }) {
                self.checkDates(file, now)
            }
            self.checkMode(file)
        }
        self.checkReaders(parsed.configuration)
        if parsed.configuration.teams.isEmpty { self.warn("teams", "there is none, so no back end can push") }
        if parsed.configuration.apps.isEmpty {
            self.warn("apps", "there is none, so no host can register")
        }
    }

    /// Keys of certificates that others are believed by: bundles of them may hold some that have ended.
    private static let authorities = [".ca", ".clientCA"]

    // MARK: Certificates

    private mutating func checkThatFilesGoTogether(_ configuration: GatewayConfiguration) {
        let listeners = configuration.listeners.opened
        var seen: Set<String> = []
        for (name, listener) in [
            ("push", listeners.push), ("manage", listeners.manage), ("host", listeners.host), ("ops", listeners.ops),
        ] where listener.isEnabled {
            let key = listener.tls == nil ? "tls" : "listeners.\(name).tls"
            guard seen.insert(key).inserted else { continue }
            do throws(TLSError) {
                _ = try TLSContext.server(configuration, listener)
            } catch {
                self.add(error, or: "\(key).key")
            }
        }
        do {
            _ = try SenderDirectory(configuration)
        } catch {
            self.add(error, or: "teams")
        }
        do {
            _ = try DeliveryPlans(configuration)
        } catch {
            self.add(error, or: "apps")
        }
    }

    /// A fault of files, at the key of the one that it names; else at another key.
    private mutating func add(_ error: any Error, or key: String) {
        let sentence = "\(error)"
        let named = self.files.first { sentence.contains($0.path) }
        self.faults.append(self.fault(named?.key ?? key, sentence))
    }

    private mutating func checkDates(_ file: ConfigurationFile.NamedFile, _ now: Instant) {
        // One that cannot be read is told of where it is used.
        guard let certificate = try? PeerCertificate(unverified: .file(file.path)) else { return }
        let (from, until) = (
            Instant(seconds: certificate.notBeforeSeconds), Instant(seconds: certificate.notAfterSeconds)
        )
        if now < from {
            let sentence =
                "\(file.path) is not valid before \(ServerCertificates.text(from)); check this machine's clock"
            self.faults.append(self.fault(file.key, sentence))
        } else if now >= until {
            let sentence = "\(file.path) expired at \(ServerCertificates.text(until)); replace it with a newer one"
            self.faults.append(self.fault(file.key, sentence))
        } else if now >= until - ServerCertificates.warning {
            self.warn(
                file.key,
                "\(file.path) expires at \(ServerCertificates.text(until)); replace it with a newer one"
            )
        }
    }

    // MARK: Keys that read

    private mutating func checkReaders(_ configuration: GatewayConfiguration) {
        guard !configuration.listeners.ops.isEnabled else { return }
        for (place, team) in configuration.teams.enumerated() {
            for (index, key) in team.keys.enumerated() where key.reads {
                let sentence = "opens nothing: the listener that it opens is off (listeners.ops.enabled)"
                self.warn("teams[\(place)].keys[\(index)].reads", sentence)
            }
        }
    }

    // MARK: Modes

    private mutating func checkMode(_ file: ConfigurationFile.NamedFile) {
        let isSecret: Bool
        switch file.purpose {
        case .privateKey, .secret, .operatorTokens, .bearerToken, .brokerSecret: isSecret = true
        case .providerKey:
            let text = (try? String(contentsOfFile: file.path, encoding: .utf8)) ?? ""
            isSecret = text.contains("PRIVATE KEY-----")
        case .certificates, .revocationList, .folder: isSecret = false
        }
        guard isSecret, let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
            let mode = OperatorTokenFile.number(attributes[.posixPermissions]), mode & 0o007 != 0
        else { return }
        self.warn(
            file.key,
            "\(file.path) is a secret, and every user of this machine can read it; run chmod 640 or 600"
        )
    }

    // MARK: Places

    private mutating func warn(_ key: String, _ sentence: String) {
        self.warnings.append(self.fault(key, sentence))
    }

    private func fault(_ key: String, _ sentence: String) -> SettingFault {
        SettingFault(place: self.files.first { $0.key == key }?.place ?? .nowhere, path: key, sentence: sentence)
    }
}
