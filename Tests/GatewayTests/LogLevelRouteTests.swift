import HTTPTransport
import Logging
import OperatorAPI
import Partitions
import Settings
import Testing
import WidgetModel

/// `/v1/log-levels`.
@Suite struct LogLevelRouteTests {
    @Test func `an operator sets levels, and gives them back to the configuration`() async throws {
        var settings = GatewayConfiguration.Log()
        settings.levels = [.providers: .error]
        let logs = GatewayLogs(settings) { _ in SwiftLogNoOpLogHandler() }
        let scene = try await OperatorScene(logs: logs)
        func levels(_ json: JSONValue) -> [String: String] {
            guard case .array(let rows) = json["subsystems"] else { return [:] }
            return Dictionary(
                uniqueKeysWithValues: rows.compactMap { row in
                    guard case .string(let name) = row["subsystem"], case .string(let level) = row["level"] else {
                        return nil
                    }
                    return (name, level)
                }
            )
        }
        let before = try await scene.send("GET", "/v1/log-levels")
        #expect(before.status == 200)
        #expect(levels(before.json).count == LogSubsystem.allCases.count)
        #expect(levels(before.json)["http"] == "info")
        #expect(levels(before.json)["providers"] == "error")
        let set = try await scene.send("PUT", "/v1/log-levels", #"{"levels":{"http":"debug","audit":"notice"}}"#)
        #expect(set.status == 200)
        #expect(levels(set.json)["http"] == "debug")
        #expect(levels(set.json)["providers"] == "error")
        #expect(logs.logger(.http).logLevel == .debug)
        #expect(try await scene.scene.audit.newest().map(\.path) == ["/v1/log-levels"])
        let back = try await scene.send("PUT", "/v1/log-levels", #"{"levels":{}}"#)
        #expect(levels(back.json) == levels(before.json))
    }

    @Test(
        arguments: [
            "", "[]", "{}", #"{"levels":[]}"#, #"{"levels":{"http":"loud"}}"#, #"{"levels":{"htp":"debug"}}"#,
            #"{"levels":{"http":1}}"#, #"{"levels":{},"more":1}"#, #"{"levels":{"http":null}}"#,
            #"{"levels":{},"freshet":null}"#,
        ]
    )
    func `what is no level of a subsystem is refused, and changes nothing`(body: String) async throws {
        let logs = GatewayLogs(GatewayConfiguration.Log()) { _ in SwiftLogNoOpLogHandler() }
        let scene = try await OperatorScene(logs: logs)
        #expect(try await scene.send("PUT", "/v1/log-levels", body).status == 400)
        #expect(logs.views.map(\.level) == LogSubsystem.allCases.map { _ in .info })
    }

    @Test func `metrics count what was written and what repeated itself`() async throws {
        let logs = GatewayLogs(GatewayConfiguration.Log()) { _ in SwiftLogNoOpLogHandler() }
        let scene = try await OperatorScene(logs: logs)
        for _ in 0..<3 { logs.logger(.deliveries).error("away") }
        let response = await scene.routes.respond(to: OperatorScene.request("GET", "/metrics"))
        guard case .bytes(let bytes) = response.body else {
            Issue.record("no text")
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains(#"freshet_log_messages_total{subsystem="deliveries"} 1"#))
        #expect(lines.contains(#"freshet_log_messages_repeated_total{subsystem="deliveries"} 2"#))
    }
}
