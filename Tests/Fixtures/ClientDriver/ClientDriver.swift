import Foundation
import FreshetClient
import Synchronization

/// Drives every operation that senders and hosts have, with FreshetClient over `URLSession`.
///
/// It is a program of its own, since URLSession trusts the system's authorities, and a test can let a process see another system. It ends
/// with a line of JSON: the requests that it made, and the faults that it found.
@main struct ClientDriver {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        var told: [String: String] = [:]
        for index in stride(from: 0, to: words.count - 1, by: 2) { told[words[index]] = words[index + 1] }
        let drive = try Drive(told)
        try await drive.hosts()
        try await drive.backEnd()
        try await drive.gallery()
        try await drive.pushes()
        try await drive.channels()
        try await drive.end()
        print(String(decoding: try JSONEncoder().encode(drive.report), as: UTF8.self))
    }
}

/// The driver's final report.
struct DriveReport: Encodable {
    /// `GET /v1/hosts/ff/state` and the like.
    var requests: [String] = []
    var wrong: [String] = []
}

/// URLSession, with a record of the requests through it.
final class RecordingTransport: FreshetTransport {
    private let made = Mutex<[String]>([])

    var requests: [String] { self.made.withLock { $0 } }

    func answer(to request: TransportRequest) async throws -> TransportAnswer {
        self.made.withLock { $0.append("\(request.method) \(request.url.path)") }
        return try await URLSessionTransport.shared.answer(to: request)
    }
}

/// One run through all operations.
final class Drive {
    private struct Missing: Error {
        let option: String
    }

    private let transport = RecordingTransport()
    private let sender: Sender
    private let backEnd: BackEnd
    private let host: WidgetHost
    /// Of an app whose kind `panel` has a timeline provider that is away, and a sample.
    private let provided: BackEnd
    private var wrong: [String] = []

    var report: DriveReport { DriveReport(requests: self.transport.requests, wrong: self.wrong) }

    init(_ told: [String: String]) throws {
        let option = { (name: String) throws -> String in
            guard let value = told[name] else { throw Missing(option: name) }
            return value
        }
        let endpoint = { [transport] (name: String, token: String) throws -> Endpoint in
            guard let url = URL(string: try option(name)) else { throw Missing(option: name) }
            return Endpoint(url, token: .fixed(token), transport: transport)
        }
        let (app, token) = (try option("--app"), try option("--push-token"))
        let provider = try option("--provider-token")
        self.sender = Sender(app: app, at: try endpoint("--push", provider))
        self.backEnd = BackEnd(app: app, at: try endpoint("--host", provider))
        self.provided = BackEnd(app: try option("--provided"), at: try endpoint("--host", provider))
        self.host = WidgetHost(app: app, token: token, at: try endpoint("--host", try option("--credential")))
    }

    private func expect<Value: Equatable>(
        _ value: Value,
        _ expected: Value,
        _ what: String,
        line: UInt = #line
    ) {
        if value != expected { self.wrong.append("line \(line): \(what): \(value), not \(expected)") }
    }

    /// Expects a refusal.
    private func expectRefusal(_ code: String, line: UInt = #line, _ body: () async throws -> Void) async {
        do {
            try await body()
            self.wrong.append("line \(line): no \(code)")
        } catch FreshetError.refused(let refusal) where refusal.code == code {
        } catch {
            self.wrong.append("line \(line): \(error), not \(code)")
        }
    }

    private static func widget(_ id: String, _ team: String, tags: [String] = ["beta"]) -> WidgetInstance {
        WidgetInstance(
            id: id,
            kind: "scores",
            family: .systemSmall,
            configuration: ["team": .string(team)],
            tags: tags,
            when: ["health": .exists(false)]
        )
    }

    private static let registration = Registration(
        revision: 1,
        delivery: .stream,
        lease: 604_800,
        context: HostContext(
            displaySize: HostContext.Size(width: 170, height: 170.5),
            locale: "en-US",
            timeZone: "Europe/Berlin",
            environmentVariants: ["colorScheme": ["light", "dark"]]
        ),
        instances: [Drive.widget("scores-1", "seahawks"), Drive.widget("scores-2", "rams")]
    )

    func hosts() async throws {
        let registered = try await self.host.register(Self.registration)
        self.expect(registered.added, 2, "widgets added")
        let description = try await self.host.description()
        self.expect(description.revision, 1, "the revision")
        self.expect(description.instances, Self.registration.instances.map(Self.withDefaults), "the widgets")

        var reloads: [Reload] = []
        for try await event in self.host.events() {
            if case .reload(let reload) = event { reloads.append(reload) }
            if reloads.count == 2 { break }
        }
        let state = try await self.host.state()
        self.expect(Set(state.outstanding.map(\.id)), Set(reloads.map(\.id)), "the reloads that are out")
        self.expect(Set(reloads.flatMap(\.causes)), ["added"], "why they are out")
        self.expect(try await self.host.acknowledge(reloads[0].id), true, "the first acknowledgement")
        self.expect(try await self.host.acknowledge(reloads[0].id), false, "the second")
        try await self.host.send([
            .appForeground, .appBackground, .start(.media), .end(.media), .widgetVisible("scores-1"),
            .widgetHidden("scores-1"), .standBy(true), .standBy(false), .lowPower(true), .lowPower(false),
            .animation("scores-1"), .significantLocationChange, .reloadedByItself(instance: "scores-1"),
        ])
        let timeline = ReportedTimeline(
            of: reloads[1].id,
            digest: "v1",
            policy: .after(Date(timeIntervalSinceNow: 86_400)),
            entries: [ReportedEntry(date: .now, relevance: Relevance(score: 1.5, duration: 60))],
            contentBytes: 1
        )
        self.expect(try await self.host.report(timeline, for: reloads[1].instance), [], "findings")
        let stack = try await self.host.stack(at: Date(timeIntervalSinceNow: 1))
        self.expect(Set(stack.widgets.map(\.instance)), ["scores-1", "scores-2"], "the stack")
        self.expect(try await self.host.suggestions(limit: 5).suggestions, [], "suggestions")
        await self.expectRefusal("stale-revision") {
            try await self.host.register(Registration(revision: 0, instances: []))
        }
    }

    /// A configuration as the gateway completes it.
    private static func withDefaults(_ widget: WidgetInstance) -> WidgetInstance {
        var widget = widget
        widget.configuration["league"] = widget.configuration["league"] ?? "nfl"
        return widget
    }

    func backEnd() async throws {
        let other = ExportedHost(token: String(repeating: "0", count: 63) + "2", registration: Self.registration)
        let imported = try await self.backEnd.importHosts([
            other, ExportedHost(token: "no hex", registration: Self.registration),
        ])
        self.expect(imported.map(\.status), [200, 400], "the import's lines")
        self.expect(imported.map { $0.problem?.code }, [nil, "bad-request"], "the import's problems")

        var tokens: [String] = []
        var place: String?
        repeat {
            let page = try await self.backEnd.exportHosts(from: place, limit: 1)
            tokens += page.hosts.map(\.token)
            place = page.next
        } while place != nil
        self.expect(Set(tokens), [self.host.token, other.token], "the export")

        var found: [String] = []
        repeat {
            let page = try await self.backEnd.widgets(
                .kind("scores", matching: ["team": ["rams"]]),
                from: place,
                limit: 1
            )
            found += page.widgets.map(\.widget.id)
            place = page.next
        } while place != nil
        self.expect(found, ["scores-2", "scores-2"], "the widgets of the Rams")

        self.expect(try await self.backEnd.reload(.kind("scores", matching: ["team": "rams"])), 2, "reloads")
        self.expect(try await self.backEnd.reload(.all, areControls: true), 0, "reloads of controls")
        _ = try await self.backEnd.invalidateRelevance(of: "scores")
        self.expect(try await self.backEnd.invalidateRecommendations(), 2, "kinds")
        for try await event in self.backEnd.events() {
            guard case .reload(let reload) = event else { continue }
            self.expect(try await self.backEnd.acknowledge([reload.id, "0-1-999-00000000"]), 1, "acknowledgements")
            break
        }
    }

    func gallery() async throws {
        let host = self.provided.host(self.host.token)
        self.expect(try await host.placeholder(of: "panel", family: .systemSmall).isSample, true, "the placeholder")
        let snapshot = try await host.snapshot(of: "panel", configuration: [:], isPreview: true)
        self.expect(snapshot.entry["text"], "nothing yet", "the snapshot")
        for question in [host.recommendations, host.relevance] {
            do {
                self.expect(try await question("panel"), [], "what a provider says that is away")
            } catch FreshetError.refused(let refusal) {
                self.expect(refusal.status, 503, "\(refusal)")
            }
        }
        let entries = [ContentEntry(date: .now, content: ["us": 14])]
        let answers = [
            TimelineAnswer(id: "0-1-999-00000000", timeline: ProvidedTimeline(policy: .never, entries: entries)),
            TimelineAnswer(id: "0-1-998-00000000", error: "no such game"),
        ]
        self.expect(try await self.provided.callBack(answers, for: "panel"), 0, "timelines that were waited for")
    }

    func pushes() async throws {
        let receipt = try await self.sender.push(Push(priority: .immediate), toDevice: self.host.token)
        self.expect(receipt.attempts, 1, "attempts")
        await self.expectRefusal("BadDeviceToken") { try await self.sender.push(toDevice: "ff") }
        let rams = Target.kind("scores", matching: ["team": ["rams"]])
        self.expect(try await self.sender.dryRun(to: rams).matched, 2, "a dry run's matches")
        await self.expectRefusal("too-many-matched") { try await self.sender.push(Push(maxMatched: 1), to: .all) }

        let waits = Push(expiration: .at(Date(timeIntervalSinceNow: 3_600)), notBefore: Date(timeIntervalSinceNow: 600))
        try await self.sender.push(waits, to: rams)
        for try await status in self.sender.progress(of: waits.id) {
            if status.outcomes == [.deferred: 2] { try await self.sender.cancel(waits.id) }
            if status.isComplete { self.expect(status.outcomes, [.cancelled: 2], "what became of it") }
        }
        self.expect(try await self.sender.status(of: waits.id).isComplete, true, "whether it is complete")

        let bulk = [AddressedPush(to: rams), AddressedPush(Push(maxMatched: 1), to: .all)]
        let results = try await self.sender.push(bulk)
        self.expect(try results.first?.get().id, bulk[0].push.id, "the first push of a bulk")
        await self.expectRefusal("too-many-matched") { _ = try results.last?.get() }
    }

    func channels() async throws {
        let channel = Channel(storage: .latest, target: .kind("scores"))
        let id = try await self.sender.create(channel)
        self.expect(try await self.sender.channel(id), channel, "the channel")
        self.expect(try await self.sender.channels(), [id], "the channels")
        let receipt = try await self.sender.broadcast(Push(priority: .powerAware), on: id)
        for try await status in self.sender.progress(of: receipt.id) where status.appliedBy == status.partitions {
            self.expect(status.matched, 4, "whom the broadcast reached")
            break
        }
        try await self.sender.deleteChannel(id)
        await self.expectRefusal("ChannelNotRegistered") { _ = try await self.sender.channel(id) }
    }

    func end() async throws {
        try await self.host.remove()
        await self.expectRefusal("gone") { _ = try await self.host.state() }
    }
}
