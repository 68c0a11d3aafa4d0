import Engine
import Partitions
import TestSupport
import Testing
import WidgetModel

/// Removes all hosts of an app, and the pushes that wait for one instance.
@Suite struct BoundedRouteTests {
    @Test func `an app's hosts are taken away in parts, and no other's`() async throws {
        let scene = try await OperatorScene()
        // More than one part of each partition.
        let names = (0..<2200).map { "host-\($0)" }
        for first in stride(from: 0, to: names.count, by: 550) {
            let records = names[first..<first + 550].map { name in
                (record: Record.register(Sports.registration(name, [Sports.instance("a")])), host: HostKey(name))
            }
            _ = try await scene.scene.log.append(records)
        }
        let other = HostRegistration(
            host: HostKey("other", of: Sports.otherApp),
            token: Sports.token("other"),
            revision: 1,
            instances: []
        )
        _ = try await scene.scene.log.append(.register(other), for: HostKey("other", of: Sports.otherApp))
        let erased = try await scene.send("DELETE", "/v1/apps/com.example.scores/hosts")
        #expect(erased.status == 200)
        #expect(erased.json["removed"] == .int(2200))
        #expect(try await scene.send("DELETE", "/v1/apps/com.example.scores/hosts").status == 404)
        #expect(try await scene.scene.log.askAll(TotalsQuestion()).map(\.hosts).reduce(0, +) == 1)
    }

    @Test func `of what waits for an instance as much is sent as is asked for`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        try await scene.acknowledgeAll()
        for number in 1...105 {
            let push = Sports.push(UInt64(number), to: "host-1")
            _ = try await scene.scene.log.append(.push(push), for: HostKey("host-1"))
        }
        func pending(_ query: String) async throws -> (shown: Int, count: JSONValue?) {
            let json = try await scene.send("GET", "/v1/instances/com.example.scores/host-1:a0\(query)").json
            guard case .array(let rows) = json["pending"] else { return (-1, nil) }
            return (rows.count, json["pendingCount"])
        }
        let all = try await pending("?pending=1000")
        #expect(all.shown > 100)
        #expect(all.count == .int(Int64(all.shown)))
        for (query, shown) in [("", 100), ("?pending=1", 1), ("?pending=\(all.shown - 1)", all.shown - 1)] {
            let some = try await pending(query)
            #expect(some.shown == shown, "\(query)")
            #expect(some.count == all.count, "\(query)")
        }
        for wrong in ["0", "1001", "x"] {
            #expect(
                try await scene.send("GET", "/v1/instances/com.example.scores/host-1:a0?pending=\(wrong)").status == 400
            )
        }
    }
}
