import Testing

/// The page of senders: what each cost since the log began, and by the hour.
@Suite struct SenderPageTests {
    @Test func `it says what each sender cost, since the log began and lately, also after a restart`() async throws {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        try await gateway.acknowledge(try await gateway.outstanding(1, bearer: bearer), bearer: bearer)
        // Costs before the first count are in no hour.
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/history/senders").status == 200)
        #expect(try await gateway.push(to: 1, bearer: bearer).status == 200)
        let reports = try await DashboardTests.reports(
            gateway,
            ["texts", "senders", "senders?range=86400", "now", "senders?range=3600"]
        )
        #expect(DashboardTests.complaints(reports) == [])
        #expect(reports.allSatisfy { $0["violations"] as? [String] ?? [] == [] })
        let texts = reports.compactMap { $0["text"] as? String }
        try #require(texts.count == 4)
        #expect(texts[0].contains("since the log began") && texts[1].contains("in the hours since"), "\(texts)")
        for text in texts {
            #expect(text.contains(TestGateway.team) && !text.contains("No sender has pushed"), "\(text)")
        }
        // A gateway that starts again has the hours of the one before.
        #expect(await gateway.drain() == 0)
        let again = try await TestGateway.start(in: gateway.folder, partitions: 2)
        let after = try await DashboardTests.reports(again, ["texts", "senders?range=86400"])
        let text = after.compactMap { $0["text"] as? String }.joined()
        #expect(text.contains(TestGateway.team) && text.contains("100 %"), "\(text)")
        await again.stop()
    }
}
