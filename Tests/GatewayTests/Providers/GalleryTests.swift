import Delivery
import Engine
import HTTPTransport
import Partitions
import Serving
import Settings
import Synchronization
import Testing
import WidgetModel

/// Which answers of providers are kept, for how long, and which callers share a request.
@Suite struct GalleryTests {
    private static let relevance = GalleryQuestion(key: ProviderScene.key, question: .relevance)

    /// A provider that answers when it is let, each request with its number.
    private final class SlowProvider: Sendable {
        let time = FakeTime()
        let gallery: Gallery
        let pushed = PushedKinds()
        private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
        private let count = Mutex(0)
        /// An element for each request that waits.
        private let asked: AsyncStream<Void>
        private let ask: AsyncStream<Void>.Continuation

        init() {
            self.gallery = Gallery(age: .hours(1), clock: self.time.makeClock(), states: KindStates())
            (self.asked, self.ask) = AsyncStream.makeStream(of: Void.self)
        }

        var requests: Int { self.count.withLock { $0 } }

        func answer(_ question: GalleryQuestion = GalleryTests.relevance) async -> JSONValue? {
            let connection = ProviderConnection(
                url: ProviderURL(isSecure: false, host: "127.0.0.1", port: 1, path: "/"),
                token: nil,
                timeout: .seconds(10)
            ) { _, _ in
                let number = self.count.withLock { count in
                    count += 1
                    return count
                }
                await withCheckedContinuation { continuation in
                    self.waiting.withLock { $0.append(continuation) }
                    self.ask.yield()
                }
                return ProviderScene.response(200, #"{"answers":[{"id":"1","relevance":[\#(number)]}]}"#)
            }
            return await self.gallery.answer(question, connection, self.pushed)
        }

        /// Waits until one more request waits for its answer.
        func isAsked() async {
            var iterator = self.asked.makeAsyncIterator()
            _ = await iterator.next()
        }

        func letAnswer() {
            for continuation in self.waiting.withLock({ waiting in
                defer { waiting = [] }
                return waiting
            }) {
                continuation.resume()
            }
        }
    }

    private static func number(_ number: Int64) -> JSONValue { .array([.int(number)]) }

    @Test func `who asks while a request is on its way shares it`() async {
        let provider = SlowProvider()
        async let first = provider.answer()
        await provider.isAsked()
        async let second = provider.answer()
        async let third = provider.answer()
        provider.letAnswer()
        let answers = await [first, second, third]
        #expect(answers == [Self.number(1), Self.number(1), Self.number(1)])
        #expect(provider.requests == 1)
    }

    @Test func `what was asked before a push is no answer after it, nor does it take the place of a later one`()
        async
    {
        let provider = SlowProvider()
        async let first = provider.answer()
        await provider.isAsked()
        provider.pushed.noteKind(ProviderScene.key.kind)
        async let second = provider.answer()
        await provider.isAsked()
        provider.letAnswer()
        let answers = await [first, second]
        #expect(answers == [Self.number(1), Self.number(2)])
        #expect(await provider.answer() == Self.number(2))
        #expect(provider.requests == 2)
    }

    @Test func `an answer that an invalidation overtook is asked anew, and stands in until then`() async {
        let provider = SlowProvider()
        async let first = provider.answer()
        await provider.isAsked()
        provider.gallery.invalidate(InvalidationRequest(.relevance, app: Sports.app))
        provider.letAnswer()
        #expect(await first == Self.number(1))
        async let second = provider.answer()
        await provider.isAsked()
        provider.letAnswer()
        #expect(await second == Self.number(2))
    }

    @Test func `pushes are noted by kind, and taken once`() {
        let pushed = PushedKinds()
        let (scores, other) = (WidgetKind("scores"), WidgetKind("character"))
        #expect(pushed.takeNoted().isEmpty)
        pushed.noteKind(scores)
        pushed.noteKind(scores)
        let one = pushed.takeNoted()
        #expect(one.contains(scores) && !one.contains(other))
        #expect(pushed.takeNoted().isEmpty)
        pushed.noteKind(scores)
        pushed.noteKind(nil)
        let all = pushed.takeNoted()
        #expect(all.contains(scores) && all.contains(other))
        #expect(!pushed.takeNoted().contains(scores))
    }

    @Test func `apps that stay keep what was noted of them when the configuration changes`() {
        var configuration = GatewayConfiguration()
        configuration.apps = [GatewayConfiguration.App(bundleID: Sports.app, team: Sports.team)]
        let live = LiveApps(ServedApps(configuration))
        live.apps[Sports.app]?.pushedKinds.noteKind(nil)
        live.applyConfiguration(configuration, AppNumbers(configuration))
        #expect(live.apps[Sports.app]?.pushedKinds.takeNoted().isEmpty == false)
    }

    @Test(
        arguments: [
            (.placeholder, false, .timeout, ["slowPlaceholder"]), (.snapshot, true, .timeout, ["slowPreview"]),
            (.snapshot, false, .timeout, []), (.relevance, false, .timeout, []), (.placeholder, false, .connect, []),
        ] as [(ProviderRequest, Bool, HTTPTransportError.Code, [String])]
    )
    func `a provider that is too slow for a gallery is a finding of its kind`(
        question: ProviderRequest,
        isPreview: Bool,
        code: HTTPTransportError.Code,
        codes: [String]
    ) async {
        let states = KindStates()
        let gallery = Gallery(age: .hours(1), clock: FakeTime().makeClock(), states: states)
        let connection = ProviderConnection(
            url: ProviderURL(isSecure: false, host: "127.0.0.1", port: 1, path: "/"),
            token: nil,
            timeout: .seconds(10)
        ) { _, _ in throw HTTPTransportError(code, "no answer") }
        let asked = GalleryQuestion(
            key: ProviderScene.key,
            question: question,
            context: TimelineProviderContext(family: .systemSmall, isPreview: isPreview)
        )
        #expect(await gallery.answer(asked, connection) == nil)
        #expect(states[ProviderScene.key].counts.map(\.code) == codes)
        #expect(states.takeHeader(of: ProviderScene.key) == codes.first.map { "\($0)=1" })
    }
}
