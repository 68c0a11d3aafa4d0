import Engine
import OperatorAPI
import Partitions
import TestSupport
import Testing
import WidgetModel

@Suite struct OrderBodyTests {
    private static let app = BundleID("com.example.scores")

    @Test(
        arguments: [
            (
                #"{"action":"pause","of":{"app":"com.example.scores"}}"#,
                OperatorOrder(.pause(until: nil), .app(Self.app))
            ),
            (
                #"{"action":"pause","until":"2026-11-21T12:00:00Z","of":{"sender":"ABCDE12345"}}"#,
                OperatorOrder(.pause(until: Instant(seconds: 1_795_262_400)), .sender(TeamID("ABCDE12345")))
            ),
            (
                #"{"action":"resume","of":{"app":"com.example.scores","kind":"scores"}}"#,
                OperatorOrder(.resume, .kind(Self.app, WidgetKind("scores")))
            ),
            (
                #"{"action":"grant","count":5,"of":{"instance":"com.example.scores/phone-17:a"}}"#,
                OperatorOrder(
                    .grant(5),
                    .instance(InstanceAddress(host: HostKey("phone-17"), instance: InstanceID("a")))
                )
            ),
            (
                #"{"action":"grant","count":5,"of":{"app":"com.example.scores","instance":"phone-17:a:b"}}"#,
                OperatorOrder(
                    .grant(5),
                    .instance(InstanceAddress(host: HostKey("phone-17"), instance: InstanceID("a:b")))
                )
            ),
            (
                #"{"action":"grant","count":5,"of":{"app":"com.example.scores","instance":"com.example.scores/phone-17:a"}}"#,
                OperatorOrder(
                    .grant(5),
                    .instance(InstanceAddress(host: HostKey("phone-17"), instance: InstanceID("a")))
                )
            ),
            (
                #"{"action":"reload","of":{"app":"com.example.scores","kind":"scores"}}"#,
                OperatorOrder(.reload, .kind(Self.app, WidgetKind("scores")))
            ),
            (
                #"{"action":"cancel","of":{"app":"com.example.scores","host":"phone-17"}}"#,
                OperatorOrder(.cancel, .host(HostKey("phone-17")))
            ),
            (
                #"{"action":"cancel","of":{"push":"00000000-0000-0007-0000-000000000001","sender":"ABCDE12345"}}"#,
                OperatorOrder(.cancel, .push(PushID(high: 7, low: 1), TeamID("ABCDE12345")))
            ),
        ] as [(String, OperatorOrder)]
    )
    func `a body states an order`(text: String, order: OperatorOrder) throws {
        let value = try json(text)
        #expect(try OrderBody.order(value) == order)
    }

    @Test(
        arguments: [
            ("[]", Place(.badRequest, nil)), ("{}", Place(.badRequest, "action")),
            (#"{"action":"stop","of":{"app":"a"}}"#, Place(.badRequest, "action")),
            (#"{"action":"pause"}"#, Place(.badRequest, "of")),
            (#"{"action":"pause","until":null,"of":{"app":"a"}}"#, Place(.badRequest, "until")),
            (#"{"action":"pause","of":{"app":"a","kind":null}}"#, Place(.badRequest, "of.kind")),
            (#"{"action":"pause","of":{}}"#, Place(.badRequest, "of")),
            (#"{"action":"pause","of":{"app":"a","host":"h"}}"#, Place(.badRequest, "of")),
            (#"{"action":"resume","of":{"push":"00000000-0000-0007-0000-000000000001"}}"#, Place(.badRequest, "of")),
            (#"{"action":"pause","until":"soon","of":{"app":"a"}}"#, Place(.badRequest, "until")),
            (#"{"action":"grant","of":{"app":"a"}}"#, Place(.badRequest, "count")),
            (#"{"action":"grant","count":0,"of":{"app":"a"}}"#, Place(.badRequest, "count")),
            (#"{"action":"grant","count":10001,"of":{"app":"a"}}"#, Place(.badRequest, "count")),
            (#"{"action":"grant","count":1,"of":{"sender":"a"}}"#, Place(.badRequest, "of")),
            (#"{"action":"reload","of":{"sender":"a"}}"#, Place(.badRequest, "of")),
            (#"{"action":"cancel","of":{"push":"x"}}"#, Place(.badRequest, "of.push")),
            (#"{"action":"cancel","of":{"instance":"x"}}"#, Place(.badRequest, "of.instance")),
            (#"{"action":"cancel","of":{"instance":"h:i"}}"#, Place(.badRequest, "of.instance")),
            (#"{"action":"cancel","of":{"app":"a","instance":"b/h:i"}}"#, Place(.badRequest, "of.instance")),
            (#"{"action":"cancel","of":{"app":"a","host":"h","also":1}}"#, Place(.badRequest, "of.also")),
            (#"{"action":"cancel","of":{"app":"a","host":"h"},"why":1}"#, Place(.badRequest, "why")),
        ] as [(String, Place)]
    )
    func `a fault names its place`(text: String, place: Place) throws {
        let value = try json(text)
        #expect(Place(problem { () throws(Problem) in try OrderBody.order(value) }) == place)
    }

    @Test func `a sender takes back what still waits of its own pushes, and of no other's`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone-17")
        let pushes = (1...2).map { Sports.push($0, to: "phone-17") }
        for push in pushes { _ = try await scene.scene.log.append(.push(push), for: HostKey("phone-17")) }
        let target = "/v1/pushes/\(pushes[1].id)"
        let other = try scene.otherKey.providerToken()
        #expect(try await scene.send("DELETE", target, other).body == #"{"cancelled":0}"#)
        #expect(try await scene.send("DELETE", target, try scene.key.providerToken()).body == #"{"cancelled":1}"#)
        #expect(try await scene.send("DELETE", target, try scene.key.providerToken()).body == #"{"cancelled":0}"#)
        let answer = try await scene.send("GET", target, try scene.key.providerToken())
        #expect(answer.body.contains(#""outcomes":{"cancelled":1}"#))
        #expect(try await scene.send("DELETE", "/v1/pushes/x", try scene.key.providerToken()).status == 400)
    }
}
