import APNSWire
import TestSupport
import Testing
import WidgetModel

/// A rule of the contract: a push that breaks it and no other, and a push that differs in this alone and keeps it.
struct PushRuleCase: Sendable, CustomTestStringConvertible {
    /// A push, or several of which the last one counts.
    enum Push: Sendable {
        case request(PushRequestCase)
        case token(PushToken)
        case sequence([PushTokenSequence.Step])

        /// The request of ``PushRequestCase/usual``, with these changes.
        static func request(
            _ changes: [String],
            body: String = PushRequestCase.plain,
            key: String = "TEAMKEY001",
            certificate: PushRequestCase.Certificate? = nil,
            everyType: Bool = false
        ) -> Push {
            .request(
                PushRequestCase("", changes, body: body, key: key, certificate: certificate, everyType: everyType, "")
            )
        }

        /// The usual request, with the usual token changed.
        static func token(_ change: (inout PushToken) -> Void) -> Push {
            var token = PushToken()
            change(&token)
            return .token(token)
        }

        /// Status, reason and other members of the answer, and its detail for people.
        func outcome() throws -> (answer: String, detail: String?) {
            switch self {
            case .request(let row):
                let verdict = row.verdict(in: try PushWorld())
                return (verdict.answer, verdict.detail)
            case .token(let token):
                let row = PushTokenCase.value("", token.authorization, "", nil)
                let verdict = row.verdict(in: try PushWorld())
                return (verdict.answer, verdict.detail)
            case .sequence(let steps):
                let outcome = try PushTokenSequence(name: "", steps: steps).outcome()
                return (outcome.answers.last ?? "", nil)
            }
        }
    }

    let rule: PushRule
    let reason: Rejection
    /// The answer's detail for people, nil where the reason alone shows which rule it was.
    let detail: String?
    let broken: Push
    let kept: Push

    init(_ rule: PushRule, _ reason: Rejection, _ detail: String? = nil, broken: Push, kept: Push) {
        self.rule = rule
        self.reason = reason
        self.detail = detail
        self.broken = broken
        self.kept = kept
    }

    /// A rule of the provider token's text.
    static func text(_ rule: PushRule, _ detail: String, broken: Push, kept: Push) -> PushRuleCase {
        PushRuleCase(rule, .invalidProviderToken, detail, broken: broken, kept: kept)
    }

    var testDescription: String { "\(self.rule)" }
}

/// Every rule of the contract, by a push on either side of it.
@Suite struct PushRuleTests {
    static let all =
        PushRuleCase.heads + PushRuleCase.tokens + PushRuleCase.senders + PushRuleCase.fields
        + PushRuleCase.bodies + PushRuleCase.devices

    @Test func `the table has every rule once, in the order of the checks`() {
        #expect(Self.all.map(\.rule) == PushRule.allCases)
    }

    @Test(arguments: all)
    func `a push that breaks the rule gets its reason`(row: PushRuleCase) throws {
        let (answer, detail) = try row.broken.outcome()
        #expect(answer.split(separator: " ").dropFirst().first.map(String.init) == row.reason.rawValue)
        if let expected = row.detail { #expect(detail == expected) }
    }

    @Test(arguments: all)
    func `a push one step inside the rule is taken`(row: PushRuleCase) throws {
        #expect(try row.kept.outcome().answer.hasPrefix("200"))
    }
}
