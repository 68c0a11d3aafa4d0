import Foundation
import FreshetClient

/// A scoreboard and the back end that it belongs to:
///
///     Scoreboard show TEAM    a host with one widget: draws it at every reload
///     Scoreboard goal TEAM    a sender: pushes a new score, and prints the push's outcome
///
/// Settings: APP; of the host HOSTS (the host listener), TOKEN (its push token, hex) and CREDENTIAL; of the sender PUSHES (the push
/// listener) and PROVIDER_TOKEN.
@main struct Scoreboard {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        switch (words.first, words.dropFirst().first) {
        case ("show", let team?): try await self.show(team)
        case ("goal", let team?): try await self.goal(team)
        default: throw Missing(description: "say show TEAM or goal TEAM")
        }
    }

    static func show(_ team: String) async throws {
        let listener = Endpoint(try self.url("HOSTS"), token: .fixed(try self.setting("CREDENTIAL")))
        let host = WidgetHost(app: try self.setting("APP"), token: try self.setting("TOKEN"), at: listener)
        let board = WidgetInstance(
            id: "board",
            kind: "scores",
            family: .systemMedium,
            configuration: ["team": .string(team)]
        )
        try await host.register(Registration(instances: [board]))
        for try await event in host.events() {
            guard case .reload(let reload) = event else { continue }
            self.say("draws \(team) because of \(reload.causes.joined(separator: ", "))")
            // The timeline acknowledges the reload. The contents of its entries stay here.
            let timeline = ReportedTimeline(of: reload.id, policy: .never, entries: [ReportedEntry(date: .now)])
            for finding in try await host.report(timeline, for: reload.instance) { self.say(finding.message) }
        }
    }

    static func goal(_ team: String) async throws {
        let token = try self.setting("PROVIDER_TOKEN")
        // A back end signs a new token here, with the provider key. Use each for 40 minutes; it is valid for an hour.
        let listener = Endpoint(try self.url("PUSHES"), token: .renewing { token })
        let sender = Sender(app: try self.setting("APP"), at: listener)
        let fans = Target.kind("scores", matching: ["team": .equals(team)])
        let push = Push(priority: .immediate, collapseID: "score-\(team)")
        self.say("accepted \(try await sender.push(push, to: fans).id)")
        for try await status in sender.progress(of: push.id) {
            let outcomes = status.outcomes.map { "\($0.value) \($0.key.rawValue)" }.sorted()
            self.say("matched \(status.matched): \(outcomes.joined(separator: ", "))")
        }
    }

    static func setting(_ name: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name] else {
            throw Missing(description: "\(name) is not set")
        }
        return value
    }

    static func url(_ name: String) throws -> URL {
        guard let url = URL(string: try self.setting(name)) else { throw Missing(description: "\(name) is no address") }
        return url
    }

    /// Prints at once, even into a pipe.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
