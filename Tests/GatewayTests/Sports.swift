import APNSWire
import IntentMatching
import Partitions
import TestSupport
import Timelines
import WidgetModel

@testable import Engine

/// The apps that these tests serve: the scores app of Apple's articles, and one of another team.
enum Sports {
    static let app = BundleID("com.example.scores")
    static let team = TeamID("ABCDE12345")
    static let otherApp = BundleID("com.example.other")
    static let otherTeam = TeamID("OTHER12345")
    /// 2026-11-02T17:00:00Z.
    static let start = Instant(seconds: 1_793_638_800)

    static func schema(_ kind: String, _ parameters: [ParameterSchema]) -> KindSchema {
        do {
            return try KindSchema(kind: WidgetKind(kind), parameters: parameters)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    static let scores = Self.schema("scores", [ParameterSchema("league", .string), ParameterSchema("team", .string)])
    static let secret = Self.schema("secret", [ParameterSchema("account", .string)])

    static let settings = EngineSettings(
        apps: [
            AppSettings(app: Self.app, team: Self.team, kinds: [KindSettings(schema: Self.scores, budget: .widgetkit)]),
            AppSettings(
                app: Self.otherApp,
                team: Self.otherTeam,
                kinds: [KindSettings(schema: Self.secret, budget: .widgetkit)]
            ),
        ]
    )

    /// New ones each time: tests that run side by side push to them.
    static var served: ServedApps { Self.served(charging: nil) }

    /// - Parameter work: Knows what each team has in the log.
    static func served(charging work: WorkAdmission?, pushMax: Interval? = nil) -> ServedApps {
        ServedApps([
            ServedApps.App(
                number: 0,
                bundle: Self.app,
                acceptsUnknownTokens: false,
                matchedMax: nil,
                schemas: [Self.scores],
                samples: [
                    Self.scores.kind: .object([JSONValue.Member(name: "score", value: .string("24 - 17"))])
                ],
                pushMax: pushMax,
                work: work?.work(of: Self.team)
            ),
            ServedApps.App(
                number: 1,
                bundle: Self.otherApp,
                acceptsUnknownTokens: false,
                matchedMax: nil,
                schemas: [Self.secret],
                work: work?.work(of: Self.otherTeam)
            ),
        ])
    }

    static func token(_ name: String) -> DeviceToken { DeviceToken(bytes: Array("token of \(name)".utf8)) }

    static func instance(_ id: String, team: String = "seahawks") -> InstanceRegistration {
        InstanceRegistration(
            id: InstanceID(id),
            kind: Self.scores.kind,
            family: .systemSmall,
            configuration: Configuration([Configuration.Parameter(name: "team", value: .string(team))])
        )
    }

    static func registration(_ host: String, revision: UInt64 = 1, _ instances: [InstanceRegistration])
        -> HostRegistration
    {
        HostRegistration(
            host: HostKey(host),
            token: Self.token(host),
            revision: revision,
            instances: instances
        )
    }

    static func push(_ number: UInt64, to host: String) -> PushRecord {
        PushRecord(
            id: PushID(high: 7, low: number),
            team: Self.team,
            contentHash: number,
            priority: .high,
            target: .host(HostKey(host), nil)
        )
    }

    static func reload(_ host: String, _ instance: String = "a", app: BundleID = Sports.app, position: UInt64 = 1)
        -> ReloadEffect
    {
        ReloadEffect(
            id: ReloadID(
                partition: PartitionID(0),
                position: LogPosition(position),
                instance: 7,
                check: UInt32(truncatingIfNeeded: position)
            ),
            address: InstanceAddress(host: HostKey(host, of: app), instance: InstanceID(instance)),
            kind: Self.scores.kind,
            family: .systemSmall,
            delivery: .stream,
            causes: ReloadCauses(.push),
            exemption: nil,
            issuedAt: Self.start,
            expiresAt: Self.start + .hours(4),
            pushCount: 1,
            push: PushID(high: 7, low: 1)
        )
    }
}

/// The value that a JSON text spells.
func json(_ text: String) throws -> JSONValue { try JSONReader().parse(Array(text.utf8), limits: JSONLimits()) }

/// The problem that `body` throws, nil if it throws none.
func problem<Value>(_ body: () throws(Problem) -> Value) -> Problem? {
    do throws(Problem) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// A problem's code and path.
struct Place: Hashable {
    let code: Problem.Code
    let path: String?

    init(_ code: Problem.Code, _ path: String?) {
        self.code = code
        self.path = path
    }

    init?(_ problem: Problem?) {
        guard let problem else { return nil }
        self.init(problem.code, problem.path)
    }
}
