import OperatorAPI
import Testing
import WidgetModel

/// `POST /v1/try-now`.
@Suite struct TryNowRouteTests {
    @Test func `where nothing has failed nothing is tried, and it is in the audit all the same`() async throws {
        let scene = try await OperatorScene()
        let answer = try await scene.send("POST", "/v1/try-now", "{}")
        #expect(answer.status == 200 && answer.json["tried"] == .array([]))
        let entry = try await scene.scene.audit.newest().first
        #expect(entry?.path == "/v1/try-now" && entry?.status == 200)
    }

    @Test(arguments: [
        #"{"app":"com.example.scores"}"#, #"{"app":"a.b"}"#, #"{"app":"com.example.scores","kind":"scores"}"#,
    ])
    func `what is not there is not found`(body: String) async throws {
        let scene = try await OperatorScene()
        #expect(try await scene.send("POST", "/v1/try-now", body).status == 404)
    }

    @Test(arguments: [
        #"{"kind":"scores"}"#, #"{"app":null}"#, #"{"ap":"com.example.scores"}"#, #"{"app":5}"#, "[]", "",
    ])
    func `what cannot be understood is refused`(body: String) async throws {
        let scene = try await OperatorScene()
        #expect(try await scene.send("POST", "/v1/try-now", body).status == 400)
        #expect(try await scene.scene.audit.newest().isEmpty)
    }

    @Test func `it takes a POST`() async throws {
        let scene = try await OperatorScene()
        #expect(try await scene.send("GET", "/v1/try-now").status == 405)
    }
}
