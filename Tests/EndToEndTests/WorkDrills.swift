import Foundation
import Synchronization
import Testing

/// Incidents of too much work. However fast the machine is, more of it comes while a drill looks.
enum WorkDrills {
    /// Hosts of so many widgets each, about all of which every push is.
    private static let (hosts, widgets) = (12, 250)
    /// As many pushes as one bulk request has room for.
    private static let pushesMax = 5000

    static func run() async throws -> [String] {
        let share = "fairness: {undecided: 100ms, pushMax: 1h}"
        let gateway = try await TestGateway.start(extra: "\(share)\n\(Drilling.settings)")
        let prometheus = try await Prometheus.start(watching: gateway)
        let bearer = try await gateway.providerToken()
        let instances = (0..<Self.widgets).map {
            #"{"id":"i\#($0)","kind":"scores","family":"systemSmall","configuration":{"team":"rams"}}"#
        }.joined(separator: ",")
        let lines = (0..<Self.hosts).map { number in
            #"{"token":"\#(TestGateway.token(10 + number))","app":"\#(TestGateway.app)","host":"host-\#(number)","#
                + #""revision":1,"instances":[\#(instances)]}"#
        }
        // One after the other: a registration is work, too.
        for line in lines {
            _ = try await gateway.eventually("a host is registered") {
                let place = "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/hosts"
                let answer = try await gateway.curl("POST", place, bearer: bearer, body: line)
                return answer.status == 200 && !answer.body.contains("problem") ? true : nil
            }
        }

        /// Pushes to all widgets so many times at once, and comes to how many of them are refused.
        @discardableResult @Sendable func flood(_ pushes: Int) async throws -> Int {
            let payload = #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
            let lines = (0..<pushes).map { _ in
                #"{"apns-id":"\#(UUID().uuidString.lowercased())","payload":\#(payload)}"#
            }
            let place = "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes/bulk"
            let type = ["content-type: application/x-ndjson"]
            let body = lines.joined(separator: "\n")
            let answer = try await gateway.curl("POST", place, bearer: bearer, headers: type, body: body)
            try #require(answer.status == 200, "\(answer.body)")
            return answer.body.split(separator: "\n").count { $0.contains(#""status":503"#) }
        }
        /// Floods until something is refused: how much that takes depends on the machine, and is known from the first time on.
        let enough = Mutex(60)
        @Sendable func floodOverShare() async throws {
            while try await flood(enough.withLock { $0 }) == 0 {
                enough.withLock { $0 = min($0 * 2, Self.pushesMax) }
            }
        }
        /// For how many seconds the oldest entry of the log has waited; 0 if none waits.
        func lag() async throws -> Double {
            let answer = try await gateway.curl("GET", "\(gateway.opsURL)/v1/partitions").json
            let row = try #require((answer["partitions"] as? [[String: Any]])?.first)
            guard try #require(row["lag"] as? Int) > 0 else { return 0 }
            return max(0.001, try #require(row["lagSeconds"] as? Double))
        }
        func isIdle() async throws {
            _ = try await gateway.eventually("all is decided") { try await lag() == 0 ? true : nil }
        }
        var done: [String] = []

        try await isIdle()
        var flooded = try await Drill("One team floods", gateway, prometheus)
        // A look at a busy gateway takes seconds, in which a flood would be over. And before each one more is refused: a look may be
        // quicker than a flood, and the alert is for what grows.
        try await TestGateway.keepUp(floodOverShare) {
            try await flooded.isSeen(by: gateway, again: floodOverShare)
        }
        try await isIdle()
        // To do tells of incidents within the last minute.
        try await flooded.isOver(gateway, staysToDo: true)
        done.append(flooded.incident.title)

        try #require(try await Drilling.use("fairness: {undecided: 1h, pushMax: 1h}", gateway).status == 0)
        var lagging = try await Drill("A partition lags", gateway, prometheus)
        // Twice as many each time that all of them are decided before the next look, and no more than the drill needs.
        var pushes = 1000
        try await lagging.isSeen(
            by: gateway,
            again: {
                let lag = try await lag()
                guard lag < 10 else { return }
                if lag == 0 { pushes = min(pushes * 2, Self.pushesMax) }
                try await flood(pushes)
            }
        )
        try await isIdle()
        try await lagging.isOver(gateway)
        done.append(lagging.incident.title)
        await gateway.stop()
        return done
    }
}
