import Engine
import HTTPTransport
import HostAPI
import OperatorAPI
import Partitions
import TestSupport
import Testing
import WidgetModel

/// Caching, entity tags and compression, which follow from the lists of routes.
@Suite struct MannersTests {
    private static func get(
        _ routes: OperatorRoutes,
        _ target: String,
        _ headers: HTTPFields = [:],
        method: String = "GET"
    ) async -> HTTPResponse {
        var request = OperatorScene.request(method, target)
        request.headers = headers
        return await routes.respond(to: request)
    }

    private static func bytes(_ response: HTTPResponse) -> [UInt8] {
        guard case .bytes(let bytes) = response.body else { return [] }
        return bytes
    }

    @Test(arguments: ["/v1/session", "/v1/config", "/v1/log-levels", "/v1/stats", "/v1/nothing", "/livez", "/readyz"])
    func `every answer says how it may be kept`(target: String) async throws {
        let scene = try await OperatorScene()
        let response = await Self.get(scene.routes, target)
        let hosts = try await RouteScene()
        let own = await hosts.routes.respond(to: HTTPRequest(method: "GET", target: "/v1/hosts/abcd/state"))
        #expect(own.headers["cache-control"] == "no-store")
        let isTagged = response.headers["etag"] != nil
        #expect(isTagged == ["/v1/session", "/v1/log-levels"].contains(target))
        #expect(response.headers["cache-control"] == (isTagged ? "private, no-cache" : "no-store"))
        #expect(response.headers.all.count { $0.name == "cache-control" } == 1)
    }

    @Test func `what a client has is not sent again`() async throws {
        let scene = try await OperatorScene()
        let first = await Self.get(scene.routes, "/v1/log-levels")
        let tag = try #require(first.headers["etag"])
        for method in ["GET", "HEAD"] {
            let again = await Self.get(scene.routes, "/v1/log-levels", ["if-none-match": tag], method: method)
            #expect(again.status == 304)
            #expect(Self.bytes(again).isEmpty)
            #expect(again.headers["etag"] == tag && again.headers["cache-control"] == "private, no-cache")
            #expect(again.headers["content-type"] == first.headers["content-type"])
        }
        #expect(await Self.get(scene.routes, "/v1/log-levels", ["if-none-match": #"W/"0""#]).status == 200)
        // An answer about this moment is another one each time.
        #expect(await Self.get(scene.routes, "/v1/stats", ["if-none-match": "*"]).status == 200)
        #expect(await Self.get(scene.routes, "/v1/nothing", ["if-none-match": "*"]).status == 404)
    }

    @Test func `a host asks for its state, and is told that it has not changed`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let target = RouteScene.path(Sports.token("phone"), "state")
        func ask(_ known: String?) async throws -> HTTPResponse {
            var request = HTTPRequest(method: "GET", target: target)
            request.headers.append("authorization", try scene.key.providerToken())
            if let known { request.headers.append("if-none-match", known) }
            return await scene.routes.respond(to: request)
        }
        let tag = try #require(try await ask(nil).headers["etag"])
        #expect(try await ask(tag).status == 304)
        _ = try await scene.scene.log.append(.push(Sports.push(1, to: "phone")), for: HostKey("phone"))
        try await scene.scene.settle()
        let changed = try await ask(tag)
        #expect(changed.status == 200 && changed.headers["etag"] != tag)
    }

    @Test func `metrics are compressed as JSON is`() async throws {
        let scene = try await OperatorScene()
        let plain = await Self.get(scene.routes, "/metrics")
        let coded = await Self.get(scene.routes, "/metrics", ["accept-encoding": "gzip"])
        #expect(plain.headers["content-encoding"] == nil && plain.headers["vary"] == "accept-encoding")
        #expect(coded.headers["content-encoding"] == "gzip" && coded.headers["vary"] == "accept-encoding")
        #expect(Self.bytes(coded).count < Self.bytes(plain).count / 3)
    }

    /// By length: one byte below the limit, at it, and above.
    @Test(arguments: [(1023, false), (1024, true), (1025, true)])
    func `an answer is compressed from a length on, for who takes it`(count: Int, isCompressed: Bool) async throws {
        let scene = try await OperatorScene(tokens: ["token read \(String(repeating: "n", count: count - 29))"])
        let plain = await Self.get(scene.routes, "/v1/session", ["authorization": "bearer token"])
        #expect(Self.bytes(plain).count == count)
        #expect(plain.headers["content-encoding"] == nil)
        #expect(plain.headers["vary"] == (isCompressed ? "accept-encoding" : nil))
        let headers: HTTPFields = ["authorization": "bearer token", "accept-encoding": "br, gzip"]
        let coded = await Self.get(scene.routes, "/v1/session", headers)
        #expect((coded.headers["content-encoding"] == "gzip") == isCompressed)
        #expect((Self.bytes(coded).count < count / 2) == isCompressed)
        // The tag is of the content, however it is coded.
        #expect(coded.headers["etag"] == plain.headers["etag"])
        let head = await Self.get(scene.routes, "/v1/session", headers, method: "HEAD")
        func fields(_ response: HTTPResponse) -> [HTTPFields.Field] {
            response.headers.all.filter { $0.name != "x-request-id" }
        }
        #expect(fields(head) == fields(coded))
    }

    @Test func `streams and lines are not compressed`() async throws {
        let scene = try await RouteScene()
        for number in 0..<20 { try await scene.register("phone-\(number)") }
        var request = HTTPRequest(method: "GET", target: "/v1/apps/\(Sports.app)/hosts")
        request.headers.append("authorization", try scene.key.providerToken())
        request.headers.append("accept-encoding", "gzip")
        let export = await scene.routes.respond(to: request)
        #expect(export.status == 200 && Self.bytes(export).count > 2048)
        #expect(export.headers["content-encoding"] == nil && export.headers["cache-control"] == "no-store")
        let operators = try await OperatorScene()
        let events = await Self.get(operators.routes, "/v1/events", ["accept-encoding": "gzip"])
        #expect(events.status == 200 && events.headers["content-encoding"] == nil)
        #expect(events.headers["cache-control"] == "no-store" && events.headers["vary"] == nil)
    }

    @Test func `a body that is longer than a route takes is 413, also by a route that reads none`() async throws {
        let scene = try await OperatorScene()
        let body = String(repeating: " ", count: 4097)
        #expect(await scene.routes.respond(to: OperatorScene.request("POST", "/v1/config/reload", body)).status == 413)
        let less = OperatorScene.request("POST", "/v1/config/reload", String(body.dropLast()))
        #expect(await scene.routes.respond(to: less).status == 400)
    }
}
