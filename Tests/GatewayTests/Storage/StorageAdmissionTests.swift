import Engine
import HTTPTransport
import HostAPI
import Journaling
import OperatorAPI
import Partitions
import TestSupport
import Testing
import WidgetModel

/// A full disk takes records that end something, and nothing new.
@Suite struct StorageAdmissionTests {
    private static let phone = Sports.token("phone")
    private static let full = ["507", "storage-full"]

    /// A host that is registered, with a reload that is out, before the disk is full.
    private static func scene(_ disk: FakeDisk) async throws -> (RouteScene, StorageWatch, reload: String) {
        let storage = disk.watch()
        let scene = try await RouteScene(storage: storage)
        try await scene.register("phone")
        try await scene.scene.settle()
        return (scene, storage, try #require(scene.scene.handedOn.first?.id).description)
    }

    private static func appPath(_ rest: String) -> String { "/v1/apps/\(Sports.app)/\(rest)" }

    @Test func `registrations, signals and requests of apps are refused with what to do`() async throws {
        let disk = FakeDisk()
        let (scene, storage, reload) = try await Self.scene(disk)
        disk.use(mebibytes: 1000)
        storage.measure()
        let (host, team) = (try scene.key.hostCredential(Self.phone), try scene.key.providerToken())
        let before = try await scene.scene.digests()
        let line = RouteScene.body(#""token":"\#(Self.phone.hex)","host":"phone""#)
        let signals = ["appForeground", "localeChanged", "significantLocationChange"].map { #"{"signal":"\#($0)"}"# }
        let refused: [(String, String, String, String)] =
            [
                ("PUT", RouteScene.path(Self.phone), host, RouteScene.body(#""host":"phone""#)),
                ("POST", Self.appPath("hosts"), team, line),
                ("POST", Self.appPath("reload"), team, ""),
                ("POST", Self.appPath("invalidate-relevance"), team, ""),
                (
                    "POST", RouteScene.path(Self.phone, "signals"), host,
                    #"{"signal":"reloaded","instance":"a"}"#
                ),
                (
                    "POST", RouteScene.path(Self.phone, "signals"), host,
                    #"{"signals":[{"signal":"reloaded","reload":"\#(reload)"},{"signal":"appForeground"}]}"#
                ),
            ] + signals.map { ("POST", RouteScene.path(Self.phone, "signals"), host, $0) }
        for (method, target, credential, body) in refused {
            let answer = try await scene.send(method, target, credential, body)
            #expect(answer.place == Self.full, "\(method) \(target) \(body): \(answer.body)")
            #expect(answer.body.contains("send it again later"))
        }
        #expect(storage.refused.requests == refused.count)
        // Nothing of a refused request is logged, not even parts that would have been taken alone.
        #expect(try await scene.scene.digests() == before)
        // Once there is room everything is taken.
        disk.use(mebibytes: 0)
        storage.measure()
        for (method, target, credential, body) in refused {
            let answer = try await scene.send(method, target, credential, body)
            #expect(answer.status < 300, "\(method) \(target): \(answer.body)")
        }
    }

    @Test func `acknowledgements, timelines, removals and cancellations are taken out of the reserve`() async throws {
        let disk = FakeDisk()
        let (scene, storage, reload) = try await Self.scene(disk)
        let push = Sports.push(1, to: "phone")
        _ = try await scene.scene.log.append(.push(push), for: HostKey("phone"))
        disk.use(mebibytes: 1063)
        storage.measure()
        #expect(!storage.admits(.traffic))
        let (host, team) = (try scene.key.hostCredential(Self.phone), try scene.key.providerToken())
        let timeline = #"{"reload":"\#(reload)","entries":[{"date":"2026-11-02T12:00:00Z"}]}"#
        let taken: [(String, String, String, String)] = [
            ("PUT", RouteScene.path(Self.phone, "widgets/a/timeline"), host, timeline),
            (
                "POST", RouteScene.path(Self.phone, "signals"), host,
                #"{"signal":"entryShown","reload":"\#(reload)","date":"2026-11-02T12:00:00Z"}"#
            ),
            ("POST", Self.appPath("acknowledgements"), team, #"{"reload":"\#(reload)"}"#),
            ("GET", RouteScene.path(Self.phone, "state"), host, ""),
            ("DELETE", "/v1/pushes/\(push.id)", team, ""),
            ("DELETE", RouteScene.path(Self.phone), host, ""),
        ]
        for (method, target, credential, body) in taken {
            let answer = try await scene.send(method, target, credential, body)
            #expect(answer.status < 300, "\(method) \(target): \(answer.body)")
        }
        #expect(storage.refused.requests == 0)
    }

    @Test func `reports are refused only when nothing but the room for snapshots is left`() async throws {
        let disk = FakeDisk()
        let (scene, storage, reload) = try await Self.scene(disk)
        let path = RouteScene.path(Self.phone, "signals")
        let credential = try scene.key.hostCredential(Self.phone)
        let body = #"{"signal":"refused","reload":"\#(reload)"}"#
        disk.use(mebibytes: 1064)
        storage.measure()
        let answer = try await scene.send("POST", path, credential, body)
        #expect(answer.place == Self.full)
        disk.use(mebibytes: 1063)
        storage.measure()
        #expect(try await scene.send("POST", path, credential, body).status == 204)
    }

    @Test func `a refusal says when to come again`() async throws {
        let disk = FakeDisk()
        let (scene, storage, _) = try await Self.scene(disk)
        disk.use(mebibytes: 1000)
        storage.measure()
        var request = HTTPRequest(
            method: "PUT",
            target: RouteScene.path(Self.phone),
            body: Array(RouteScene.body(#""host":"phone""#).utf8)
        )
        request.headers.append("authorization", try scene.key.hostCredential(Self.phone))
        #expect(await scene.routes.respond(to: request).headers["retry-after"] == "30")
    }

    @Test func `operators see sizes, room and what was refused`() async throws {
        let disk = FakeDisk(usedMebibytes: 850)
        disk.change { sizes in
            sizes.snapshots = 3_000_000
            sizes.largestSnapshot = 2_000_000
            sizes.archives = 70_000
        }
        let storage = disk.watch()
        storage.addRefusedPush()
        let scene = try await OperatorScene(storage: storage)
        let stats = try await scene.send("GET", "/v1/stats").json["storage"]
        #expect(stats?["level"] == .string("filling"))
        #expect(stats?["usedPercent"] == .int(85))
        #expect(stats?["logBytes"] == .int(Int64(850 * FakeDisk.mebibyte)))
        #expect(stats?["snapshotBytes"] == .int(3_000_000))
        #expect(stats?["reserveBytes"] == .int(Int64(64 * FakeDisk.mebibyte + 4_000_000)))
        #expect(stats?["refused"]?["pushes"] == .int(1))
        #expect(stats?["growthPerDayBytes"] == nil)
        disk.time.pass(.minutes(2))
        #expect(try await scene.send("GET", "/v1/stats").json["storage"]?["growthPerDayBytes"] == .int(0))
        let response = await scene.routes.respond(to: OperatorScene.request("GET", "/metrics"))
        guard case .bytes(let bytes) = response.body else {
            Issue.record("no metrics")
            return
        }
        let metrics = String(decoding: bytes, as: UTF8.self)
        #expect(metrics.contains("freshet_storage_used_percent 85\n"))
        #expect(metrics.contains(#"freshet_storage_bytes{what="archives"} 70000"# + "\n"))
        #expect(metrics.contains(#"freshet_storage_refused_total{what="pushes"} 1"# + "\n"))
        let none = try await OperatorScene()
        #expect(try await none.send("GET", "/v1/stats").json["storage"] == nil)
    }
}
