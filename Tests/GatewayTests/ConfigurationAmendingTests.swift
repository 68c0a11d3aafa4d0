import APNSWire
import Engine
import Gateway
import HTTPTransport
import IntentMatching
import OperatorAPI
import Partitions
import Settings
import Testing
import WidgetModel

/// Teams and apps that operators change by requests, beside the configuration file.
@Suite struct ConfigurationAmendingTests {
    private static let night = OperatorSource(caller: "night", address: "203.0.113.7", request: "r-1")
    private static let scores = AmendedEntry.app(BundleID("com.example.scores"))
    private static let news = AmendedEntry.app(BundleID("com.example.news"))
    private static let team = AmendedEntry.team(TeamID("ABCDE12345"))
    private static let text = """
        teams: [{id: ABCDE12345, keys: [{id: FILEKEY001, file: /keys/one.pem}]}]
        policies: [{name: mine, rare: 10, typical: 20, frequent: 30}]
        apps:
          - bundleID: com.example.scores
            team: ABCDE12345
            budget: mine
            webhook: {url: "https://hooks.example.com/", secretFile: /keys/secret}
            kinds:
              - kind: scores
                timelineProvider: {url: "https://lines.example.com/", tokenFile: /keys/token}
                parameters: [{name: team, type: string}]
        """
    private static let pem = "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"

    private static func file() throws -> GatewayConfiguration { try ConfigurationFile.parse(Self.text).configuration }

    private static func standing(_ entry: AmendedEntry, _ value: JSONValue?) -> StandingAmendment {
        let text = value.map { String(decoding: $0.jsonText, as: UTF8.self) }
        return StandingAmendment(entry: entry, value: text, since: .epoch, source: Self.night)
    }

    private static func faults(_ body: () throws -> Void) -> [String] {
        do {
            try body()
            return []
        } catch let error as SettingsError {
            return error.faults.map { "\($0.path): \($0.sentence)" }
        } catch {
            return ["\(error)"]
        }
    }

    // MARK: The form of an entry

    @Test func `an entry has the file's form, and reading it back gives the same`() throws {
        let file = try Self.file()
        for entry in [Self.scores, Self.team] {
            let shown = try #require(file.json(of: entry))
            #expect(try file.reading(shown, as: entry) == shown)
            #expect(try file.amended(by: [Self.standing(entry, shown)]) == file)
        }
        #expect(file.json(of: Self.news) == nil)
    }

    @Test func `an entry of a request is judged as the file's are, with its own paths`() throws {
        let file = try Self.file()
        let cases: [(String, String)] = [
            (#"{"bundleID":"com.example.news"}"#, "team: is missing"),
            (#"{"bundleID":"com.example.news","team":"T","colour":1}"#, "colour: there is no such key"),
            (
                #"{"bundleID":"com.example.news","team":"T","developerMode":"true"}"#,
                "developerMode: must be true or false"
            ),
            (
                #"{"bundleID":"com.example.news","team":"T","kinds":[{"kind":"a","budget":"min"}]}"#,
                "kinds[0].budget: there is no"
            ),
            (#"{"bundleID":"com.example.other","team":"T"}"#, ": has another name than the path"),
        ]
        for (text, expected) in cases {
            let found = Self.faults { _ = try file.reading(try json(text), as: Self.news) }
            #expect(found.count == 1 && found[0].hasPrefix(expected), "\(found)")
        }
    }

    @Test func `what names a file is for the configuration file to say`() throws {
        let file = try Self.file()
        let shown = try #require(file.json(of: Self.scores))
        let elsewhere = try json(
            String(decoding: shown.jsonText, as: UTF8.self).replacing("hooks.example.com", with: "evil.example.com")
        )
        let found = Self.faults { _ = try file.reading(elsewhere, as: Self.scores) }
        #expect(found.count == 1 && found[0].hasPrefix("webhook.secretFile: names a file"), "\(found)")
        let token = #"{"kind":"a","timelineProvider":{"url":"https://x.example.com/","tokenFile":"/keys/token"}}"#
        let app = try json(#"{"bundleID":"com.example.news","team":"ABCDE12345","kinds":[\#(token)]}"#)
        #expect(
            Self.faults { _ = try file.reading(app, as: Self.news) }.first?
                .hasPrefix("kinds[0].timelineProvider.tokenFile: names a file") == true
        )
        let team = try json(#"{"id":"ABCDE12345","keys":[{"id":"FILEKEY001","file":"/etc/passwd"}]}"#)
        #expect(Self.faults { _ = try file.reading(team, as: Self.team) }.first?.hasPrefix("keys[0].file") == true)
        let plain = try json(
            #"{"bundleID":"com.example.news","team":"ABCDE12345","kinds":[{"kind":"a","timelineProvider":{"url":"https://x.example.com/"}}]}"#
        )
        #expect(Self.faults { _ = try file.reading(plain, as: Self.news) } == [])
    }

    @Test(arguments: [
        ("{id: K}", "needs either file"), ("{id: K, file: a, publicKey: b}", "needs either file"),
        ("{id: K, publicKey: secretsecret}", "must be a public key as PEM"),
        ("{id: K, publicKey: \"-----BEGIN PRIVATE KEY-----\"}", "is a private key"),
        ("{id: K, publicKey: \"-----BEGIN PUBLIC KEY-----\"}", nil),
    ])
    func `a key is a file or a public key itself, and a private one is refused without a word of it`(
        key: String,
        fault: String?
    ) {
        let found = Self.faults { _ = try ConfigurationFile.parse("teams: [{id: T, keys: [\(key)]}]") }
        if let fault { #expect(found.contains { $0.contains(fault) }, "\(found)") } else { #expect(found == []) }
        #expect(!found.contains { $0.contains("secretsecret") || $0.contains("-----BEGIN PRIVATE") })
    }

    // MARK: The whole

    @Test func `an amendment takes the file's place, and a new entry comes behind`() throws {
        let file = try Self.file()
        let news = try json(#"{"bundleID":"com.example.news","team":"ABCDE12345"}"#)
        let both = try file.amended(by: [Self.standing(Self.news, news), Self.standing(Self.scores, nil)])
        #expect(both.apps.map(\.bundleID.rawValue) == ["com.example.news"])
        #expect(both.teams == file.teams)
        let one = try file.amended(by: [Self.standing(Self.news, news)])
        #expect(one.apps.map(\.bundleID.rawValue) == ["com.example.scores", "com.example.news"])
        #expect(try file.amended(by: []) == file)
    }

    @Test func `what does not go together is told of the entry that it is in`() throws {
        let file = try Self.file()
        #expect(
            Self.faults { _ = try file.amended(by: [Self.standing(Self.team, nil)]) }.first?
                .hasPrefix("apps[0].team: there is no team") == true
        )
        let orphan = try json(#"{"bundleID":"com.example.news","team":"NOSUCHTEAM"}"#)
        do throws(SettingsError) {
            _ = try file.amended(by: [Self.standing(Self.news, orphan)])
            Issue.record("it was taken")
        } catch {
            #expect(error.faults.map(\.place) == [.amendment("app com.example.news")])
            #expect(error.faults.map(\.path) == ["team"])
            #expect("\(error)".hasPrefix("the changed app com.example.news: team: there is no team"))
        }
        #expect(Self.faults { _ = try file.amended(by: [Self.standing(Self.news, .string("{"))]) }.count == 1)
    }

    // MARK: Requests

    private static func started(_ text: String = Self.plain, partitions: Int = 2) async throws -> (
        OwnerScene, ConfigurationReload
    ) {
        let scene = try await OwnerScene.started(partitions: partitions)
        let configuration = try ConfigurationFile.parse(text).configuration
        _ = try await scene.log.appendToAll(.settings(EngineSettings(configuration)))
        let live = ConfigurationReload(
            LiveSettings(configuration),
            source: { configuration },
            log: scene.log,
            clock: scene.time.makeClock(),
            feed: OperatorFeed(epoch: 1),
            logs: .none
        )
        return (scene, live)
    }

    /// Names no file, since nothing is read here.
    private static let plain = """
        listeners: {push: {enabled: false}, host: {enabled: false}, ops: {enabled: false}, health: {enabled: true}}
        limits: {maxAmendments: 2, maxAmendmentBytes: 4096}
        teams: [{id: ABCDE12345}]
        apps: [{bundleID: com.example.scores, team: ABCDE12345, kinds: [{kind: scores, parameters: [{name: team, type: string}]}]}]
        """

    private static func apps(_ scene: OwnerScene) async throws -> [[String]] {
        try await scene.log.askAll(InForceQuestion()).map { inForce in
            inForce.settings?.apps.map { "\($0.app): \($0.kinds.map(\.schema.kind.rawValue).joined(separator: " "))" }
                ?? []
        }
    }

    @Test func `an app that is put is every partition's, once, and ends with what the file says`() async throws {
        let (scene, live) = try await Self.started()
        let body = try json(#"{"team":"ABCDE12345","kinds":[{"kind":"headlines"}]}"#)
        let put = try await live.amend(Self.news, .put(body), by: Self.night)
        #expect(put.difference.faults == [] && put.difference.changes.contains { $0.key == "kinds[0].kind" })
        let both = ["com.example.scores: scores", "com.example.news: headlines"]
        #expect(try await Self.apps(scene) == [both, both])
        #expect(live.inForce.apps.count == 2 && live.file.apps.count == 1)
        let standing = try await scene.log.askAll(InForceQuestion()).map(\.amendments)
        #expect(standing[0] == standing[1] && standing[0].map(\.entry) == [Self.news])
        #expect(standing[0].first?.source == Self.night)

        let before = await scene.log.progress().map(\.applied)
        _ = try await live.amend(Self.news, .put(body), by: Self.night)
        #expect(await scene.log.progress().map(\.applied) == before, "the same again is not logged")

        #expect(try await live.reload().faults == [])
        #expect(live.inForce.apps.count == 2, "a reading of the file keeps it")
        let difference = try await live.compare()
        #expect(difference.changes.isEmpty && difference.amendments.map(\.file) == [nil])

        _ = try await live.amend(Self.news, .end, by: Self.night)
        #expect(try await Self.apps(scene) == [["com.example.scores: scores"], ["com.example.scores: scores"]])
        #expect(try await live.amendments().isEmpty, "the file has none either")
    }

    @Test func `a kind is put and ended in its app, and what it orphans is told before and after`() async throws {
        let (scene, live) = try await Self.started()
        try await scene.register("a", instances: 2)
        let kind = try json(#"{"parameters":[{"name":"team","type":"int"}]}"#)
        let trial = try await live.amend(Self.scores, .putPart("scores", kind), by: Self.night, isDryRun: true)
        #expect(trial.difference.orphaned == 2)
        #expect(try await live.amendments().isEmpty)
        let put = try await live.amend(Self.scores, .putPart("scores", kind), by: Self.night)
        #expect(put.difference.orphaned == 2)
        #expect(
            put.value?["parameters"]
                == .array([try json(#"{"name":"team","type":"int","array":false,"required":false,"cases":[]}"#)])
        )
        _ = try await live.amend(Self.scores, .putPart("more", .object([])), by: Self.night)
        #expect(try await Self.apps(scene).first == ["com.example.scores: scores more"])
        _ = try await live.amend(Self.scores, .endPart("scores"), by: Self.night)
        #expect(try await Self.apps(scene).first == ["com.example.scores: more"])
        _ = try await live.amend(Self.scores, .revert, by: Self.night)
        #expect(try await Self.apps(scene).first == ["com.example.scores: scores"])
        #expect(live.inForce == live.file)
    }

    @Test func `an entry of the file ends by a request, and comes back when that is taken back`() async throws {
        let (scene, live) = try await Self.started()
        _ = try await live.amend(Self.scores, .end, by: Self.night)
        #expect(try await Self.apps(scene) == [[], []])
        #expect(try await live.reload().faults == [])
        #expect(try await Self.apps(scene) == [[], []])
        #expect(try await live.compare().amendments.map(\.inForce) == [nil])
        _ = try await live.amend(Self.scores, .revert, by: Self.night)
        #expect(live.inForce == live.file)
    }

    @Test func `what does not fit is refused whole`() async throws {
        let (scene, live) = try await Self.started()
        let before = await scene.log.progress().map(\.applied)
        let misspelt = try await live.amend(Self.news, .put(try json(#"{"teem":"ABCDE12345"}"#)), by: Self.night)
        #expect(misspelt.isMalformed && misspelt.difference.faults.map(\.path).contains("teem"))
        let alone = try await live.amend(Self.team, .end, by: Self.night)
        #expect(!alone.isMalformed && alone.difference.faults.map(\.path) == ["apps[0].team"])
        for edit in [ConfigurationReload.Edit.end, .revert, .putPart("a", .object([])), .endPart("a")] {
            await #expect(throws: Problem.self) { _ = try await live.amend(Self.news, edit, by: Self.night) }
        }
        #expect(await scene.log.progress().map(\.applied) == before)
        #expect(live.inForce == live.file)
    }

    @Test func `a change of what the client has not seen is refused`() async throws {
        let (_, live) = try await Self.started()
        func code(_ condition: ConfigurationReload.Condition, _ entry: AmendedEntry) async throws -> Problem.Code? {
            let edit = ConfigurationReload.Edit.put(try json(#"{"team":"ABCDE12345"}"#))
            do throws(Problem) {
                _ = try await live.amend(entry, edit, by: Self.night, if: condition, isDryRun: true)
                return nil
            } catch {
                return error.code
            }
        }
        let tag = try #require(live.value(of: Self.scores).map { EntityTag($0.jsonText, isWeak: false) })
        #expect(try await code(.init(ifMatch: tag.description), Self.scores) == nil)
        #expect(try await code(.init(ifMatch: "\"x\", \(tag)"), Self.scores) == nil)
        #expect(try await code(.init(ifMatch: "W/\(tag)"), Self.scores) == .preconditionFailed)
        #expect(try await code(.init(ifMatch: "*"), Self.scores) == nil)
        #expect(try await code(.init(ifMatch: "*"), Self.news) == .preconditionFailed)
        #expect(try await code(.init(ifNoneMatch: "*"), Self.scores) == .preconditionFailed)
        #expect(try await code(.init(ifNoneMatch: "*"), Self.news) == nil)
    }

    @Test func `there may be so many changed entries of so many bytes, and fewer are always taken`() async throws {
        let (_, live) = try await Self.started()
        func put(_ name: String, topics: Int = 0) async throws(Problem) {
            let list = (0..<topics).map { JSONValue.string("com.example.\(name).topic.number.\($0)") }
            let body = JSONValue.object([
                .init(name: "team", value: .string("ABCDE12345")), .init(name: "extraTopics", value: .array(list)),
            ])
            _ = try await live.amend(.app(BundleID("com.example.\(name)")), .put(body), by: Self.night)
        }
        try await put("a")
        await #expect(throws: Problem.self) { try await put("b", topics: 200) }
        try await put("b")
        await #expect(throws: Problem.self) { try await put("c") }
        try await put("b", topics: 1)
        _ = try await live.amend(.app(BundleID("com.example.b")), .end, by: Self.night)
        try await put("c")
        #expect(try await live.amendments().count == 2)
    }
}
