import Engine
import Ingest
import Journaling
import OperatorAPI
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// Hosts that are erased with their history: no partition remembers their tokens, also one that they moved away from.
@Suite struct ErasureTests {
    private static let phone = Sports.token("phone")
    private static let lamp = Sports.token("lamp")

    private let operators: OperatorScene
    private let hosts: RouteScene
    /// Hosts of two partitions; neither has the audit's records.
    private let old: HostKey
    private let new: HostKey

    init() async throws {
        self.operators = try await OperatorScene(partitions: 4, forgetHistory: { 7 })
        self.hosts = try RouteScene(self.operators.scene)
        let log = self.operators.scene.log
        let panels = (1...20).map { HostKey("panel-\($0)") }.filter { log.partition(of: $0) != PartitionID(0) }
        self.old = panels[0]
        self.new = try #require(panels.first { log.partition(of: $0) != log.partition(of: panels[0]) })
    }

    /// Registers a token for a host, a token of its own for a control with it.
    private func put(_ host: HostKey, _ token: DeviceToken = Self.phone, _ control: DeviceToken = Self.lamp)
        async throws
    {
        let widget = #"{"id":"c","kind":"scores","family":"systemSmall","controlToken":"\#(control.hex)"}"#
        let body = RouteScene.body(#""host":"\#(host.id.rawValue)""#, instances: "[\(widget)]")
        let answer = try await self.hosts.send("PUT", RouteScene.path(token), try self.hosts.key.providerToken(), body)
        try #require(answer.status == 200, "\(answer.body)")
    }

    /// The words of all partitions on some tokens.
    private func words(_ tokens: [DeviceToken] = [Self.phone, Self.lamp]) async throws -> [DirectoryChange] {
        try await self.operators.scene.log.askAll(TokensQuestion(tokens)).flatMap { $0 }
    }

    private static func path(_ host: HostKey) -> String { "/v1/hosts/\(host.app)/\(host.id)?history=true" }

    @Test(arguments: [false, true])
    func `the partition that a token moved away from forgets it with the host`(isWholeApp: Bool) async throws {
        let scene = self.operators.scene
        let others = [Sports.token("watch"), Sports.token("switch")]
        try await self.put(self.old, others[0], others[1])
        _ = try await scene.log.append(.unregister(HostRemoval(host: self.old)), for: self.old)
        try await self.put(self.old)
        try await self.put(self.new)
        #expect(try await self.words().count == 4, "each is bound in one partition, and remembered in the other")

        let path = isWholeApp ? "/v1/apps/\(Sports.app)/hosts?history=true" : Self.path(self.new)
        let erased = try await self.operators.send("DELETE", path)
        let removed = try json(#"{"removed":1,"files":7}"#)
        #expect(erased.json == removed)
        #expect(try await self.words() == [])
        #expect(try await self.words(others).count == 2, "they were not the erased host's")
        try await scene.settle()
        for token in [Self.phone, Self.lamp] { #expect(scene.directory.lookup(token) == .unknown) }

        let replay = scene.restarted()
        _ = try await replay.start()
        let digests = try await scene.digests()
        #expect(try await replay.digests() == digests)
        for token in [Self.phone, Self.lamp] { #expect(replay.directory.lookup(token) == .unknown) }
    }

    @Test func `an erasure that ends in the middle is sent again`() async throws {
        let (log, journal) = (self.operators.scene.log, self.operators.scene.journal)
        try await self.put(self.old)
        try await self.put(self.new)
        // The old host's partition has forgotten the tokens; the journal is lost before the host goes.
        let before = try await log.askAll(HostQuestion(self.new)).compactMap(\.self)
        journal.observeAppends(log.partition(of: self.old)) { _ in
            journal.failNextAppend(with: JournalError(.unavailable, "the brokers do not answer"))
        }
        #expect(try await self.operators.send("DELETE", Self.path(self.new)).status == 503)
        #expect(try await log.askAll(HostQuestion(self.new)).compactMap(\.self) == before)
        #expect(try await self.operators.send("DELETE", Self.path(self.new)).json["removed"] == .int(1))
        #expect(try await self.words() == [])
    }

    @Test func `a token that has moved back is another host's, and stays`() async throws {
        let scene = self.operators.scene
        try await self.put(self.old)
        try await self.put(self.new)
        try await self.put(self.new, Sports.token("watch"), Sports.token("switch"))
        try await self.put(self.old)
        #expect(try await self.operators.send("DELETE", Self.path(self.new)).status == 200)
        try await scene.settle()
        for token in [Self.phone, Self.lamp] {
            guard case .bound(let binding) = scene.directory.lookup(token) else {
                Issue.record("\(token) is \(scene.directory.lookup(token))")
                continue
            }
            #expect(binding.host == self.old)
        }
    }
}
