@testable import APNSWire
import Testing
import WidgetModel

/// Requests about channels, header by header and reason by reason.
@Suite struct ChannelValidationTests {
    private static let channel = ChannelID(ChannelFixture.id)
    private static let longest = String(repeating: "A", count: 64)

    private static func route(_ kind: PushPath.Kind, _ bundle: Range<Int>, _ id: Range<Int>) -> ChannelRoute {
        let path = PushPath.all.first { $0.kind == kind }!
        return ChannelRoute(path: path, bundle: ByteRange(bundle), id: ByteRange(id))
    }

    @Test(
        arguments: [
            ("/4/broadcasts/apps/a", Self.route(.broadcast, 19..<20, 20..<20)),
            ("/4/broadcasts/apps/", nil), ("/4/broadcasts/apps/a/b", nil), ("/4/broadcasts/apps", nil),
            ("/1/apps/a/channels", Self.route(.channels, 8..<9, 18..<18)),
            ("/1/apps/a/all-channels", Self.route(.allChannels, 8..<9, 22..<22)),
            ("/1/apps/ab/channels/xy", Self.route(.channel, 8..<10, 20..<22)),
            ("/1/apps/a/channels/x/y", Self.route(.channel, 8..<9, 19..<22)),
            ("/1/apps/a/channels/", nil), ("/1/apps//channels", nil), ("/1/apps/a", nil), ("/1/apps/a/", nil),
            ("/1/apps/a/channel", nil), ("/1/apps/a/channelsx", nil), ("/1/apps/a/all-channels/x", nil),
            ("/2/apps/a/channels", nil), ("", nil),
        ] as [(String, ChannelRoute?)]
    )
    func `a path is classified`(path: String, route: ChannelRoute?) {
        let bytes = Array(path.utf8)
        let found = PushRoute(path: ByteRange(0..<bytes.count), in: bytes.span)
        #expect(route.map { found == .channels($0) } ?? (found == .channels(nil) || found == .unknown))
    }

    @Test func `a broadcast has a channel, a priority and an expiration`() throws {
        let request = try ChannelFixture.broadcast.validate()
        #expect(
            request
                == ChannelRequest(
                    operation: .broadcast(Self.channel, .init(priority: .high, expiration: 0)),
                    app: 7,
                    id: PushID("123e4567-e89b-12d3-a456-4266554400a0"),
                    isAlias: false
                )
        )
        let least = ChannelFixture("POST", ChannelFixture.broadcasts).with("apns-channel-id", "AAAA")
            .with("apns-push-type", "widgets")
        #expect(
            try least.validate().operation == .broadcast(ChannelID("AAAA"), .init(priority: nil, expiration: nil))
        )
    }

    @Test(
        arguments: [
            ("POST", ChannelFixture.channels, nil, ChannelRequest.Operation.create, false),
            ("GET", ChannelFixture.channels, ChannelFixture.id, .read(Self.channel), false),
            ("DELETE", ChannelFixture.channels, ChannelFixture.id, .delete(Self.channel), false),
            ("GET", ChannelFixture.allChannels, nil, .list, false),
            // APNSwift's shapes.
            ("GET", ChannelFixture.channels, nil, .list, true),
            ("GET", "\(ChannelFixture.channels)/\(ChannelFixture.id)", nil, .read(Self.channel), true),
            ("DELETE", "\(ChannelFixture.channels)/ab/d", nil, .delete(ChannelID("ab/d")), true),
        ] as [(String, String, String?, ChannelRequest.Operation, Bool)]
    )
    func `Apple's shapes and APNSwift's are read`(
        method: String,
        path: String,
        channel: String?,
        operation: ChannelRequest.Operation,
        isAlias: Bool
    ) throws {
        let fixture = ChannelFixture(method, path).with("apns-channel-id", channel)
        #expect(
            try fixture.validate() == ChannelRequest(operation: operation, app: 7, id: nil, isAlias: isAlias)
        )
    }

    @Test(
        arguments: [
            (":method", "GET", Rejection.methodNotAllowed), (":method", "PUT", .methodNotAllowed),
            (":path", "/4/broadcasts/apps/com.example.scores/x", .badPath),
            ("authorization", nil, .missingProviderToken),
            ("authorization", "", .missingProviderToken), ("apns-request-id", "no id", .badMessageID),
            ("apns-request-id", "", .badMessageID),
            ("apns-request-id", "123E4567-E89B-12D3-A456-4266554400A0", nil), ("apns-request-id", nil, nil),
            (":path", "/4/broadcasts/apps/com.example.scores.push-type.liveactivity", .topicDisallowed),
            (":path", "/4/broadcasts/apps/com.example.scores.push-type.widgets", .topicDisallowed),
            (":path", "/4/broadcasts/apps/com.example.scores.voip", .topicDisallowed),
            (":path", "/4/broadcasts/apps/com.example.other", .topicMismatch),
            (":path", "/4/broadcasts/apps/no%20bundle", .topicMismatch),
            (":path", "/4/broadcasts/apps/com%2Eexample.scores", nil),
            ("apns-channel-id", nil, .missingChannelID), ("apns-channel-id", "", .missingChannelID),
            ("apns-channel-id", "no base64!", .badChannelID), ("apns-channel-id", "AAAAA", .badChannelID),
            ("apns-channel-id", Self.longest, nil), ("apns-channel-id", "\(Self.longest)AAAA", .badChannelID),
            ("apns-channel-id", "a-_b", nil), ("apns-channel-id", "a+/b", nil),
            ("apns-push-type", nil, .missingPushType), ("apns-push-type", "", .missingPushType),
            ("apns-push-type", "alert", .invalidPushType), ("apns-push-type", "controls", .invalidPushType),
            ("apns-push-type", "LiveActivity", nil), ("apns-push-type", "Liveactivity", nil),
            ("apns-push-type", "widgets", nil), ("apns-push-type", "liveactivit\u{19}", .invalidPushType),
            ("apns-priority", "10", nil), ("apns-priority", "5", nil), ("apns-priority", "1", nil),
            ("apns-priority", nil, nil), ("apns-priority", "7", .badPriority), ("apns-priority", "", .badPriority),
            ("apns-expiration", nil, nil), ("apns-expiration", "1893456000", nil),
            ("apns-expiration", "-1", .badExpirationDate), ("apns-expiration", "soon", .badExpirationDate),
            ("apns-topic", "anything", nil), ("apns-collapse-id", String(repeating: "x", count: 65), nil),
        ] as [(String, String?, Rejection?)]
    )
    func `each header of a broadcast is judged`(name: String, value: String?, rejection: Rejection?) {
        #expect(ChannelFixture.broadcast.with(name, value).rejection == rejection)
    }

    @Test(
        arguments: [
            ("PUT", ChannelFixture.channels, Rejection.methodNotAllowed),
            ("POST", ChannelFixture.allChannels, .methodNotAllowed),
            ("DELETE", ChannelFixture.allChannels, .methodNotAllowed),
            ("POST", "\(ChannelFixture.channels)/AAAA", .methodNotAllowed),
            ("DELETE", ChannelFixture.channels, .missingChannelID),
            ("GET", "\(ChannelFixture.channels)/AAAAA", .badChannelID),
            ("GET", "/1/apps/com.example.other/channels", .topicMismatch),
            ("POST", "/1/apps/com.example.scores.push-type.liveactivity/channels", .topicDisallowed),
        ]
    )
    func `each management request is judged`(method: String, path: String, rejection: Rejection) {
        #expect(ChannelFixture(method, path).rejection == rejection)
    }

    @Test(arguments: [(0, Rejection.payloadEmpty), (1, nil), (5120, nil), (5121, .payloadTooLarge)])
    func `a body is needed, and at most 5,120 bytes`(bytes: Int, rejection: Rejection?) {
        var create = ChannelFixture("POST", ChannelFixture.channels)
        var broadcast = ChannelFixture.broadcast
        var read = ChannelFixture("GET", ChannelFixture.allChannels)
        (create.bodyBytes, broadcast.bodyBytes, read.bodyBytes) = (bytes, bytes, bytes)
        #expect(create.rejection == rejection)
        #expect(broadcast.rejection == rejection)
        #expect(read.rejection == nil)
    }

    @Test(arguments: ["apns-request-id", "apns-channel-id", "apns-priority", "authorization"])
    func `a header that comes twice is refused`(name: String) {
        var fixture = ChannelFixture.broadcast
        fixture.lines += fixture.lines.filter { $0.name == name }
        #expect(fixture.rejection == .duplicateHeaders)
    }

    @Test func `apns-id stands for the request's id where that is absent`() throws {
        let id = "223e4567-e89b-12d3-a456-4266554400a0"
        let both = ChannelFixture.broadcast.with("apns-id", id)
        #expect(try both.validate().id == PushID("123e4567-e89b-12d3-a456-4266554400a0"))
        #expect(try both.with("apns-request-id", nil).validate().id == PushID(id))
        #expect(both.with("apns-request-id", nil).with("apns-id", "x").rejection == .badMessageID)
    }

    @Test func `a client certificate stands for the provider token`() {
        var fixture = ChannelFixture.broadcast.with("authorization", nil)
        fixture.hasCertificate = true
        #expect(fixture.rejection == nil)
    }

    // MARK: The order

    private static func violate(_ check: ChannelCheck, _ fixture: inout ChannelFixture) {
        switch check {
        case .repeatedHeaders: fixture.lines += fixture.lines.filter { $0.name == "apns-expiration" }
        case .path: fixture = fixture.with(":path", "/4/broadcasts/apps/")
        case .method: fixture = fixture.with(":method", "GET")
        case .credentialsPresent: fixture = fixture.with("authorization", nil)
        case .requestID: fixture = fixture.with("apns-request-id", "no id")
        case .bundleForm: fixture = fixture.with(":path", "\(ChannelFixture.broadcasts).voip")
        case .bundle: fixture.topics = TopicTable([])
        case .channelPresent: fixture = fixture.with("apns-channel-id", nil)
        case .channelForm: fixture = fixture.with("apns-channel-id", "!")
        case .pushTypePresent: fixture = fixture.with("apns-push-type", nil)
        case .pushType: fixture = fixture.with("apns-push-type", "smoke-signal")
        case .priority: fixture = fixture.with("apns-priority", "7")
        case .expiration: fixture = fixture.with("apns-expiration", "never")
        case .bodyPresent: fixture.bodyBytes = 0
        case .bodySize: fixture.bodyBytes = 6000
        }
    }

    private static func reason(_ check: ChannelCheck) -> Rejection {
        switch check {
        case .repeatedHeaders: .duplicateHeaders
        case .path: .badPath
        case .method: .methodNotAllowed
        case .credentialsPresent: .missingProviderToken
        case .requestID: .badMessageID
        case .bundleForm: .topicDisallowed
        case .bundle: .topicMismatch
        case .channelPresent: .missingChannelID
        case .channelForm: .badChannelID
        case .pushTypePresent: .missingPushType
        case .pushType: .invalidPushType
        case .priority: .badPriority
        case .expiration: .badExpirationDate
        case .bodyPresent: .payloadEmpty
        case .bodySize: .payloadTooLarge
        }
    }

    /// Checks that look at one thing in two ways, so that no request can violate both.
    private static let exclusive: Set<Set<ChannelCheck>> = [
        [.path, .bundleForm], [.channelPresent, .channelForm], [.pushTypePresent, .pushType],
        [.bodyPresent, .bodySize],
    ]

    @Test(arguments: ChannelCheck.allCases)
    func `of two checks that fail the earlier gives the reason`(first: ChannelCheck) {
        for second in ChannelCheck.allCases where second.rawValue >= first.rawValue {
            guard !Self.exclusive.contains([first, second]) else { continue }
            var fixture = ChannelFixture.broadcast
            if first != second { Self.violate(second, &fixture) }
            Self.violate(first, &fixture)
            #expect(fixture.rejection == Self.reason(first), "\(first), \(second)")
        }
    }
}
