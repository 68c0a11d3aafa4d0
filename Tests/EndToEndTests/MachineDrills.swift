import Foundation
import Testing

/// Incidents of the configuration, the machine and its clock.
enum MachineDrills {
    private static let settings = """
        storage: {memoryMax: 100%}
        limits: {maxBadCredentials: 2}
        \(Drilling.settings)
        """

    static func run() async throws -> [String] {
        let gateway = try await TestGateway.start(extra: Self.settings)
        let prometheus = try await Prometheus.start(watching: gateway)
        let bearer = try await gateway.providerToken()
        try await Drilling.register(gateway, 1, bearer: bearer)
        // That one is over after two minutes only, in which the others have their turn.
        var badTokens = try await Drill("A client loops with a bad token", gateway, prometheus)
        try await Self.showBadTokens(&badTokens, gateway, prometheus)
        var done: [String] = []
        done.append(try await Self.refuseConfiguration(gateway, prometheus))
        done.append(try await Self.ageBackup(gateway, prometheus))
        done.append(try await Self.fillMemory(gateway, prometheus))
        done.append(try await Self.fillDisk(gateway, prometheus))
        done.append(try await Self.endCertificate(gateway, prometheus))
        try await badTokens.isOver(gateway)
        done.append(badTokens.incident.title)
        done.append(try await Self.kill(gateway, prometheus))
        return done
    }

    private static func refuseConfiguration(_ gateway: TestGateway, _ prometheus: Prometheus) async throws -> String {
        var drill = try await Drill("A configuration is refused", gateway, prometheus)
        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(try await Drilling.use("deliveriess: {}", gateway).status == 78)
        // SIGHUP and systemctl reload find the same.
        gateway.sendHangup()
        try await drill.isSeen(by: gateway)
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let reload = try await gateway.runVerb(["reload", "--yes"])
        #expect(reload.status == 0, "\(reload)")
        try await drill.isOver(gateway)
        return drill.incident.title
    }

    private static func ageBackup(_ gateway: TestGateway, _ prometheus: Prometheus) async throws -> String {
        func back(up name: String) async throws {
            let to = "\(gateway.folder)/\(name)"
            let words = ["backup", "--data", "\(gateway.folder)/data", "--to", to]
            let made = try await Command.run(TestGateway.program, words)
            try #require(made.status == 0, "\(made.errors)")
        }
        try await back(up: "first")
        _ = try await gateway.eventually("it is seen") {
            try await Drilling.stats(gateway, "storage")["lastBackup"] as? String
        }
        var drill = try await Drill("The backup is too old", gateway, prometheus)
        let old: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: -3 * 86_400)]
        try FileManager.default.setAttributes(old, ofItemAtPath: "\(gateway.folder)/data/last-backup")
        try await drill.isSeen(by: gateway)
        try await back(up: "second")
        try await drill.isOver(gateway)
        return drill.incident.title
    }

    private static func fillMemory(_ gateway: TestGateway, _ prometheus: Prometheus) async throws -> String {
        var drill = try await Drill("The memory nears its bound", gateway, prometheus)
        _ = try await gateway.eventually("the memory fills up") {
            let memory = try await Drilling.stats(gateway, "memory")
            if memory["level"] as? String == "filling" { return true }
            let used = try #require(memory["usedBytes"] as? Int)
            let bound = "storage: {memoryMax: \(used / 9 * 10 / 1024)KiB}"
            try #require(try await Drilling.use(bound, gateway).status == 0)
            return nil
        }
        try await drill.isSeen(by: gateway)
        try #require(try await Drilling.use("storage: {memoryMax: 100%}", gateway).status == 0)
        try await drill.isOver(gateway)
        return drill.incident.title
    }

    private static func fillDisk(_ gateway: TestGateway, _ prometheus: Prometheus) async throws -> String {
        var drill = try await Drill("The disk is at 90 %", gateway, prometheus)
        // So much that what the gateway itself writes and lets go meanwhile does not count; it takes no place.
        let ballast = "\(gateway.folder)/data/ballast"
        let made = try await Command.run("truncate", ["--size", "256M", ballast])
        try #require(made.status == 0, "\(made.errors)")
        let storage = try await gateway.eventually("it is measured") {
            let storage = try await Drilling.stats(gateway, "storage")
            return storage["usedBytes"] as? Int ?? 0 > 256 << 20 ? storage : nil
        }
        let used = try #require(storage["usedBytes"] as? Int)
        let bound = used / 93 * 100 + (try #require(storage["reserveBytes"] as? Int))
        let line = "storage: {memoryMax: 100%, minFree: 0%, maxBytes: \(bound / 1024)KiB}"
        let full = try await Drilling.use(line, gateway)
        try #require(full.status == 0, "\(full.errors)")
        try await drill.isSeen(by: gateway)
        try FileManager.default.removeItem(atPath: ballast)
        try #require(try await Drilling.use("storage: {memoryMax: 100%}", gateway).status == 0)
        try await drill.isOver(gateway)
        return drill.incident.title
    }

    private static func endCertificate(_ gateway: TestGateway, _ prometheus: Prometheus) async throws -> String {
        var drill = try await Drill("A certificate ends", gateway, prometheus)
        let certs = "\(gateway.folder)/certs"
        let short = try await TestGateway.makeCertificates(named: "short", in: gateway.folder, ["--days", "10"])
        let long = try await TestGateway.makeCertificates(named: "long", in: gateway.folder, [])
        func show(_ folder: String) async throws {
            for file in ["server.pem", "server.key"] {
                let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                try text.write(toFile: "\(certs)/\(file)", atomically: true, encoding: .utf8)
            }
            let reload = try await gateway.runVerb(["reload", "--yes"])
            try #require(reload.status == 0, "\(reload.errors)")
        }
        try await show(short)
        try await drill.isSeen(by: gateway)
        try await show(long)
        try await drill.isOver(gateway)
        return drill.incident.title
    }

    private static func showBadTokens(
        _ drill: inout Drill,
        _ gateway: TestGateway,
        _ prometheus: Prometheus
    ) async throws {
        let options = [
            "--silent", "--http2", "--cacert", gateway.ca, "--header", "apns-push-type: widgets", "--header",
            "apns-topic: \(TestGateway.topic)", "--data", "{}",
        ]
        let place = "\(gateway.pushURL)/3/device/\(TestGateway.token(1).dropLast(3))"
        func bearer(_ number: Int) -> [String] {
            // A header and claims that are whole, and no signature of any key.
            let signature = String(repeating: "A", count: 84) + "\(number)"
            let claims = "eyJpc3MiOiJURVNUVEVBTTAxIiwiaWF0IjoxNzY0MTk0NDAwfQ"
            return [
                "--header",
                "authorization: bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IlRFU1RLRVkwMDEifQ.\(claims).\(signature)",
            ]
        }
        try await drill.isSeen(
            by: gateway,
            again: {
                let client = try await Command.run("curl", options + bearer(10) + ["\(place)[100-299]"])
                #expect(client.output.contains("InvalidProviderToken"), "\(client)")
            }
        )
        #expect(try await !prometheus.firingIfHeld().contains("FreshetClientsCutOff"))
        // Ever other bad tokens on one connection are too many. A cut that is over soon is no alert: it comes again and again.
        let others = Array((10..<99).map { options + bearer($0) + ["\(place)100"] }.joined(separator: ["--next"]))
        try await prometheus.waitUntilFiring(["FreshetClientsCutOff"]) { _ = try await Command.run("curl", others) }
    }

    private static func kill(_ gateway: TestGateway, _ prometheus: Prometheus) async throws -> String {
        var drill = try await Drill("A restart after kill -9", gateway, prometheus)
        await gateway.crash()
        try await drill.isGone(gateway)
        let again = try await TestGateway.start(in: gateway.folder, extra: Self.settings)
        prometheus.watch(again)
        try await drill.isOver(again, isAnother: true)
        // The charts of the new process have the marks of the one before.
        let marks = try await again.curl("GET", "\(again.opsURL)/v1/history/marks").json["marks"] as? [[String: Any]]
        let texts = try #require(marks).compactMap { $0["text"] as? String }
        #expect(texts.count { $0 == "The gateway was started" } == 2 && texts.contains("The configuration was refused"))
        await again.stop()
        return drill.incident.title
    }

    static func runWithWrongClock() async throws -> [String] {
        let folder = try TestGateway.makeFolder()
        let clock = try await WrongClock(in: folder)
        let gateway = try await TestGateway.start(
            in: folder,
            extra: Drilling.settings,
            environment: clock.environment
        )
        let prometheus = try await Prometheus.start(watching: gateway)
        var drill = try await Drill("The clock is wrong", gateway, prometheus)
        try clock.setWrong(by: 3600)
        try await drill.isSeen(by: gateway)
        try clock.setWrong(by: 0)
        try await drill.isOver(gateway)
        await gateway.stop()
        return [drill.incident.title]
    }

    static func runWithFullDisk() async throws -> [String] {
        let disk = try SmallDisk(mebibytes: 256)
        let gateway = try await TestGateway.start(extra: Drilling.settings, disk: disk)
        let prometheus = try await Prometheus.start(watching: gateway)
        let bearer = try await gateway.providerToken()
        try await Drilling.register(gateway, 1, bearer: bearer)
        var drill = try await Drill("The log refuses to be written", gateway, prometheus)
        try await disk.fill(of: gateway)
        // Orders go on out of the reserve, for as long as the write-ahead log has room; then the disk itself refuses them.
        _ = try await gateway.eventually("the disk takes no order") {
            let order = #"{"action":"resume","of":{"app":"\#(TestGateway.app)"}}"#
            return try await gateway.curl("POST", "\(gateway.opsURL)/v1/orders", body: order).status == 503 ? true : nil
        }
        let place = "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes"
        let body = #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
        try await drill.isSeen(
            by: gateway,
            again: {
                let push = try await gateway.curl("POST", place, bearer: bearer, body: body)
                #expect(push.status == 503, "\(push.body)")
            }
        )
        try disk.free(of: gateway)
        try await drill.isOver(gateway)
        await gateway.stop()
        return [drill.incident.title]
    }
}
