import Engine
import IntentMatching
import Journaling
import Partitions
import Settings
import Testing
import Timelines
import WidgetModel

/// The faults of a text, one line each; empty if it is a configuration.
private func faults(
    _ text: String,
    environment: [String: String] = [:],
    options: [(path: String, text: String)] = []
) -> [String] {
    do throws(SettingsError) {
        _ = try ConfigurationFile.parse(text, name: "f.yaml", environment: environment, options: options)
        return []
    } catch {
        return error.faults.map(\.description)
    }
}

private func parse(_ text: String, environment: [String: String] = [:]) throws -> GatewayConfiguration {
    try ConfigurationFile.parse(text, name: "f.yaml", environment: environment).configuration
}

@Suite struct ConfigurationFileTests {
    @Test(arguments: ["", "\n", "# nothing\n", "---\n", "{}", "listeners:\n", "tls:\nteams:\nlimits: {}\n"])
    func `a file that says nothing is the defaults`(text: String) throws {
        #expect(try parse(text) == GatewayConfiguration())
    }

    @Test func `single values are read where they stand`() throws {
        let configuration = try parse(
            """
            dataDirectory: /srv/freshet
            partitions: 8
            listeners:
              push: {address: 0.0.0.0, port: 2_197}
              ops: {enabled: false}
            limits:
              maxInFlightBytes: 16MiB
              pushRetention: 90m
            log: {level: debug, format: human}
            """
        )
        var expected = GatewayConfiguration()
        expected.dataDirectory = "/srv/freshet"
        expected.partitions = 8
        expected.listeners.push.address = "0.0.0.0"
        expected.listeners.ops.isEnabled = false
        expected.limits.inFlightBytesMax = 16 * 1_048_576
        expected.limits.engine.pushRetention = .minutes(90)
        expected.log.level = .debug
        expected.log.format = .human
        #expect(configuration == expected)
    }

    @Test func `rates are read with their bursts`() throws {
        let configuration = try parse(
            """
            rateLimits:
              perApp: {rate: 1_000/s}
              perKey: {rate: 20/m, burst: 7}
              perToken: {rate: 3/10s}
              maxTokens: 128
            teams: [{id: T, keys: [{id: K, file: k.pem, rateLimit: {rate: 1/d}}]}]
            apps: [{bundleID: a.b, team: T, rateLimit: {rate: 1000000/s, burst: 10000000}}]
            """
        )
        var expected = GatewayConfiguration.RateLimits()
        expected.perApp = .init(count: 1000, period: .seconds(1))
        expected.perKey = .init(count: 20, period: .minutes(1), burst: 7)
        expected.perToken = .init(count: 3, period: .seconds(10))
        expected.tokensMax = 128
        #expect(configuration.rateLimits == expected)
        #expect(configuration.rateLimits.perApp?.burstInForce == 1000)
        #expect(configuration.rateLimits.perToken?.burstInForce == 1)
        #expect(configuration.teams[0].keys[0].rateLimit == .init(count: 1, period: .days(1)))
        let app = configuration.apps[0].rateLimit
        #expect(app == .init(count: 1_000_000, period: .seconds(1), burst: 10_000_000))
    }

    @Test(arguments: ["0/s", "1000001/s", "5", "5/", "/s", "5/s/s", "5/500ms", "5/25h", "-1/s", "5/w"])
    func `what is no rate is refused`(text: String) {
        let rate = "a rate (100/s, 20/m, 3/10s) of 1 to 1,000,000 in 1s to 24h"
        let hint = text == "5" ? "; did you mean 5/s?" : ""
        #expect(
            faults("rateLimits: {perApp: {rate: \"\(text)\"}}") == [
                "f.yaml:1:29: rateLimits.perApp.rate: must be \(rate), not \"\(text)\"\(hint)"
            ]
        )
    }

    @Test func `a rate without its pace, or with a burst out of range, is refused`() {
        #expect(faults("rateLimits: {perApp: {burst: 5}}").count == 1)
        for burst in ["0", "10000001"] {
            #expect(faults("rateLimits: {perApp: {rate: 1/s, burst: \(burst)}}").count == 1)
        }
        #expect(faults("rateLimits: {maxTokens: 63}").count == 1)
        #expect(faults("limits: {maxInFlightPushes: 0}").count == 1)
    }

    @Test func `teams and apps become the types that the engine takes`() throws {
        let configuration = try parse(
            """
            teams:
            - id: "0123456789"
              keys:
              - {id: KEY1, file: k.p8, topics: [com.example.scores.push-type.widgets]}
            policies:
              - {name: frugal, typical: 12, frequent: 20}
            apps:
              - bundleID: com.example.scores
                team: 0123456789
                unknownTokens: accept
                defaultPriority: 10
                maxMatched: 100
                budget: frugal
                kinds:
                  - kind: scores
                    parameters:
                      - {name: team, type: entity, required: true}
                      - {name: limit, type: int, default: 5}
                      - {name: leagues, type: enumeration, array: true, cases: [nfl, nba], default: [nfl]}
                      - {name: since, type: date, default: "2026-11-21T18:00:00+01:00"}
                  - kind: ticker
                    budget: unlimited
                  - kind: news
                    budget: {preset: trmnl, pushShare: 1/2}
            """
        )
        var frugal = BudgetPolicy.widgetkit
        frugal.name = "frugal"
        frugal.source = "the operator, from widgetkit"
        frugal.typical = 12
        frugal.frequent = 20
        var news = BudgetPolicy.trmnl
        news.name = "own"
        news.source = "the operator, from trmnl"
        news.pushShare = BudgetPolicy.Share(1, of: 2)
        var app = GatewayConfiguration.App(bundleID: BundleID("com.example.scores"), team: TeamID("0123456789"))
        app.unknownTokens = .accept
        app.defaultPriority = .high
        app.matchedMax = 100
        app.budget = frugal
        app.kinds = [
            .init(
                schema: try KindSchema(
                    kind: WidgetKind("scores"),
                    parameters: [
                        ParameterSchema("team", .entity, isRequired: true),
                        ParameterSchema("limit", .int, defaultValue: .int(5)),
                        ParameterSchema(
                            "leagues",
                            .enumeration,
                            isArray: true,
                            defaultValue: .array([.string("nfl")]),
                            cases: ["nfl", "nba"]
                        ),
                        ParameterSchema("since", .date, defaultValue: .date(Instant(seconds: 1_795_280_400))),
                    ]
                ),
                budget: frugal
            ),
            .init(schema: try KindSchema(kind: WidgetKind("ticker")), budget: .unlimited),
            .init(schema: try KindSchema(kind: WidgetKind("news")), budget: news),
        ]
        #expect(configuration.apps == [app])
        #expect(configuration.policies == [frugal])
        #expect(
            configuration.teams == [
                .init(
                    id: TeamID("0123456789"),
                    keys: [.init(id: KeyID("KEY1"), file: "k.p8", topics: ["com.example.scores.push-type.widgets"])]
                )
            ]
        )
    }

    @Test func `keys have an environment and a related key, apps a bound on their tokens`() throws {
        let configuration = try parse(
            """
            teams:
            - id: T
              keys:
              - {id: A, file: a.p8, topics: [com.example.scores.push-type.widgets], environment: development, relatedKey: B}
              - {id: B, file: b.p8, topics: [com.example.scores.push-type.controls], environment: development}
            apps:
            - {bundleID: com.example.scores, team: T, environment: development, maxTokenDigits: 64}
            providerTokens: {minRefresh: 0s, refreshScope: team, bindConnections: false}
            """
        )
        let keys = configuration.teams[0].keys
        #expect(keys.map(\.environment) == [.development, .development])
        #expect(keys.map(\.relatedKey) == [KeyID("B"), nil])
        #expect(configuration.apps[0].tokenDigitsMax == 64)
        #expect(configuration.providerTokens.refreshMin == .zero)
        #expect(configuration.providerTokens.refreshScope == .team)
        #expect(!configuration.providerTokens.bindsConnections)
    }

    @Test(
        arguments: [
            ("A, topics: [a.b], relatedKey: C", "is not another key of the team T; give one"),
            ("A, topics: [a.b], relatedKey: A", "is not another key of the team T; give one"),
            (
                "A, relatedKey: B",
                "relates two keys, but one has no topics; only keys with topics can be related"
            ),
            (
                "A, topics: [a.b], environment: production, relatedKey: B",
                "is a key of another environment; give both keys the same"
            ),
        ]
    )
    func `a related key has to fit`(key: String, sentence: String) {
        let text = """
            teams: [{id: T, keys: [{id: \(key), file: a}, {id: B, file: b, topics: [a.b]}]}]
            apps: [{bundleID: a.b, team: T}]
            """
        let found = faults(text)
        #expect(found.count == 1)
        #expect(found.first?.contains("teams[0].keys[0].relatedKey: \(sentence)") == true, "\(found)")
    }

    @Test func `two keys are related, not three`() {
        let text = """
            teams:
            - id: T
              keys:
              - {id: A, file: a, topics: [a.b], relatedKey: B}
              - {id: B, file: b, topics: [a.b], relatedKey: A}
              - {id: C, file: c, topics: [a.b], relatedKey: B}
            apps: [{bundleID: a.b, team: T}]
            """
        #expect(faults(text).count == 3)
    }

    @Test func `client certificates are named by fingerprint or user id`() throws {
        let hex = String(repeating: "ab", count: 32)
        let configuration = try parse(
            """
            tls: {clientCA: ca.pem}
            teams: [{id: T}]
            apps:
              - bundleID: a.b
                team: T
                allowedClientCertificates:
                  - fingerprint: "\(hex)"
                    topics: [a.b.push-type.widgets]
                  - userID: a.b
            """
        )
        #expect(
            configuration.apps.first?.clientCertificates == [
                .init(name: .fingerprint(Array(repeating: 0xAB, count: 32)), topics: ["a.b.push-type.widgets"]),
                .init(name: .userID("a.b")),
            ]
        )
    }

    @Test func `every fault of a file is reported with line, column, path and remedy`() {
        let found = faults(
            """
            partitons: 2
            dataDirectory: [a]
            listeners:
              push:
                port: 99999
                enabled: yes
              host:
                address: localhost
            timeouts:
              idle: 3600
            log:
              level: inform
              format: "json"
              format: human
            limits:
              maxTags: "3"
            streams: 5
            """
        )
        #expect(
            found == [
                "f.yaml:1:1: partitons: there is no such key; did you mean partitions?",
                "f.yaml:2:16: dataDirectory: must be the name of a file, not a list",
                "f.yaml:5:11: listeners.push.port: must be an integer from 0 to 65,535, not \"99999\"",
                "f.yaml:6:14: listeners.push.enabled: must be true or false, not \"yes\"; did you mean true?",
                "f.yaml:8:14: listeners.host.address: must be a numeric address, such as 127.0.0.1, 0.0.0.0 or ::1, "
                    + "not \"localhost\"",
                "f.yaml:10:9: timeouts.idle: must be a length of time with its unit (15s, 5m, 4h, 2d) from 1s to 24h, "
                    + "not \"3600\"; did you mean 3600s?",
                "f.yaml:12:10: log.level: must be trace, debug, info, notice, warning, error or critical, "
                    + "not \"inform\"; did you mean info?",
                "f.yaml:14:3: the key \"format\" is given twice in one section; keep one of them",
                "f.yaml:16:12: limits.maxTags: must be an integer from 0 to 1,000, not a text in quotes; "
                    + "remove the quotes",
                "f.yaml:17:10: streams: must be a section with keys of its own, not \"5\"",
            ]
        )
    }

    @Test func `every fault of teams, apps and kinds is reported where it is`() {
        let found = faults(
            """
            teams:
              - id: TEAM1
                keys:
                  - {id: K1, file: a.p8}
                  - {id: K1, file: b.p8, topics: [com.other.push-type.widgets]}
              - keys: []
            policies:
              - {name: unlimited}
              - {name: mine, typical: 90}
            apps:
              - bundleID: com..example
                team: TEAM1
              - bundleID: com.example
                team: TEAM2
                budget: widgetkt
                allowedClientCertificates:
                  - {topics: [com.example]}
                kinds:
                  - kind: scores
                    parameters:
                      - {name: a, type: integer}
                      - {name: b, type: int, default: five}
                      - {name: c, type: enumeration}
                      - {name: d, type: string}
                      - {name: d, type: string}
                  - kind: scores
              - bundleID: com.example
                team: TEAM1
            """
        )
        #expect(
            found == [
                "f.yaml:5:14: teams[0].keys[1].id: is also the id of teams[0].keys[0]; give each key its own id",
                "f.yaml:5:39: teams[0].keys[1].topics[0]: is not a topic of an app of the team TEAM1; correct it, or add it "
                    + "to the app's extraTopics",
                "f.yaml:6:5: teams[1].id: is missing; give an id of 1 to 64 letters, digits, hyphens and underscores",
                "f.yaml:8:12: policies[0].name: is the name of a preset; choose another name",
                "f.yaml:9:27: policies[1].typical: must lie between rare and frequent",
                "f.yaml:11:15: apps[0].bundleID: must be a bundle id of letters, digits, hyphens and dots "
                    + "(com.example.scores), not \"com..example\"",
                "f.yaml:14:11: apps[1].team: there is no team \"TEAM2\"; did you mean TEAM1?",
                "f.yaml:15:13: apps[1].budget: there is no budget policy \"widgetkt\"; did you mean widgetkit?",
                "f.yaml:17:7: apps[1].allowedClientCertificates: needs tls.clientCA, without which no client is asked "
                    + "for a certificate",
                "f.yaml:17:9: apps[1].allowedClientCertificates[0]: needs either fingerprint (SHA-256 of the certificate) "
                    + "or userID (the subject's UID)",
                "f.yaml:21:29: apps[1].kinds[0].parameters[0].type: must be string, int, double, bool, date, "
                    + "enumeration or entity, not \"integer\"",
                "f.yaml:22:43: apps[1].kinds[0].parameters[1].default: expected an integer, got a string",
                "f.yaml:23:13: apps[1].kinds[0].parameters[2]: is an enumeration without cases",
                "f.yaml:25:13: apps[1].kinds[0].parameters[4]: is declared twice",
                "f.yaml:26:15: apps[1].kinds[1].kind: is also the name of kinds[0] of the same app; declare each kind once",
                "f.yaml:27:15: apps[2].bundleID: is also the bundle id of apps[1]; declare each app once",
            ]
        )
    }
}

@Suite struct ConfigurationShapeTests {
    @Test(
        arguments: [
            ("a: [", "f.yaml:2:1: is not YAML: did not find expected node content while parsing a flow node in line 2"),
            ("a: b: c\n", "f.yaml:1:5: is not YAML: mapping values are not allowed in this context"),
            ("- a\n", "f.yaml:1:1: must be a section with keys of its own, not a list"),
            ("log: {level: }\n", "f.yaml:1:14: log.level: has no value; give one or remove the line"),
            (
                "ops: {tokens: [abc]}\n",
                "f.yaml:1:15: ops.tokens: is a secret and must not be in this file; "
                    + "put it into a file of its own and give that file as tokensFile"
            ),
            (
                "{ops: {open: true}, listeners: {ops: {address: 0.0.0.0}}}\n",
                "f.yaml:1:14: ops.open: is only allowed on a loopback address, which listeners.ops.address is not; turn it off"
            ),
            (
                "ops: {open: true, tokensFile: tokens}\n",
                "f.yaml:1:13: ops.open: lets everyone in, which makes the tokens or certificates for operators useless; keep one or the other"
            ),
            (
                "ops: {names: [Ops.example.com]}\n",
                "f.yaml:1:15: ops.names[0]: must be a host name without a port, in lower case, "
                    + #"such as ops.example.com, not "Ops.example.com""#
            ),
            (
                "listeners: {host: {port: 2197}}\n",
                "f.yaml:1:26: listeners.host.port: is also the port of listeners.push; "
                    + "give each listener its own"
            ),
            (
                "listeners: {merged: true, push: {enabled: false}}\n",
                "f.yaml:1:43: listeners.push.enabled: is off, but listeners.merged needs the push listener; turn one of the two off"
            ),
            (
                "listeners: {merged: true, host: {enabled: false}}\n",
                "f.yaml:1:43: listeners.host.enabled: is off, but listeners.merged serves hosts on the push listener; remove one of the two"
            ),
            (
                "listeners: {merged: true, manage: {port: 9000}}\n",
                "f.yaml:1:42: listeners.manage.port: the listener is merged into listeners.push (listeners.merged), which has its own; remove this one"
            ),
            (
                "listeners: {merged: true, host: {tls: {certificate: a, key: b}}}\n",
                "f.yaml:1:39: listeners.host.tls: the listener is merged into listeners.push (listeners.merged), which has its own; remove this one"
            ),
            (
                "http2: {maxHeaderBytesReset: 4096}\n",
                "f.yaml:1:30: http2.maxHeaderBytesReset: must not be less than limits.maxHeaderBytes, above which requests are refused with an answer"
            ),
            (
                "limits: {maxConnectionBytes: 1MiB}\n",
                "f.yaml:1:30: limits.maxConnectionBytes: must not be less than the largest body, 16777216 bytes"
            ),
            (
                "limits: {maxListenerBytes: 32MiB}\n",
                "f.yaml:1:28: limits.maxListenerBytes: must not be less than limits.maxConnectionBytes, or one connection could end all others"
            ),
            (
                "streams: {heartbeat: 5m, rotation: 299s}\n",
                "f.yaml:1:36: streams.rotation: must not be less than streams.heartbeat, since a stream ends at a heartbeat"
            ),
            (
                "policies: [{name: p, window: tuned, anchor: utc}]\n",
                "f.yaml:1:45: policies[0].anchor: only works with a window of fixed length; remove it or set window: 24h"
            ),
            (
                "log: {color: true}\n",
                "f.yaml:1:7: log.color: there is no such key; "
                    + "the keys here are level, levels, format, repeatWindow and maxRepeats"
            ),
            (
                "listeners: {push: {tls: {key: k}}}\n",
                "f.yaml:1:25: listeners.push.tls.certificate: is missing; "
                    + "give the name of a file"
            ),
        ]
    )
    func `one fault is one line`(text: String, fault: String) {
        #expect(faults(text) == [fault])
    }

    @Test func `a stream may last for a single heartbeat`() throws {
        #expect(faults("streams: {heartbeat: 5m, rotation: 5m}\n") == [])
    }

    @Test func `all later copies of a key are found, in blocks and lists alike`() {
        let found = faults(
            """
            tls:
              certificate: a
              key: b
              certificate: c
            teams:
            - id: T
              id: U
              keys:
              - id: K
                file: f
            tls:
              clientCA: x
              nonsense: y
            log: {level: info, level: debug}
            """
        )
        #expect(
            found == [
                "f.yaml:4:3: the key \"certificate\" is given twice in one section; keep one of them",
                "f.yaml:7:3: the key \"id\" is given twice in one section; keep one of them",
                "f.yaml:11:1: the key \"tls\" is given twice in one section; keep one of them",
                "f.yaml:14:7: the key \"level\" is given twice in one section; keep one of them",
            ]
        )
    }

    @Test func `files of other systems' line ends keep their line numbers`() {
        #expect(
            faults("log:\r\n  level: info\r\n  lvel: x\r\n") == [
                "f.yaml:3:3: log.lvel: there is no such key; did you mean level?"
            ]
        )
    }

    @Test(arguments: ["1.2.3.4", "0.0.0.0", "::", "::1", "fe80::1:2", "1:2:3:4:5:6:7:8"])
    func `addresses are numeric`(address: String) throws {
        #expect(try parse("listeners: {push: {address: \"\(address)\"}}").listeners.push.address == address)
    }

    @Test(arguments: [
        "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4.5", ":", ":::", "1::2::3", "1:2:3:4:5:6:7:8:9", "g::", "12345::",
    ])
    func `what is no address is refused`(address: String) {
        #expect(faults("listeners: {push: {address: \"\(address)\"}}").count == 1)
    }
}

@Suite struct ConfigurationOverrideTests {
    @Test(
        arguments: [
            ("listeners.push.port", "FRESHET_LISTENERS_PUSH_PORT"), ("dataDirectory", "FRESHET_DATA_DIRECTORY"),
            ("tls.clientCA", "FRESHET_TLS_CLIENT_CA"), ("timeouts.idleHTTP1", "FRESHET_TIMEOUTS_IDLE_HTTP1"),
        ]
    )
    func `a variable is named after its key`(path: String, name: String) {
        #expect(EnvironmentNames.name(of: path) == name)
    }

    @Test func `the environment overrides the file, and options override both`() throws {
        let parsed = try ConfigurationFile.parse(
            "partitions: 2\nlog: {level: debug}\n",
            environment: [
                "FRESHET_PARTITIONS": "3", "FRESHET_LOG_LEVEL": "error", "FRESHET_TLS_CLIENT_CA": "ca.pem",
                "FRESHET_LISTENERS_HOST_TLS_CERTIFICATE": "h.pem", "HOME": "/root",
                "FRESHET_OPS_TOKENS": "abcdefghijklmnop,ponmlkjihgfedcba",
            ],
            options: [("partitions", "4")],
            folders: .init(file: "/etc/freshet", process: "/run/freshet")
        )
        var expected = GatewayConfiguration()
        expected.partitions = 4
        expected.log.level = .error
        expected.tls.certificate = "/etc/freshet/certs/server.pem"
        expected.tls.key = "/etc/freshet/certs/server.key"
        expected.tls.clientAuthorities = "/run/freshet/ca.pem"
        expected.listeners.host.tls = .init()
        expected.listeners.host.tls?.certificate = "/run/freshet/h.pem"
        expected.listeners.host.tls?.key = "/etc/freshet/certs/server.key"
        expected.operators.tokens = [Secret("abcdefghijklmnop"), Secret("ponmlkjihgfedcba")]
        #expect(parsed.configuration == expected)
    }

    @Test func `faults of variables and options say where they come from`() {
        let found = faults(
            "partitions: 2\n",
            environment: [
                "FRESHET_PARTITIONS": "65", "FRESHET_LOG_LEVLE": "info", "FRESHET_OPS_TOKENS": "short",
                "FRESHET_PORT_2197_TCP": "tcp://10.0.0.1:2197", "FRESHET_SERVICE_HOST": "10.0.0.1",
            ],
            options: [("log.colour", "red"), ("listeners.host.port", "2197"), ("ops.tokens", "abcdefghijklmnop")]
        )
        #expect(
            found == [
                "environment FRESHET_LOG_LEVLE: this variable sets no key; did you mean FRESHET_LOG_LEVEL?",
                "environment FRESHET_PARTITIONS: partitions: must be an integer from 1 to 64, not \"65\"",
                "environment FRESHET_OPS_TOKENS: ops.tokens: has a token (number 1) of fewer than 16 characters; "
                    + "use a longer one",
                "option --set log.colour: log.colour: there is no such key that an option can set",
                "option --set ops.tokens: ops.tokens: is a secret and must not be on a command line; use a variable or a file",
                "option --set listeners.host.port: listeners.host.port: is also the port of listeners.push; "
                    + "give each listener its own",
            ]
        )
    }

    @Test func `a secret shows itself nowhere`() throws {
        let configuration = try parse("", environment: ["FRESHET_OPS_TOKENS": "abcdefghijklmnop"])
        var dump = ""
        Swift.dump(configuration, to: &dump)
        let shown = [dump, "\(configuration)", ConfigurationFile.text(of: configuration)]
        #expect(shown.allSatisfy { !$0.contains("abcdefghijklmnop") })
        #expect(configuration.operators.tokens.map(\.value) == ["abcdefghijklmnop"])
    }

    @Test func `sizes have units up to a tebibyte`() throws {
        func size(_ text: String) throws -> Int {
            let listener = "listeners: {push: {enabled: false}, host: {enabled: false}}"
            return try ConfigurationFile.parse("snapshots: {maxLogBytes: \(text)}\n\(listener)").configuration.snapshots
                .logBytesMax
        }
        #expect(try size("64KiB") == 65_536)
        #expect(try size("1GiB") == 1_073_741_824)
        #expect(try size("1TiB") == 1_099_511_627_776)
        #expect(throws: SettingsError.self) { try size("2TiB") }
    }

    private static func storage(_ text: String) throws -> StorageBudget.Settings {
        let listener = "listeners: {push: {enabled: false}, host: {enabled: false}}"
        return try ConfigurationFile.parse("storage: {\(text)}\n\(listener)").configuration.storage
    }

    @Test func `a data directory may take 128 MiB to 1024 TiB, and what is not said has no bound`() throws {
        #expect(try Self.storage("minFree: 5%").bytesMax == nil)
        #expect(try Self.storage("maxBytes: 128MiB").bytesMax == 134_217_728)
        #expect(try Self.storage("maxBytes: 1024TiB").bytesMax == 1 << 50)
        for text in ["134217727", "1025TiB", "-1", "much"] {
            #expect(throws: SettingsError.self, "\(text)") { try Self.storage("maxBytes: \(text)") }
        }
    }

    @Test func `a share is written in percent, from 0 to 90`() throws {
        #expect(try Self.storage("maxBytes: 1GiB").freePercentMin == 5)
        for percent in [0, 1, 89, 90] {
            #expect(try Self.storage("minFree: \(percent)%").freePercentMin == percent)
        }
        for text in ["91%", "-1%", "%", "5", "0.05", "1.5%", "5 %", "many"] {
            #expect(throws: SettingsError.self, "\(text)") { try Self.storage("minFree: \(text)") }
        }
    }

    private static func configuration(_ text: String) throws -> GatewayConfiguration {
        let listener = "listeners: {push: {enabled: false}, host: {enabled: false}}"
        return try ConfigurationFile.parse("\(text)\n\(listener)").configuration
    }

    @Test func `the memory's bound is a size or a share of what there is, by default 70 %`() throws {
        func bound(_ text: String) throws -> MemoryBound {
            try Self.configuration("storage: {memoryMax: \(text)}").memoryMax
        }
        #expect(try Self.configuration("").memoryMax == .percent(70))
        for percent in [1, 100] { #expect(try bound("\(percent)%") == .percent(percent)) }
        #expect(try bound("16MiB") == .bytes(16_777_216))
        #expect(try bound("1024TiB") == .bytes(1 << 50))
        for text in ["0%", "101%", "16777215", "1025TiB", "-1", "much", "70"] {
            #expect(throws: SettingsError.self, "\(text)") { try bound(text) }
        }
        for text in ["3GiB", "33%"] {
            let printed = ConfigurationFile.json(of: try Self.configuration("storage: {memoryMax: \(text)}"))
            #expect(printed["storage"]?["memoryMax"] == (text == "33%" ? .string(text) : .int(3 << 30)))
        }
    }

    @Test func `hosts and instances have limits by app and by team, and own ones in their place`() throws {
        let configuration = try Self.configuration(
            """
            limits: {hosts: {perApp: 1, perTeam: 1_000_000_000}, instances: {perApp: 3}}
            teams: [{id: A, maxInstances: 5}, {id: B, maxHosts: 6}]
            apps:
              - {bundleID: com.example.a, team: A, kinds: []}
              - {bundleID: com.example.b, team: B, maxHosts: 7, maxInstances: 8, kinds: []}
            """
        )
        let limits = RegistryLimits(configuration)
        func texts(_ owner: RegistryLimits.Owner) -> [String?] {
            [limits[owner].hosts, limits[owner].instances].map { limit in limit.map { "\($0.setting) \($0.max)" } }
        }
        #expect(texts(.app(BundleID("com.example.a"))) == ["limits.hosts.perApp 1", "limits.instances.perApp 3"])
        #expect(texts(.app(BundleID("com.example.b"))) == ["apps[].maxHosts 7", "apps[].maxInstances 8"])
        #expect(texts(.team(TeamID("A"))) == ["limits.hosts.perTeam 1000000000", "teams[].maxInstances 5"])
        #expect(texts(.team(TeamID("B"))) == ["teams[].maxHosts 6", nil])
        #expect(limits.team(of: BundleID("com.example.b")) == TeamID("B"))
        for text in ["0", "1000000001", "-1", "none"] {
            #expect(throws: SettingsError.self, "\(text)") {
                try Self.configuration("limits: {hosts: {perApp: \(text)}}")
            }
        }
        #expect(try Self.configuration("").limits.hosts == GatewayConfiguration.RegistryShare())
    }
}
