import APNSWire
import Delivery
import Engine
import HTTPTransport
import Journaling
import Partitions
import Serving
import Settings
import Synchronization
import TestSupport
import TimelineProviding
import TransportSupport
import WidgetModel

/// A node's side of the scores kind's timeline provider: its questions, and the entries that it shows.
final class NodeProvider: Sendable {
    let providers: TimelineProviders
    let contents: ContentStore
    private let world: World

    private final class World: Sendable {
        let asked = Mutex(0)
        let shown = Mutex<[String]>([])
        let reply = Mutex<@Sendable (JSONValue) -> HTTPClientResponse>({ _ in ProviderScene.response(503, "") })
    }

    /// - Parameter log: Nil for the node's own.
    init(_ node: MemoryNode, _ time: FakeTime, log: CommandLog? = nil) {
        let (world, clock, logger) = (World(), time.makeClock(), RecordedLog().logger)
        let contents = ContentStore(archive: MemoryArchive(), bytesMax: 10_000_000, logger: logger)
        let connection = ProviderConnection(
            url: ProviderURL(isSecure: false, host: "127.0.0.1", port: 1, path: "/"),
            token: nil,
            timeout: .seconds(10)
        ) { request, _ in
            let question = try JSONReader().parse(request.body, limits: JSONLimits())
            guard question["question"] == .string("timeline") else {
                let answer = #"{"answers":[{"id":"1","entry":{"content":"grey"}}]}"#
                return ProviderScene.response(question["question"] == .string("placeholder") ? 200 : 404, answer)
            }
            world.asked.withLock { $0 += 1 }
            return world.reply.withLock { $0 }(question)
        }
        let services = TimelineFetcher.Services(
            log: log ?? node.log,
            contents: contents,
            clock: clock,
            gallery: Gallery(age: .hours(1), clock: clock, states: KindStates()),
            telemetry: DeliveryTelemetry(logger: logger),
            announce: { announcements in
                for case .drawing(.entry(let due)) in announcements {
                    world.shown.withLock { $0.append(String(decoding: due.entry.content, as: UTF8.self)) }
                }
            }
        )
        let fetcher = TimelineFetcher(
            key: ProviderScene.key,
            connection: connection,
            limits: FetchLimits(),
            answerBytesMax: 1_000_000,
            services: services
        )
        let providers = TimelineProviders(fetchers: [fetcher], services: services)
        node.providers.set(providers)
        (self.providers, self.contents, self.world) = (providers, contents, world)
    }

    /// How often the provider was asked for timelines.
    var asked: Int { self.world.asked.withLock { $0 } }
    /// The contents that were shown.
    var shown: [String] { self.world.shown.withLock { $0 } }

    /// Sets the provider's answers from now on.
    func reply(_ body: @escaping @Sendable (JSONValue) -> HTTPClientResponse) {
        self.world.reply.withLock { $0 = body }
    }

    /// Sets them to timelines of an entry of a date, and one an hour later.
    func reply(from date: Instant, _ first: String, _ second: String) {
        self.reply { ProviderScene.response(200, Self.answers(to: $0, from: date, first, second)) }
    }

    static func answers(to question: JSONValue, from date: Instant, _ first: String, _ second: String) -> String {
        guard case .array(let requests)? = question["requests"] else { return "" }
        let entries = [(date, first), (date + .hours(1), second)].map { date, content in
            #"{"date":"\#(RFC3339.text(of: date) ?? "")","content":\#(content)}"#
        }
        let answers = requests.compactMap { request -> String? in
            guard case .string(let id)? = request["id"] else { return nil }
            return #"{"id":"\#(id)","timeline":{"entries":[\#(entries.joined(separator: ","))],"policy":"never"}}"#
        }
        return #"{"answers":[\#(answers.joined(separator: ","))]}"#
    }
}
