import APNSWire
import ArgumentParser
import FoundationEssentials
import Gateway

/// Where the configuration comes from.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: [.customLong("config"), .customShort("c")], help: "The configuration, a YAML file.")
    var file = "freshet.yaml"
    @Option(
        name: .customLong("set"),
        help: "Override a setting, as in --set listeners.push.port=0; may be given several times."
    )
    var settings: [String] = []

    /// The configuration as it is now.
    func read() throws -> GatewayConfiguration {
        let options = try self.settings.map { setting in
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw ValidationError("--set takes key=value, not \"\(setting)\"") }
            return (path: String(parts[0]), text: String(parts[1]))
        }
        return try ConfigurationFile.load(
            path: self.file,
            environment: ProcessInfo.processInfo.environment,
            options: options
        )
    }

    /// The configuration, or every fault of it on standard error and exit code 78 (EX_CONFIG).
    func load() throws -> GatewayConfiguration {
        do {
            return try self.read()
        } catch let error as ValidationError {
            throw error
        } catch {
            Output.standardError("\(error)")
            throw ExitCode(78)
        }
    }
}

/// `freshet check-config`
struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check a configuration file; every fault is told with its line.",
        discussion: "Also reads the keys and certificates that it names. Exit code 78 if anything is wrong."
    )

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print the effective configuration.") var show = false
    @Flag(help: "Print the effective configuration as JSON.") var json = false

    func run() throws {
        let configuration = try self.options.load()
        do {
            try GatewayCheck.files(of: configuration)
        } catch {
            Output.standardError("\(error)")
            throw ExitCode(78)
        }
        if self.json {
            print(String(decoding: ConfigurationFile.json(of: configuration).jsonText, as: UTF8.self))
            return
        }
        print(self.show ? ConfigurationFile.text(of: configuration) : "\(self.options.file): good")
    }
}

/// `freshet default-config`
struct DefaultConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default-config",
        abstract: "Print the defaults as a configuration file."
    )

    func run() {
        print(ConfigurationFile.defaultText)
    }
}
