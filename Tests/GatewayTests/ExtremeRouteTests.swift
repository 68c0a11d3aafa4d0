import Engine
import HTTPTransport
import TestSupport
import Testing
import WidgetModel

/// Every number that a request of the documented routes may hold, with the extremes of its type: nothing traps, nothing is the
/// gateway's fault, the books close, and a process that reads the log again comes to the same.
@Suite struct ExtremeRouteTests {
    /// Of channels `APNSWireTests/ChannelValidationTests` has the extremes; each line of a bulk is judged as a push to an app, which
    /// `BulkPushTests` holds it to.
    private static let operations = OpenAPI.document.operations.filter { operation in
        operation.tags != ["health"] && operation.id != "pushBulkToApp"
            && !["/1/", "/4/"].contains { operation.path.hasPrefix($0) }
    }

    private static func listeners(of operation: OpenAPI.Operation) -> [ExtremeScene.Listener] {
        if operation.id.hasPrefix("pushTo") { return [.push] }
        return operation.tags.map { $0 == "operators" ? .operators : .host }
    }

    /// Operations that need a configuration, which these scenes do not have: `not-supported`.
    private static func isUnsupported(_ operation: OpenAPI.Operation) -> Bool {
        let apps = ["app", "putApp", "endApp", "appKind", "putAppKind", "endAppKind"]
        return ["/v1/config", "/v1/teams"].contains { operation.path.hasPrefix($0) } || apps.contains(operation.id)
    }

    @Test(arguments: Self.operations)
    func `what is driven is answered in the usual case`(_ operation: OpenAPI.Operation) async throws {
        for listener in Self.listeners(of: operation) {
            let scene = try await ExtremeScene(listener)
            let sample = try #require(scene.samples(of: operation).first)
            let status = try await scene.send(sample.request(operation.method))
            #expect((Self.isUnsupported(operation) ? [400] : [200, 204]).contains(status), "\(status)")
        }
    }

    @Test(arguments: Self.operations)
    func `extremes in paths, queries and headers`(_ operation: OpenAPI.Operation) async throws {
        for listener in Self.listeners(of: operation) {
            let scene = try await ExtremeScene(listener)
            let sample = try #require(scene.samples(of: operation).first)
            let texts = ExtremeTexts.all + (try scene.places())
            for parameter in operation.parameters where !parameter.isWord {
                for text in texts + ExtremeTexts.bounds(of: parameter.schema) {
                    switch parameter.place {
                    case "path":
                        var other = sample
                        other.path = ExtremeScene.path(of: operation, (parameter.name, text))
                        try await scene.send(other.request(operation.method))
                    case "query":
                        let query = "?\(parameter.name)=\(ExtremeTexts.escaped(text))"
                        try await scene.send(sample.request(operation.method, query: query))
                    default:
                        try await scene.send(sample.request(operation.method, header: (parameter.name, text)))
                    }
                }
            }
            // Every request has it.
            for text in ExtremeTexts.numbers {
                try await scene.send(sample.request(operation.method, header: ("content-length", text)))
            }
            try await scene.check()
        }
    }

    @Test(arguments: Self.operations.filter(\.takesBody))
    func `extremes in bodies`(_ operation: OpenAPI.Operation) async throws {
        for listener in Self.listeners(of: operation) {
            let scene = try await ExtremeScene(listener)
            for sample in scene.samples(of: operation) {
                for body in ExtremeTexts.bodies(of: try json(sample.body)) {
                    var other = sample
                    other.body = body.text
                    try await scene.send(other.request(operation.method))
                }
            }
            try await scene.check()
        }
    }

    /// As far as it may be moved at once, and further.
    @Test func `extremes of what a clock is moved by`() async throws {
        let schema = try #require(Self.operations.first { $0.id == "moveClock" }?.body?["properties"]?["advance"])
        for seconds in ExtremeTexts.bounds(of: schema) {
            let scene = try await ExtremeScene(.operators)
            let sample = ExtremeScene.Sample(path: "/v1/clock", body: #"{"advance":\#(seconds)}"#)
            try await scene.send(sample.request("POST"))
            try await scene.check()
        }
    }

    /// Parameters are driven by the document itself. A body is driven by a sample, which has to have every number in it.
    @Test func `every number that the document names is driven`() throws {
        let reload = ReloadID(partition: PartitionID(0), position: LogPosition(1), instance: 1, check: 1)
        let bodies = ExtremeScene.bodies(reload: reload)
        #expect(Self.operations.filter(\.takesBody).filter { bodies[$0.id] == nil }.map(\.id) == [])
        for operation in Self.operations {
            let driven = try Set(
                (bodies[operation.id] ?? []).flatMap { ExtremeTexts.bodies(of: try json($0)).map(\.place) }
            )
            let named = Set(operation.body.map { OpenAPI.document.numbers(of: $0) } ?? [])
            #expect(named.subtracting(driven) == [], "\(operation.id)")
        }
        // So that an empty reading of the document is not taken for one in which everything is driven.
        #expect(Self.operations.count > 40)
        #expect(Self.operations.flatMap(\.parameters).count { !$0.isWord && $0.place != "path" } > 30)
        #expect(Self.operations.compactMap(\.body).flatMap { OpenAPI.document.numbers(of: $0) }.count > 8)
    }
}
