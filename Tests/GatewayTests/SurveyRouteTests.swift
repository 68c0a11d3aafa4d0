import Engine
import HTTPTransport
import OperatorAPI
import Partitions
import Testing
import WidgetModel

/// Sums over all instances: the last survey's numbers at once, with their age, and none before the first.
@Suite struct SurveyRouteTests {
    private static let routes = ["budget", "forecast", "apps", "kinds"]

    private static func first(_ json: JSONValue, _ list: String) -> JSONValue? {
        guard case .array(let rows) = json[list] else { return nil }
        return rows.first
    }

    @Test func `before the first survey nothing is counted, and nothing is said to be none`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        for route in Self.routes {
            let answer = try await scene.send("GET", "/v1/\(route)")
            #expect(answer.status == 200)
            #expect(answer.json["survey"] == .null, "\(route)")
        }
        #expect(try await scene.send("GET", "/v1/budget").json["instances"] == nil)
        #expect(try await scene.send("GET", "/v1/forecast").json["buckets"] == nil)
        // Members that need no survey are there.
        let app = Self.first(try await scene.send("GET", "/v1/apps").json, "apps")
        #expect(app?["app"] == .string("com.example.scores"))
        #expect(app?["instances"] == nil)
        let kind = Self.first(try await scene.send("GET", "/v1/kinds").json, "kinds")
        #expect(kind?["kind"] == .string("scores"))
        #expect(kind?["instances"] == nil)
    }

    @Test func `an old survey is the answer, and says how old it is`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        try await scene.watch.surveys.renew()
        for route in Self.routes {
            #expect(try await scene.send("GET", "/v1/\(route)").json["survey"]?["ageSeconds"] == .int(0), "\(route)")
        }
        try await scene.scene.register("host-2")
        scene.scene.time.pass(.seconds(40))
        for route in Self.routes {
            #expect(try await scene.send("GET", "/v1/\(route)").json["survey"]?["ageSeconds"] == .int(40), "\(route)")
        }
        #expect(try await scene.send("GET", "/v1/budget").json["instances"] == .int(1))
        try await scene.watch.surveys.renew()
        let budget = try await scene.send("GET", "/v1/budget").json
        #expect(budget["instances"] == .int(2))
        #expect(budget["survey"]?["ageSeconds"] == .int(0))
        #expect(Self.first(try await scene.send("GET", "/v1/apps").json, "apps")?["instances"] == .int(2))
        #expect(Self.first(try await scene.send("GET", "/v1/kinds").json, "kinds")?["instances"] == .int(2))
    }

    @Test func `a survey that is no longer waited for ends before its next step`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        let surveys = scene.watch.surveys
        let walking = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await surveys.renew()
        }
        walking.cancel()
        await #expect(throws: Problem.self) { try await walking.value }
        #expect(await surveys.latest == nil)
        #expect(try await surveys.renew().sum.kinds.map(\.instances) == [1])
    }

    @Test func `surveys are made without being asked for`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        let surveys = scene.watch.surveys
        let running = Task { await surveys.run() }
        while await surveys.latest == nil { await Task.yield() }
        running.cancel()
        await running.value
        #expect(try await scene.send("GET", "/v1/budget").json["instances"] == .int(1))
    }
}
