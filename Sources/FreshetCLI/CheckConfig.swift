import APNSWire
import ArgumentParser
import Foundation
import Gateway
import Partitions
import Settings
import WidgetModel

/// Where the configuration comes from.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: [.customLong("config"), .customShort("c")], help: "The configuration, a YAML file.")
    var file = "freshet.yaml"
    @Option(
        name: .customLong("set"),
        help: """
            Override a setting, as in --set listeners.push.port=0; may be given several times. A relative path is \
            relative to the working directory, not to the file's folder.
            """
    )
    var settings: [String] = []

    /// The configuration as it is now.
    func read() throws -> GatewayConfiguration { try self.parse().configuration }

    /// The configuration as it is now, and the files that it names.
    func parse() throws -> ConfigurationFile.Parsed {
        let options = try self.settings.map { setting in
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw ValidationError("--set takes key=value, not \"\(setting)\"") }
            return (path: String(parts[0]), text: String(parts[1]))
        }
        return try ConfigurationFile.read(
            path: self.file,
            environment: ProcessInfo.processInfo.environment,
            options: options
        )
    }

    /// The configuration to start with, or every fault of it and of the files that it names on standard error, and exit code 78
    /// (EX_CONFIG).
    func load() throws -> GatewayConfiguration {
        do {
            let parsed = try self.parse()
            let faults = ConfigurationCheck(parsed, now: LogClock.wallTime()).faults
            guard faults.isEmpty else { throw SettingsError(faults) }
            return parsed.configuration
        } catch let error as ValidationError {
            throw error
        } catch {
            Output.standardError("\(error)")
            throw ExitCode(78)
        }
    }
}

/// `freshet check-config`
struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check a configuration file, and print each fault with its line.",
        discussion: """
            It also reads the keys and certificates that the file names, and checks that each key fits its \
            certificate and that each certificate is valid now. A warning is a probable mistake that does not stop the \
            gateway: a certificate that ends within 14 days, a key that others can read, no team, no app.

              freshet check-config --config /etc/freshet/freshet.yaml --live

            Exit codes: 0 good, also with warnings; 78 the file has faults.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print the effective configuration.") var show = false
    @Flag(help: "Print the faults and warnings as JSON, with --show beside the effective configuration.")
    var json = false
    @Flag(
        help:
            "Also check that the ports are free and that the data directory can be written to: for use before a start."
    )
    var live = false

    func run() async throws {
        let parsed: ConfigurationFile.Parsed
        do {
            parsed = try self.options.parse()
        } catch let faults as SettingsError {
            throw self.refuse(faults.faults, [])
        }
        let check = ConfigurationCheck(parsed, now: LogClock.wallTime())
        var faults = check.faults
        if self.live { faults += await LiveCheck.faults(of: parsed) }
        guard faults.isEmpty else { throw self.refuse(faults, check.warnings) }
        if self.json {
            return self.printJSON(
                [],
                check.warnings,
                self.show ? ConfigurationFile.json(of: parsed.configuration) : nil
            )
        }
        self.warn(check.warnings)
        print(self.show ? ConfigurationFile.text(of: parsed.configuration) : "\(self.options.file): good")
    }

    private func refuse(_ faults: [SettingFault], _ warnings: [SettingFault]) -> ExitCode {
        if self.json {
            self.printJSON(faults, warnings, nil)
        } else {
            Output.standardError("\(SettingsError(faults))")
            self.warn(warnings)
        }
        return ExitCode(78)
    }

    private func printJSON(_ faults: [SettingFault], _ warnings: [SettingFault], _ configuration: JSONValue?) {
        let found = JSONValue.object(of: [
            ("faults", .array(faults.map(\.json))), ("warnings", .array(warnings.map(\.json))),
            ("configuration", configuration),
        ])
        print(String(decoding: found.jsonText, as: UTF8.self))
    }

    private func warn(_ warnings: [SettingFault]) {
        for warning in warnings { Output.standardError("warning: \(warning)") }
    }
}

/// The checks of a configuration that only this machine can make.
private enum LiveCheck {
    static func faults(of parsed: ConfigurationFile.Parsed) async -> [SettingFault] {
        let configuration = parsed.configuration
        let directory = MachineReading.directory(configuration, triesFlush: false)
        let findings =
            await MachineReading.ports(configuration).map { Checkup.finding(of: $0) }
            + Checkup.findings(of: directory, configuration.storage)
        return findings.filter { $0.verdict == .fault }.map { finding in
            let place = parsed.files.first { $0.key == finding.subject }?.place ?? .nowhere
            return SettingFault(place: place, path: finding.subject, sentence: finding.sentence)
        }
    }
}

/// `freshet default-config`
struct DefaultConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default-config",
        abstract: "Print the defaults as a configuration file.",
        discussion: """
              freshet default-config > freshet.yaml
            """
    )

    func run() {
        print(ConfigurationFile.defaultText)
    }
}
