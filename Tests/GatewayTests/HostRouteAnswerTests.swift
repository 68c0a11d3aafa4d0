import Engine
import HTTPTransport
import HostAPI
import Partitions
import Serving
import Testing
import WidgetModel

/// The host listener's answers to allowed requests.
@Suite struct HostRouteAnswerTests {
    private static let phone = Sports.token("phone")

    @Test(
        arguments: [
            ("GET", "/", ["404", "not-found"]), ("GET", "/v1/hosts", ["404", "not-found"]),
            ("GET", "/v1/hosts/xyz/widgets", ["400", "bad-request"]),
            ("GET", "/v1/hosts/abcd/nothing", ["404", "not-found"]),
            ("POST", "/v1/hosts/abcd/widgets", ["405", "method-not-allowed"]),
            ("POST", "/v1/hosts/abcd/events", ["405", "method-not-allowed"]),
            ("GET", "/v1/hosts/abcd/widgets/a/timeline", ["405", "method-not-allowed"]),
            ("GET", "/v1/apps/com.example.unserved/widgets", ["404", "not-found"]),
            ("PUT", "/v1/apps/com.example.scores/hosts", ["405", "method-not-allowed"]),
            ("GET", "/v1/apps/com.example.scores/hosts?limit=1001", ["400", "bad-request", "limit"]),
            ("GET", "/v1/apps/com.example.scores/hosts?from=nonsense", ["400", "bad-request", "from"]),
            ("GET", "/v1/apps/com.example.scores/widgets?kind=weather", ["400", "unknown-kind", "kind"]),
            ("GET", "/v1/apps/com.example.scores/widgets?limit=0", ["400", "bad-request", "limit"]),
            ("GET", "/v1/apps/com.example.scores/widgets?limit=1001", ["400", "bad-request", "limit"]),
            ("GET", "/v1/apps/com.example.scores/widgets?from=nonsense", ["400", "bad-request", "from"]),
            ("GET", "/v1/apps/com.example.scores/widgets?match=%7B", ["400", "malformed-json"]),
            (
                "GET", "/v1/apps/com.example.scores/widgets?match=%7B%22city%22%3A1%7D",
                ["400", "bad-pattern", "match.city"]
            ),
            ("GET", "/v1/pushes/nonsense", ["400", "bad-request"]),
            ("GET", "/v1/pushes/nonsense/events", ["400", "bad-request"]),
            ("POST", "/v1/pushes/8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B/events", ["405", "method-not-allowed"]),
            ("GET", "/v1/pushes/8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B/events", ["404", "not-found"]),
        ] as [(String, String, [String])]
    )
    func `what is wrong with a request is told`(method: String, target: String, place: [String]) async throws {
        let scene = try await RouteScene()
        #expect(try await scene.send(method, target, try scene.key.providerToken()).place == place)
    }

    @Test(
        arguments: [
            ("", ["200"], #"{"matched":2}"#), ("{}", ["200"], #"{"matched":2}"#),
            (#"{"kind":"scores"}"#, ["200"], #"{"matched":2}"#),
            (#"{"kind":"scores","match":{"team":["rams"]}}"#, ["200"], #"{"matched":0}"#),
            (#"{"kind":"Scores"}"#, ["400", "unknown-kind", "kind"], nil),
            (#"{"kind":"scores","colour":1}"#, ["400", "bad-request", "colour"], nil),
        ] as [(String, [String], String?)]
    )
    func `an app reloads all its widgets, or a kind by the name that the widgets have`(
        body: String,
        place: [String],
        answer: String?
    ) async throws {
        let scene = try await RouteScene()
        for name in ["phone", "tablet"] { try await scene.register(name) }
        let given = try await scene.send("POST", "/v1/apps/\(Sports.app)/reload", try scene.key.providerToken(), body)
        #expect(given.place == place)
        if let answer { #expect(given.body == answer) }
    }

    @Test func `a host is told when something is due for it, and may sleep until then`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let (path, token) = ("/v1/hosts/\(Self.phone.hex)", try scene.key.providerToken())
        func state() async throws -> JSONValue { try json(try await scene.send("GET", "\(path)/state", token).body) }
        #expect(try await state()["nextAt"] == nil)
        let date = try #require(RFC3339.text(of: Sports.start + .hours(5)))
        let timeline = #"{"policy":{"after":"\#(date)"},"entries":[{"date":"\#(date)"}]}"#
        let reported = try await scene.send("PUT", "\(path)/widgets/a/timeline", token, timeline)
        #expect(reported.place == ["200"], "\(reported.body)")
        let told = try await state()
        guard case .array(let instances) = told["instances"] else { throw Problem(.notFound, "no instances") }
        #expect(told["nextAt"] != nil && told["nextAt"] == instances.first?["timeline"]?["nextRequest"])
    }

    @Test(arguments: [(199, true), (200, true), (201, false)])
    func `a body may be as long as its limit`(bytes: Int, isTaken: Bool) async throws {
        var limits = HostRouteLimits()
        limits.bodyBytesMax = 200
        let scene = try await RouteScene(limits)
        let body = RouteScene.body()
        let padded = body + String(repeating: " ", count: bytes - body.utf8.count)
        let answer = try await scene.send("PUT", RouteScene.path(Self.phone), try scene.key.providerToken(), padded)
        #expect(answer.place == (isTaken ? ["200"] : ["413", "too-large"]))
        #expect(scene.routes.problems.all.map { [$0.0.rawValue, "\($0.1)"] } == (isTaken ? [] : [["too-large", "1"]]))
    }

    @Test(arguments: [(299, true), (300, true), (301, false)])
    func `an import may be as long as its limit`(bytes: Int, isTaken: Bool) async throws {
        var limits = HostRouteLimits()
        limits.importBytesMax = 300
        let scene = try await RouteScene(limits)
        let lines = String(repeating: "\n", count: bytes)
        let path = "/v1/apps/\(Sports.app)/hosts"
        #expect(
            try await scene.send("POST", path, try scene.key.providerToken(), lines).place
                == (isTaken ? ["200"] : ["413", "too-large"])
        )
    }

    @Test(arguments: [(2, true), (3, true), (4, false)])
    func `an import may have as many lines as its limit`(count: Int, isTaken: Bool) async throws {
        var limits = HostRouteLimits()
        limits.importLinesMax = 3
        let scene = try await RouteScene(limits)
        // Lines that are wrong are answered each; blank ones do not count.
        let lines = String(repeating: "{}\n\n", count: count)
        let path = "/v1/apps/\(Sports.app)/hosts"
        #expect(
            try await scene.send("POST", path, try scene.key.providerToken(), lines).place
                == (isTaken ? ["200"] : ["413", "too-large"])
        )
    }

    /// To send the same again later would not help.
    @Test(arguments: [(2, true), (3, true), (4, false)])
    func `a host may show as many widgets, and tell as many signals at once, as their limits`(
        count: Int,
        isTaken: Bool
    ) async throws {
        var limits = HostRouteLimits()
        limits.instancesPerHostMax = 3
        limits.reportsMax = 3
        let scene = try await RouteScene(limits)
        try await scene.register("phone")
        let credential = try scene.key.hostCredential(Self.phone, of: "phone")
        let instances = (0..<count).map { #"{"id":"w\#($0)","kind":"scores","family":"systemSmall"}"# }
        let body = RouteScene.body(instances: "[\(instances.joined(separator: ","))]")
        #expect(
            try await scene.send("PUT", RouteScene.path(Self.phone), credential, body).place
                == (isTaken ? ["200"] : ["413", "too-large", "instances"])
        )
        let signals = [String](repeating: #"{"signal":"appForeground"}"#, count: count).joined(separator: ",")
        #expect(
            try await scene.send(
                "POST",
                RouteScene.path(Self.phone, "signals"),
                credential,
                "{\"signals\":[\(signals)]}"
            )
            .place == (isTaken ? ["204"] : ["413", "too-large", "signals"])
        )
        let lines = [String](repeating: #"{"reload":"0-1-999-00000000"}"#, count: count).joined(separator: "\n")
        let path = "/v1/apps/\(Sports.app)/acknowledgements"
        #expect(
            try await scene.send("POST", path, try scene.key.providerToken(), lines).place
                == (isTaken ? ["200"] : ["413", "too-large"])
        )
    }

    @Test(arguments: [(2, 0, true), (3, 0, true), (3, 1, true), (3, -1, false), (4, 0, false)])
    func `a push for all widgets of a host has to fit into the log`(count: Int, spare: Int, isTaken: Bool) async throws
    {
        let three = HostRegistration(
            host: HostKey(app: Sports.app, id: HostID("phone")),
            token: Self.phone,
            revision: 1,
            instances: (0..<3).map { Sports.instance("w\($0)") }
        )
        var limits = HostRouteLimits()
        #expect(limits.effectBytesMax == 900_000)
        limits.effectBytesMax = TokenPush.bytesMax(for: three) + spare
        let scene = try await RouteScene(limits)
        try await scene.register("phone")
        let credential = try scene.key.hostCredential(Self.phone, of: "phone")
        let instances = (0..<count).map { #"{"id":"w\#($0)","kind":"scores","family":"systemSmall"}"# }
        let body = RouteScene.body(instances: "[\(instances.joined(separator: ","))]")
        let answer = try await scene.send("PUT", RouteScene.path(Self.phone), credential, body)
        #expect(answer.place == (isTaken ? ["200"] : ["413", "too-large", "instances"]))
    }

    @Test(arguments: [(16, ["200"]), (17, ["413", "too-large"]), (65, ["413", "too-large", "instances[0].tags"])])
    func `a widget may have as many tags as the limit`(count: Int, place: [String]) async throws {
        let scene = try await RouteScene()
        let tags = (0..<count).map { "\"t\($0)\"" }.joined(separator: ",")
        let instance = #"[{"id":"a","kind":"scores","family":"systemSmall","tags":[\#(tags)]}]"#
        let credential = try scene.key.hostCredential(Self.phone)
        let body = RouteScene.body(instances: instance)
        #expect(try await scene.send("PUT", RouteScene.path(Self.phone), credential, body).place == place)
    }

    @Test func `a revision that is older is 409, an equal one is applied again`() async throws {
        let scene = try await RouteScene()
        #expect(try await scene.register("phone", #""revision":4"#).status == 200)
        #expect(
            try await scene.register("phone", #""revision":4"#).body
                == #"{"host":"phone","added":0,"changed":0,"unchanged":1,"removed":0}"#
        )
        #expect(try await scene.register("phone", #""revision":3"#).place == ["409", "stale-revision", "revision"])
    }

    @Test func `an app's widgets come page by page, each once`() async throws {
        let scene = try await RouteScene(partitions: 3)
        for number in 0..<7 { try await scene.register("host-\(number)") }
        let token = try scene.key.providerToken()
        var seen: [JSONValue] = []
        var from = ""
        for _ in 0..<7 {
            let answer = try await scene.send("GET", "/v1/apps/\(Sports.app)/widgets?limit=3\(from)", token)
            let page = try json(answer.body)
            guard case .array(let widgets)? = page["widgets"] else { break }
            seen += widgets.compactMap { $0["host"] }
            guard case .string(let next)? = page["next"] else { break }
            from = "&from=\(next)"
        }
        #expect(Set(seen) == Set((0..<7).map { .string("host-\($0)") }))
        #expect(seen.count == 7)
    }

    /// A place in a list that no page has ever named.
    @Test(arguments: ["hosts", "widgets"])
    func `a place that is none is 400, and one behind the end is a page without rows`(list: String) async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let token = try scene.key.providerToken()
        let path = "/v1/apps/\(Sports.app)/\(list)"
        for wrong in [
            "0.18446744073709551615", "0.4611686018427387904", "18446744073709551615.0", "0.18446744073709551616",
            "0.-1", "0.4294967296", "2.0", "0", "0.0.0", "a.b", "",
        ] {
            let answer = try await scene.send("GET", "\(path)?from=\(wrong)", token)
            #expect(answer.place == ["400", "bad-request", "from"], "\(wrong)")
        }
        let last = try await scene.send("GET", "\(path)?from=1.4294967295", token)
        #expect(last.status == 200 && last.next == nil)
        #expect(last.body == (list == "hosts" ? "" : #"{"widgets":[]}"#))
    }

    @Test func `what is exported registers the same in another gateway`() async throws {
        let (scene, other) = (try await RouteScene(partitions: 3), try await RouteScene(partitions: 2))
        let token = try scene.key.providerToken()
        let second = Sports.token("second")
        let instance = #"{"id":"a","kind":"scores","family":"systemSmall","configuration":{"team":"seahawks"},"#
        let full = #"""
            {"token":"\#(Self.phone.hex)","host":"full","app":"\#(Sports.app)","revision":7,"lease":3600,"context":
            {"displaySize":{"width":170,"height":158.5},"environmentVariants":{"colorScheme":["light","dark"]},
            "locale":"de-DE","timeZone":"Europe/Berlin"},"instances":[\#(instance)"pushEnabled":false,"tags":["vip"],
            "when":{"health":{"lt":50}},"controlToken":"\#(Sports.token("control").hex)"}]}
            """#.replacing("\n", with: "")
        // The same host under a second token: it has both.
        let added = full.replacing(
            "{\"token\":\"\(Self.phone.hex)\"",
            with: "{\"token\":\"\(second.hex)\",\"addToken\":true"
        )
        let both = [full, added]
        let path = "/v1/apps/\(Sports.app)/hosts"
        let imported = try await scene.send("POST", path, token, both.joined(separator: "\n"))
        #expect(imported.status == 200 && !imported.body.contains("\"status\":4"), "\(imported.body)")
        try await scene.register("plain")
        let exported = try await scene.export()
        #expect(exported.count == 3, "\(exported)")
        let lines = exported.joined(separator: "\n")
        let moved = try await other.send("POST", path, try other.key.providerToken(), lines)
        #expect(moved.status == 200 && !moved.body.contains("\"status\":4"), "\(moved.body)")
        #expect(try await other.export() == exported)
    }

    @Test func `a reload that is not outstanding is unknown`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        try await scene.scene.settle()
        let id = try #require(scene.scene.handedOn.first?.id)
        let credential = try scene.key.hostCredential(Self.phone)
        let path = RouteScene.path(Self.phone, "signals")
        let signals = #"{"signals":[{"signal":"appForeground"},{"signal":"reloaded","reload":"\#(id)"}]}"#
        #expect(try await scene.send("POST", path, credential, signals).status == 204)
        #expect(try await scene.send("POST", path, credential, signals).place == ["404", "unknown-reload"])
    }

    @Test func `an event stream without a reader gives its place back`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let credential = try scene.key.hostCredential(Self.phone)
        // The default is 4 for one host: a client that goes before its stream begins must not use them up.
        for _ in 0..<6 {
            let answer = try await scene.send("GET", RouteScene.path(Self.phone, "events"), credential)
            #expect(answer.status == 200)
        }
        #expect(scene.scene.streams.count == 0)
    }
}
