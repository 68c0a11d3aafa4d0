import APNSWire
import Ingest
import Settings
import Testing
import WidgetModel

/// Several pushes one after the other, over one connection or more: a row of the tables in this folder.
struct PushTokenSequence: Sendable, CustomTestStringConvertible {
    /// A push with a key's token.
    struct Step: Sendable {
        let key: String
        /// When the token was issued and when the push comes, in seconds from ``PushWorld/now``.
        let issued: Int64
        let at: Int64
        let connection: Int
        /// Whether the same claims are signed once more.
        let isSignedAgain: Bool
        /// Headers beside those that go with the key.
        let changes: [String]
        /// Status and reason.
        let answer: String

        init(
            _ key: String,
            issued: Int64 = 0,
            at: Int64 = 0,
            on connection: Int = 0,
            signedAgain: Bool = false,
            _ answer: String,
            sending changes: [String] = []
        ) {
            self.key = key
            self.issued = issued
            self.at = at
            self.connection = connection
            self.isSignedAgain = signedAgain
            self.changes = changes
            self.answer = answer
        }
    }

    let name: String
    /// Over what renewals are counted.
    var scope = GatewayConfiguration.ProviderTokens.RefreshScope.connection
    var refreshMin = Interval.minutes(20)
    var bindsConnections = true
    let steps: [Step]
    /// How many signatures all of it costs, nil where that is not the point.
    var verifications: Int?

    var testDescription: String { self.name }

    /// A push that a key's topics allow.
    private static func changes(_ key: String) -> [String] {
        switch key {
        case "TOPICKEY02": [PushRequestCase.to(PushWorld.control)] + PushRequestCase.controls
        case "TOPICKEY03", "SANDKEY001": [PushRequestCase.to(PushWorld.weatherPhone), PushRequestCase.weather]
        case "OTHERKEY01":
            [PushRequestCase.to(PushWorld.otherPhone), "apns-topic: com.example.other.push-type.widgets"]
        default: []
        }
    }

    struct Outcome: Hashable {
        let answers: [String]
        let verifications: Int?
    }

    var expected: Outcome { Outcome(answers: self.steps.map(\.answer), verifications: self.verifications) }

    func outcome() throws -> Outcome {
        let world = try PushWorld { configuration in
            configuration.providerTokens.refreshScope = self.scope
            configuration.providerTokens.refreshMin = self.refreshMin
            configuration.providerTokens.bindsConnections = self.bindsConnections
        }
        var judge = world.judge()
        var connections: [Int: PushConnection] = [:]
        var tokens: [String: String] = [:]
        let answers = self.steps.map { step in
            let name = "\(step.key) \(step.issued)"
            if tokens[name] == nil || step.isSignedAgain {
                tokens[name] = PushToken(of: step.key, issued: step.issued).authorization
            }
            let row = PushRequestCase("", Self.changes(step.key) + ["authorization"] + step.changes, "")
            let connection = connections[step.connection] ?? PushConnection()
            connections[step.connection] = connection
            let headers = row.headers + [("authorization", tokens[name] ?? "")]
            let (answer, _) = judge.answer(
                PushRequestBytes(headers, body: Array(PushRequestCase.plain.utf8)),
                on: connection,
                at: Instant(seconds: PushWorld.now + step.at)
            )
            return answer.hasPrefix("200") ? "200" : answer
        }
        return Outcome(answers: answers, verifications: self.verifications == nil ? nil : judge.verifications)
    }
}
