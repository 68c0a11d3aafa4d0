import Foundation
import FreshetClient
import Testing

/// `curl -N` follows event streams and sees exactly the instances that a push is about.
@Suite struct EventStreamTests {
    /// The `data:` lines of an event stream, as curl prints them.
    private static func follow(_ gateway: TestGateway, _ path: String, bearer: String, _ options: [String]) throws
        -> Command
    {
        try Command(
            "curl",
            [
                "--silent", "--no-buffer", "--cacert", gateway.ca, "--header", "authorization: bearer \(bearer)",
            ] + options + ["\(gateway.hostURL)\(path)"]
        )
    }

    private struct ReloadLine: Hashable {
        let id: String
        let address: String
        let cause: String

        init?(_ line: String) {
            guard line.hasPrefix("data: "),
                let object = try? JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8)) as? [String: Any],
                let id = object["id"] as? String, let host = object["host"] as? String,
                let instance = object["instance"] as? String, let causes = object["causes"] as? [String]
            else { return nil }
            self.id = id
            self.address = "\(host):\(instance)"
            self.cause = causes.joined(separator: ",")
        }
    }

    @Test(arguments: TestLog.present)
    func `a targeted push reloads exactly the instances that match`(log: TestLog) async throws {
        let gateway = try await TestGateway.start(on: log, partitions: 4)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks", "rams"], bearer: bearer)
        _ = try await gateway.register(2, teams: ["rams"], bearer: bearer)
        _ = try await gateway.register(3, teams: ["bears", "seahawks"], bearer: bearer)

        let backEnd = try gateway.backEnd(bearer)
        var events = backEnd.events().makeAsyncIterator()
        // The first reloads, of instances that were just added, are offered when the stream opens.
        let added = try await Self.reloads(8, &events)
        #expect(Set(added.flatMap(\.causes)) == ["added"])
        try await backEnd.acknowledge(added.map(\.id))

        let id = try await Self.push(gateway, bearer, to: .kind("scores", matching: ["team": ["seahawks"]]))
        let sentinel = try await Self.push(gateway, bearer, to: .kind("character", matching: [.host: ["host-2"]]))
        // Partitions commit on their own: the sentinel of one may come before the reloads of another.
        let seen = try await Self.reloads(3, &events)
        #expect(
            Set(seen.map { "\($0.host):\($0.instance)" })
                == ["host-1:scores-0", "host-3:scores-1", "host-2:character"]
        )
        #expect(Set(seen.flatMap(\.causes)) == ["push"])
        try await backEnd.acknowledge(seen.map(\.id))

        let push = try await gateway.settled(id)
        #expect(push.json["matched"] as? Int == 2)
        #expect(push.json["outcomes"] as? [String: Int] == ["reloaded": 2])
        #expect(push.json["partitions"] as? Int == 4)
        let other = try await gateway.settled(sentinel)
        #expect(other.json["outcomes"] as? [String: Int] == ["reloaded": 1])
        await gateway.stop()
    }

    /// The next reloads of an event stream.
    private static func reloads(_ count: Int, _ events: inout HostEvents.AsyncIterator) async throws -> [Reload] {
        var reloads: [Reload] = []
        while reloads.count < count, let event = try await events.next() {
            if case .reload(let reload) = event { reloads.append(reload) }
        }
        return reloads
    }

    private static func push(_ gateway: TestGateway, _ bearer: String, to target: Target) async throws -> String {
        try await gateway.sender(bearer).push(Push(priority: .immediate), to: target).id.uuidString.lowercased()
    }

    @Test(arguments: ["--http2", "--http1.1"])
    func `a host follows its own reloads with its own credential`(version: String) async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        let credential = try await gateway.hostCredential(TestGateway.token(1), host: "host-1")
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: credential)
        _ = try await gateway.register(2, teams: ["seahawks"], bearer: bearer)

        let path = "/v1/hosts/\(TestGateway.token(1))/events"
        let stream = try Self.follow(gateway, path, bearer: credential, [version])
        var seen: [ReloadLine] = []
        for await line in stream.lines {
            if let reload = ReloadLine(line) { seen.append(reload) }
            if seen.count == 2 { break }
        }
        #expect(Set(seen.map(\.address)) == ["host-1:scores-0", "host-1:character"])
        stream.terminate()
        _ = await stream.wait()

        // Another host's stream is not there for this credential.
        let other = try await gateway.curl(
            "GET",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(2))/events",
            bearer: credential,
            options: [version]
        )
        #expect(other.status == 404)
        #expect(other.reason == "unknown-host")
        await gateway.stop()
    }

    @Test(arguments: TestLog.present)
    func `what is not acknowledged is offered again with the same id`(log: TestLog) async throws {
        let gateway = try await TestGateway.start(on: log, partitions: 4)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: [], bearer: bearer)
        let path = "/v1/hosts/\(TestGateway.token(1))/events"

        var ids: [String] = []
        var texts: [String] = []
        var place = ""
        for attempt in 0..<2 {
            let options = attempt == 0 ? ["--http2"] : ["--http2", "--header", "last-event-id: \(place)"]
            let stream = try Self.follow(gateway, path, bearer: bearer, options)
            for await line in stream.lines {
                if let reload = ReloadLine(line) {
                    ids.append(reload.id)
                    texts.append(line)
                }
                // The place to resume from follows the outstanding reloads.
                guard line.hasPrefix("id: ") else { continue }
                place = String(line.dropFirst(4))
                break
            }
            stream.terminate()
            _ = await stream.wait()
        }
        #expect(ids.count == 2 && ids[0] == ids[1])
        #expect(!texts[0].contains("redelivered"))
        #expect(texts[1].contains(#""redelivered":true"#))

        try await gateway.acknowledge([ids[0]], bearer: bearer)
        #expect(try await gateway.outstanding(1, bearer: bearer).isEmpty)

        // A place that this gateway never gave out is a gap.
        let stream = try Self.follow(
            gateway,
            path,
            bearer: bearer,
            ["--http2", "--header", "last-event-id: 0-999-7-00000000"]
        )
        var sawGap = false
        for await line in stream.lines where line == "event: gap" {
            sawGap = true
            break
        }
        #expect(sawGap)
        stream.terminate()
        _ = await stream.wait()
        await gateway.stop()
    }

    @Test(arguments: TestLog.present)
    func `a sender follows its push to the end`(log: TestLog) async throws {
        let gateway = try await TestGateway.start(on: log, partitions: 2)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        _ = try await gateway.register(2, teams: ["seahawks"], bearer: bearer)
        for host in [1, 2] {
            try await gateway.acknowledge(try await gateway.outstanding(host, bearer: bearer), bearer: bearer)
        }
        let sender = try gateway.sender(bearer)
        let push = try await sender.push(
            Push(priority: .immediate),
            to: .kind("scores", matching: ["team": ["seahawks"]])
        )
        _ = try await gateway.eventually("push \(push.id) is applied everywhere") {
            try await sender.status(of: push.id).appliedBy == 2 ? push : nil
        }
        var outcomes: [[Outcome: Int]] = []
        for try await status in sender.progress(of: push.id) {
            outcomes.append(status.outcomes)
            // One host after the other says that it has reloaded.
            guard let host = [1, 2].dropFirst(outcomes.count - 1).first else { continue }
            try await gateway.acknowledge(try await gateway.outstanding(host, bearer: bearer), bearer: bearer)
        }
        #expect(outcomes == [[.issued: 2], [.issued: 1, .reloaded: 1], [.reloaded: 2]])
        await gateway.stop()
    }

    @Test(arguments: TestLog.present)
    func `a foreground app reloads what waited, not charged`(log: TestLog) async throws {
        let gateway = try await TestGateway.start(on: log, partitions: 4)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let first = try await Self.push(gateway, bearer, to: .kind("scores"))
        let second = try await Self.push(gateway, bearer, to: .kind("scores"))
        try await gateway.acknowledge(try await gateway.outstanding(1, bearer: bearer), bearer: bearer)
        let waiting = try await gateway.settled(second)
        #expect(waiting.json["outcomes"] as? [String: Int] == ["deferred": 1])

        try await gateway.host(1, bearer).send([.appForeground])
        // Exempt reloads keep 15 seconds of distance, so the one that waited may still be on its way.
        let instance = try await gateway.curl(
            "GET",
            "\(gateway.opsURL)/v1/instances/com.example.scores/host-1:scores-0"
        )
        let budget = instance.json["budget"] as? [String: Any]
        #expect(budget?["exemption"] as? String == "appForeground")
        #expect(budget?["charged"] as? Int == 1)
        let done = try await gateway.settled(first)
        #expect(done.json["outcomes"] as? [String: Int] == ["reloaded": 1])
        await gateway.stop()
    }
}
