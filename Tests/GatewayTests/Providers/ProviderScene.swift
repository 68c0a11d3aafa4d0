import APNSWire
import Delivery
import Engine
import HTTPTransport
import IntentMatching
import Journaling
import Partitions
import Serving
import Settings
import Synchronization
import TestSupport
import Testing
import TimelineProviding
import TransportSupport
import WidgetModel

/// A fetcher of the scores kind over an in-memory log, and a provider that says what a test wants.
final class ProviderScene: Sendable {
    static let key = KindKey(app: Sports.app, kind: Sports.scores.kind)

    let scene: OwnerScene
    let contents: ContentStore
    let archive: any RecordArchive
    let states = KindStates()
    let log = RecordedLog()
    let fetcher: TimelineFetcher
    let providers: TimelineProviders
    private let world: World

    /// The provider's requests and answers, and what was announced.
    private final class World: Sendable {
        let asked = Mutex<[JSONValue]>([])
        let findings = Mutex<[String?]>([])
        let announced = Mutex<[Announcement]>([])
        /// How it was asked for the placeholders of new widgets.
        let askedForPlaceholders = Mutex<[JSONValue]>([])
        let placeholder = Mutex<@Sendable () async throws -> HTTPClientResponse>({
            ProviderScene.response(404, "")
        })
        let reply = Mutex<@Sendable (JSONValue) throws -> HTTPClientResponse>({ ProviderScene.answer($0) })
    }

    init(
        _ scene: OwnerScene,
        archive: any RecordArchive = MemoryArchive(),
        keys: [KindKey] = [key],
        galleryAge: Interval = .hours(1),
        clock: LogClock? = nil,
        _ change: (inout FetchLimits) -> Void = { _ in }
    ) throws {
        let world = World()
        let clock = clock ?? scene.time.makeClock()
        let logger = self.log.logger
        let contents = ContentStore(archive: archive, bytesMax: 1_000_000, logger: logger)
        try contents.load(at: clock.now())
        var limits = FetchLimits()
        change(&limits)
        let connection = ProviderConnection(
            url: ProviderURL(isSecure: false, host: "127.0.0.1", port: 1, path: "/"),
            token: "secret",
            timeout: .seconds(10)
        ) { request, _ in
            let value = try JSONReader().parse(request.body, limits: JSONLimits())
            if value["question"] == .string("placeholder") {
                world.askedForPlaceholders.withLock { $0.append(value) }
                return try await world.placeholder.withLock { $0 }()
            }
            world.asked.withLock { $0.append(value) }
            world.findings.withLock { $0.append(request.headers["freshet-findings"]) }
            return try world.reply.withLock { $0 }(value)
        }
        let services = TimelineFetcher.Services(
            log: scene.log,
            contents: contents,
            clock: clock,
            gallery: Gallery(age: galleryAge, clock: clock, states: self.states),
            telemetry: DeliveryTelemetry(logger: logger),
            announce: { announcements in world.announced.withLock { $0 += announcements } }
        )
        self.scene = scene
        self.world = world
        self.archive = archive
        self.contents = contents
        let fetchers = keys.map {
            TimelineFetcher(
                key: $0,
                connection: connection,
                limits: limits,
                answerBytesMax: 1_000_000,
                services: services
            )
        }
        self.fetcher = fetchers[0]
        self.providers = TimelineProviders(
            fetchers: fetchers,
            services: services
        )
    }

    /// Sets the provider's answers from now on.
    func reply(_ body: @escaping @Sendable (JSONValue) throws -> HTTPClientResponse) {
        self.world.reply.withLock { $0 = body }
    }

    /// Sets the provider's answers to questions for placeholders from now on; by default it knows none.
    func replyWithPlaceholder(_ body: @escaping @Sendable () async throws -> HTTPClientResponse) {
        self.world.placeholder.withLock { $0 = body }
    }

    var askedForPlaceholders: [JSONValue] { self.world.askedForPlaceholders.withLock { $0 } }
    var asked: [JSONValue] { self.world.asked.withLock { $0 } }
    /// The findings that each request brought.
    var told: [String?] { self.world.findings.withLock { $0 } }
    /// The placeholders and entries that were shown: instance and content.
    var shown: [String] {
        self.announced.compactMap { announcement in
            switch announcement {
            case .drawing(.placeholder(let placeholder)):
                "placeholder of \(Self.text(placeholder.address)) "
                    + String(decoding: placeholder.content.jsonText, as: UTF8.self)
            case .drawing(.entry(let due)): "\(Self.text(due.timeline.address)) \(Self.text(due.entry))"
            case .drawing(let event): "\(event)"
            case .pushed, .invalidated: nil
            }
        }
    }
    var announced: [Announcement] { self.world.announced.withLock { $0 } }

    private static func text(_ address: InstanceAddress) -> String { "\(address.host.id):\(address.instance)" }

    static func text(_ entry: StoredTimeline.Entry) -> String { String(decoding: entry.content, as: UTF8.self) }

    /// Registers a host and hands its reloads to the fetcher; gives their ids.
    @discardableResult
    func add(_ host: String, instances: Int = 1) async throws -> [ReloadID] {
        try await self.scene.register(host, instances: instances)
        try await self.scene.settle()
        let ids = try await self.outstanding(host)
        await self.fetcher.fetch(ids)
        return ids
    }

    func outstanding(_ host: String) async throws -> [ReloadID] {
        try await self.scene.outstanding(HostKey(host)).map(\.id)
    }

    /// Asks again until a condition holds; it gives up after minutes only, for a machine may be slow.
    func eventually(
        _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < end {
            if try await condition() { return }
            try await self.scene.settle()
        }
        Issue.record("never happened: \(what)", sourceLocation: sourceLocation)
    }

    /// A timeline of one entry, whose content is the team, for everything that was asked.
    static func answer(
        _ question: JSONValue,
        status: Int = 200,
        only: Int = .max,
        policy: String = #""never""#,
        content: String = #""x""#
    ) -> HTTPClientResponse {
        guard case .array(let requests)? = question["requests"], case .string(let now)? = question["now"] else {
            return HTTPClientResponse(status: 400, headers: [:], body: [])
        }
        let answers = requests.prefix(only).compactMap { request -> String? in
            guard case .string(let id)? = request["id"] else { return nil }
            return
                #"{"id":"\#(id)","timeline":{"entries":[{"date":"\#(now)","content":\#(content)}],"policy":\#(policy)}}"#
        }
        return Self.response(status, #"{"answers":[\#(answers.joined(separator: ","))]}"#)
    }

    static func response(_ status: Int, _ body: String, _ headers: HTTPFields = [:]) -> HTTPClientResponse {
        HTTPClientResponse(status: status, headers: headers, body: Array(body.utf8))
    }
}
