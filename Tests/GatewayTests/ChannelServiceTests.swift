import APNSWire
import Engine
import Ingest
import IntentMatching
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// Channels over an in-memory log: a created channel is found again, and a broadcast is a targeted push.
@Suite struct ChannelServiceTests {
    private static let app = Sports.served.apps[0]
    private static let other = Sports.served.apps[1]

    private static func service(_ scene: OwnerScene, max: Int = 10_000) -> ChannelService {
        var bounds = ServingBounds()
        bounds.channelsMax = max
        return ChannelService(log: scene.log, journal: scene.journal, apps: LiveApps(Sports.served, bounds: bounds))
    }

    private static func creation(
        stores: Bool = true,
        isAlias: Bool = false,
        _ audience: PushPayload? = nil
    ) -> ChannelCreation {
        ChannelCreation(storesMessages: stores, isForWidgets: false, isAlias: isAlias, audience: audience)
    }

    private static func match(_ text: String) throws -> JSONValue { try json(text) }

    private static func broadcast(
        _ channel: ChannelID,
        _ number: UInt64 = 1,
        expiration: Int64? = nil,
        body: UInt64 = 5,
        payload: PushPayload = .plain
    ) -> ChannelService.Broadcast {
        ChannelService.Broadcast(
            id: PushID(high: 9, low: number),
            team: Sports.team,
            channel: channel,
            message: ChannelRequest.Message(priority: .high, expiration: expiration),
            bodyHash: body,
            payload: payload
        )
    }

    /// The reason that `body` is refused with, nil if it is not.
    private static func rejection<Value>(_ body: () async throws(RejectionAnswer) -> Value) async -> Rejection? {
        do throws(RejectionAnswer) {
            _ = try await body()
            return nil
        } catch {
            return error.rejection
        }
    }

    @Test(arguments: [1, 3])
    func `a channel is created, read, listed and deleted, and a restart finds it`(partitions: Int) async throws {
        let scene = try await OwnerScene.started(partitions: partitions)
        let channels = Self.service(scene)
        let pattern = PushPayload(kind: Sports.scores.kind, match: try Self.match(#"{"team":["rams"]}"#))
        let created = try await channels.create(Self.creation(pattern), app: Self.app)
        let id = try #require(created.channel)
        #expect(created == ChannelReply(status: 201, channel: id))
        #expect(id.rawValue.utf8.count == 20)
        let read = try await channels.read(id, app: Self.app, isAlias: false)
        let text =
            #"{"message-storage-policy":1,"push-type":"LiveActivity","freshet":{"kind":"scores","match":{"team":["rams"]}}}"#
        #expect(read == ChannelReply(status: 200, body: Array(text.utf8)))
        #expect(
            try await channels.list(app: Self.app)
                == ChannelReply(status: 200, body: Array(#"{"channels":["\#(id)"]}"#.utf8))
        )
        #expect(try await channels.list(app: Self.other).body == Array(#"{"channels":[]}"#.utf8))
        // Another app's channel is unknown.
        #expect(
            await Self.rejection { () async throws(RejectionAnswer) in
                try await channels.read(id, app: Self.other, isAlias: false)
            } == .channelNotRegistered
        )

        let restarted = scene.restarted()
        _ = try await restarted.start()
        #expect(try await restarted.digests() == scene.digests())
        let again = Self.service(restarted)
        #expect(try await again.read(id, app: Self.app, isAlias: false) == read)
        #expect(try await again.delete(id, app: Self.app, isAlias: false) == ChannelReply(status: 204))
        #expect(
            await Self.rejection { () async throws(RejectionAnswer) in
                try await again.delete(id, app: Self.app, isAlias: false)
            } == .channelNotRegistered
        )
        #expect(
            await Self.rejection { () async throws(RejectionAnswer) in
                try await again.record(of: Self.broadcast(id), app: Self.app, now: Sports.start)
            } == .channelNotRegistered
        )
    }

    @Test func `APNSwift's shapes are answered with bodies`() async throws {
        let channels = Self.service(try await OwnerScene.started())
        let created = try await channels.create(Self.creation(stores: false, isAlias: true), app: Self.app)
        let id = try #require(created.channel)
        let text = #"{"channel-id":"\#(id)","message-storage-policy":0,"push-type":"LiveActivity"}"#
        #expect(created == ChannelReply(status: 201, channel: id, body: Array(text.utf8)))
        #expect(
            try await channels.read(id, app: Self.app, isAlias: true)
                == ChannelReply(status: 200, body: Array(text.utf8))
        )
        #expect(
            try await channels.delete(id, app: Self.app, isAlias: true)
                == ChannelReply(status: 200, body: Array("{}".utf8))
        )
    }

    @Test func `one channel more than an app may have is refused`() async throws {
        let channels = Self.service(try await OwnerScene.started(), max: 2)
        let create = { () async throws(RejectionAnswer) in try await channels.create(Self.creation(), app: Self.app) }
        let first = try #require(try await create().channel)
        #expect(await Self.rejection(create) == nil)
        #expect(await Self.rejection(create) == .cannotCreateChannelConfig)
        #expect(try await channels.create(Self.creation(), app: Self.other).status == 201)
        _ = try await channels.delete(first, app: Self.app, isAlias: false)
        #expect(await Self.rejection(create) == nil)
    }

    @Test func `a pattern that the app's kinds do not have is refused at the creation`() async throws {
        let channels = Self.service(try await OwnerScene.started())
        for audience in [
            PushPayload(kind: WidgetKind("scrores")), PushPayload(match: try Self.match(#"{"taem":["rams"]}"#)),
            PushPayload(match: try Self.match(#"{"team":{"starts":"r"}}"#)),
        ] {
            #expect(
                await Self.rejection { () async throws(RejectionAnswer) in
                    try await channels.create(Self.creation(audience), app: Self.app)
                } == .badRequestParams
            )
        }
    }

    @Test func `a broadcast is a targeted push with the channel's pattern`() async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        let channels = Self.service(scene)
        let audience = PushPayload(kind: Sports.scores.kind, match: try Self.match(#"{"team":["rams"]}"#))
        let id = try #require(try await channels.create(Self.creation(audience), app: Self.app).channel)
        let broadcast = Self.broadcast(id, payload: PushPayload(digest: "d", notBefore: Sports.start + .hours(1)))
        let record = try await channels.record(of: broadcast, app: Self.app, now: Sports.start)
        var expected = PushRecord(
            id: broadcast.id,
            team: Sports.team,
            contentHash: record.contentHash,
            priority: .high,
            expiration: (Sports.start + .hours(5)).seconds,
            collapseID: CollapseID(bytes: Array(id.rawValue.utf8)),
            notBefore: Sports.start + .hours(1),
            digest: Array("d".utf8),
            target: .app(Sports.app),
            kind: Sports.scores.kind
        )
        expected.pattern = try MatchPattern.parse(try Self.match(#"{"team":["rams"]}"#))
        #expect(record == expected)

        _ = try await scene.log.append(
            .register(Sports.registration("a", [Sports.instance("x", team: "rams"), Sports.instance("y")])),
            for: HostKey("a")
        )
        _ = try await scene.log.append(
            .register(Sports.registration("b", [Sports.instance("z", team: "rams")])),
            for: HostKey("b")
        )
        try await channels.append(record)
        // The same again is a repeat.
        try await channels.append(record)
        let views = try await scene.log.askAll(PushesQuestion([PushID(high: 9, low: 1)], of: Sports.team))
        #expect(views.joined().reduce(0) { $0 + $1.matched } == 2)
        #expect(views.map { $0.map(\.repeats) } == [[1], [1]])
    }

    @Test func `without a pattern a channel reaches those that carry its id as a tag`() async throws {
        let scene = try await OwnerScene.started()
        let channels = Self.service(scene)
        let id = try #require(try await channels.create(Self.creation(), app: Self.app).channel)
        var subscribed = Sports.instance("x")
        subscribed.tags = ["beta", id.rawValue]
        _ = try await scene.log.append(
            .register(Sports.registration("a", [subscribed, Sports.instance("y")])),
            for: HostKey("a")
        )
        let record = try await channels.record(of: Self.broadcast(id), app: Self.app, now: Sports.start)
        let summary = DryRunSummary(try await scene.log.askAll(record) { _ in 100 })
        #expect(summary.matched == 1)
        let all = try #require(try await channels.create(Self.creation(.plain), app: Self.app).channel)
        let everybody = try await channels.record(of: Self.broadcast(all), app: Self.app, now: Sports.start)
        #expect(DryRunSummary(try await scene.log.askAll(everybody) { _ in 100 }).matched == 2)
    }

    @Test func `what a channel stores decides how long a message may wait`() async throws {
        let channels = Self.service(try await OwnerScene.started())
        let stored = try #require(try await channels.create(Self.creation(), app: Self.app).channel)
        let unstored = try #require(try await channels.create(Self.creation(stores: false), app: Self.app).channel)
        func expiration(_ channel: ChannelID, _ given: Int64?) async -> Result<Int64?, RejectionAnswer> {
            do throws(RejectionAnswer) {
                let broadcast = Self.broadcast(channel, expiration: given)
                return .success(
                    try await channels.record(of: broadcast, app: Self.app, now: Sports.start).expiration
                )
            } catch {
                return .failure(RejectionAnswer(error.rejection))
            }
        }
        let eight = (Sports.start + .hours(8)).seconds
        #expect(await expiration(stored, nil) == .success((Sports.start + .hours(4)).seconds))
        #expect(await expiration(stored, 0) == .success(0))
        #expect(await expiration(stored, eight - 1) == .success(eight - 1))
        #expect(await expiration(stored, eight) == .success(eight))
        #expect(await expiration(stored, eight + 1) == .success(eight))
        #expect(await expiration(unstored, nil) == .success(0))
        #expect(await expiration(unstored, 0) == .success(0))
        #expect(await expiration(unstored, 1) == .failure(RejectionAnswer(.badExpirationDate)))
        let record = try await channels.record(of: Self.broadcast(unstored), app: Self.app, now: Sports.start)
        #expect(record.collapseID == nil)
    }

    @Test func `the same id with another channel, header or body is another push`() async throws {
        let channels = Self.service(try await OwnerScene.started())
        let first = try #require(try await channels.create(Self.creation(), app: Self.app).channel)
        let second = try #require(try await channels.create(Self.creation(), app: Self.app).channel)
        var hashes: Set<UInt64> = []
        for broadcast in [
            Self.broadcast(first), Self.broadcast(second), Self.broadcast(first, expiration: 0),
            Self.broadcast(first, body: 6),
        ] {
            hashes.insert(
                try await channels.record(of: broadcast, app: Self.app, now: Sports.start).contentHash
            )
        }
        #expect(hashes.count == 4)
        let later = try await channels.record(of: Self.broadcast(first), app: Self.app, now: Sports.start + .hours(1))
        #expect(hashes.contains(later.contentHash))
    }
}
