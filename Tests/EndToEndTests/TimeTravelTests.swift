import Foundation
import FreshetClient
import Testing

/// `serve --in-memory --movable-clock`: a sender's own tests see in a second what a gateway does in a day.
@Suite struct TimeTravelTests {
    private static func push(_ sender: Sender) async throws -> UUID {
        try await sender.push(to: .kind("scores")).id
    }

    private static func outcomes(_ gateway: TestGateway, _ sender: Sender, _ id: UUID) async throws -> [Outcome: Int] {
        try await gateway.eventually("push \(id) is applied") {
            do {
                return try await sender.status(of: id).outcomes
            } catch FreshetError.refused(let refusal) where refusal.status == 404 {
                return nil
            }
        }
    }

    private static func advance(_ gateway: TestGateway, _ body: String) async throws -> TestGateway.Answer {
        try await gateway.curl("POST", "\(gateway.opsURL)/v1/clock", body: body)
    }

    @Test func `what waits for the budget reloads when its time has come, and the token is still good`() async throws {
        let gateway = try await TestGateway.start(partitions: 2, options: ["--in-memory", "--movable-clock"])
        let bearer = try await gateway.providerToken()
        let sender = try gateway.sender(bearer)
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        try await gateway.acknowledge(try await gateway.outstanding(1, bearer: bearer), bearer: bearer)
        let first = try await Self.push(sender)
        let second = try await Self.push(sender)
        #expect(try await Self.outcomes(gateway, sender, first) == [.issued: 1])
        #expect(try await Self.outcomes(gateway, sender, second) == [.deferred: 1])
        try await gateway.acknowledge(try await gateway.outstanding(1, bearer: bearer), bearer: bearer)
        // Not everything that a day may bring: the pace at 40 to 70 a day is below an hour.
        #expect(try await Self.advance(gateway, #"{"advance":3600}"#).status == 200)
        #expect(try await Self.outcomes(gateway, sender, second) == [.issued: 1])
        // Provider tokens are judged by real time: this one would be more than an hour old.
        #expect(try await Self.advance(gateway, #"{"advance":86400}"#).status == 200)
        let third = try await Self.push(sender)
        #expect(try await Self.outcomes(gateway, sender, second) == [.failed: 1], "no host acknowledged it for a day")
        #expect(try await Self.outcomes(gateway, sender, third) == [.issued: 1])
        let folder = "\(gateway.folder)/data"
        #expect(!FileManager.default.fileExists(atPath: folder), "nothing is written")
        await gateway.stop()
    }

    @Test func `the clock goes forward only, and says what time it is`() async throws {
        let gateway = try await TestGateway.start(options: ["--in-memory", "--movable-clock"])
        let before = try await gateway.curl("GET", "\(gateway.opsURL)/v1/clock")
        #expect(before.json["isMovable"] as? Bool == true)
        for body in [
            #"{"to":"2020-01-01T00:00:00Z"}"#, #"{"advance":-1}"#, #"{}"#,
            #"{"advance":1,"to":"2100-01-01T00:00:00Z"}"#,
        ] {
            #expect(try await Self.advance(gateway, body).status == 400, "\(body)")
        }
        let after = try await Self.advance(gateway, #"{"advance":864000}"#)
        let text = try #require(after.json["now"] as? String)
        #expect(text > (before.json["now"] as? String ?? "~"))
        await gateway.stop()
    }

    @Test func `a gateway in service keeps its own time`() async throws {
        let gateway = try await TestGateway.start()
        let answer = try await Self.advance(gateway, #"{"advance":1}"#)
        #expect(answer.status == 400)
        #expect(answer.reason == "not-supported")
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/clock").json["isMovable"] as? Bool == false)
        await gateway.stop()
        let refused = try await Command.run(TestGateway.program, ["serve", "--movable-clock"])
        #expect(refused.status != 0)
        #expect(refused.errors.contains("--movable-clock needs --in-memory"), "\(refused.errors)")
    }
}
