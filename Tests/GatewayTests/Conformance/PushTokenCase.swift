import APNSWire
import Ingest
import Serving
import Testing
import WidgetModel

/// One provider token and the verdict on a push with it: a row of the tables in this folder.
struct PushTokenCase: Sendable, CustomTestStringConvertible {
    /// The trace that the token leaves.
    enum Trace: Sendable {
        /// Nothing: it was not even looked up.
        case none
        /// A signature was checked in vain, and nothing is remembered.
        case forged
        /// It is genuine and remembered, but binds no connection.
        case genuine
        /// It is genuine, remembered, and the connection is its key's.
        case bound
    }

    let name: String
    /// The `authorization`, nil for none.
    let authorization: String?
    /// Status and reason; `200` if the push is taken.
    let answer: String
    /// The answer's detail for people.
    let detail: String?
    let trace: Trace

    var testDescription: String { self.name }

    /// A token that is accepted.
    static func good(_ name: String, _ change: (inout PushToken) -> Void) -> PushTokenCase {
        var token = PushToken()
        change(&token)
        return PushTokenCase(
            name: name,
            authorization: token.authorization,
            answer: "200 scores widgets phone",
            detail: nil,
            trace: .bound
        )
    }

    /// A token that is `InvalidProviderToken`.
    static func bad(
        _ name: String,
        _ detail: String,
        _ trace: Trace = .none,
        _ change: (inout PushToken) -> Void
    ) -> PushTokenCase {
        var token = PushToken()
        change(&token)
        return .value(name, token.authorization, "403 InvalidProviderToken", detail, trace)
    }

    /// Any `authorization`.
    static func value(
        _ name: String,
        _ authorization: String?,
        _ answer: String,
        _ detail: String?,
        _ trace: Trace = .none
    ) -> PushTokenCase {
        PushTokenCase(name: name, authorization: authorization, answer: answer, detail: detail, trace: trace)
    }

    /// The verdict on the usual push with this token, on a connection of its own.
    func verdict(in world: PushWorld) -> PushVerdict {
        var judge = world.judge()
        let connection = PushConnection()
        var headers = PushRequestCase("", ["authorization"], "").headers
        if let authorization { headers.append(("authorization", authorization)) }
        let (answer, detail) = judge.answer(
            PushRequestBytes(headers, body: Array(PushRequestCase.plain.utf8)),
            on: connection,
            at: Instant(seconds: PushWorld.now)
        )
        return PushVerdict(
            answer: answer,
            detail: detail,
            verifications: judge.verifications,
            remembered: judge.rememberedTokens,
            boundTo: connection.binding.first?.keyID?.rawValue
        )
    }

    var expected: PushVerdict {
        PushVerdict(
            answer: self.answer,
            detail: self.detail,
            verifications: self.trace == .none ? 0 : 1,
            remembered: self.trace == .genuine || self.trace == .bound ? 1 : 0,
            boundTo: self.trace == .bound ? "TEAMKEY001" : nil
        )
    }
}
