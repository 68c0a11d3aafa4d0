import APNSWire
import HTTPTransport
import HostAPI
import Ingest
import OperatorAPI
import Partitions
import Serving
import Testing
import WidgetModel

/// Connections that show many bad credentials: each is looked at, and counted, until there were too many.
@Suite struct RefusedCredentialTests {
    /// A connection's limit without time.
    private static func refused(_ max: Int = 20) -> RefusedCredentials {
        RefusedCredentials(max: max, perSecond: 1) { 7 }
    }

    // MARK: Provider tokens of pushes

    /// A token whose signature does not hold, another for each number.
    private static func forged(_ number: Int) -> String {
        var token = PushToken(of: "TEAMKEY001", issued: Int64(-number))
        token.signature = .bytes(Array(repeating: UInt8(truncatingIfNeeded: number), count: 64))
        return token.authorization
    }

    private static func push(_ authorization: String, _ judge: inout PushJudge, _ connection: PushConnection) -> String
    {
        let headers = PushRequestCase("", ["authorization"], "").headers + [("authorization", authorization)]
        let request = PushRequestBytes(headers, body: Array(PushRequestCase.plain.utf8))
        let (answer, _) = judge.answer(request, on: connection, at: Instant(seconds: PushWorld.now))
        return answer.hasPrefix("200") ? "200" : answer
    }

    @Test(arguments: [20, 21, 22, 100])
    func `so many forged tokens of a connection are verified, and no more`(count: Int) throws {
        var judge = try PushWorld().judge()
        let connection = PushConnection(refusedCredentials: Self.refused())
        let answers = (0..<count).map { Self.push(Self.forged($0), &judge, connection) }
        let looked = min(count, 21)
        #expect(
            answers == Array(repeating: "403 InvalidProviderToken", count: looked)
                + Array(repeating: "429 TooManyProviderTokenUpdates", count: count - looked)
        )
        #expect(judge.verifications == looked)
        #expect(connection.refusedCredentials.isExhausted == (count > 20))
        // Other connections have their own.
        #expect(Self.push(Self.forged(1), &judge, PushConnection()) == "403 InvalidProviderToken")
    }

    @Test func `a bad token that is shown again is neither verified nor counted again`() throws {
        var judge = try PushWorld().judge()
        let connection = PushConnection(refusedCredentials: Self.refused(1))
        for _ in 0..<1000 {
            #expect(Self.push(Self.forged(3), &judge, connection) == "403 InvalidProviderToken")
        }
        #expect(judge.verifications == 1)
        #expect(!connection.refusedCredentials.isExhausted)
        // Another one as long is another one.
        #expect(Self.push(Self.forged(4), &judge, connection) == "403 InvalidProviderToken")
        #expect(judge.verifications == 2)
        #expect(connection.refusedCredentials.isExhausted)
    }

    @Test func `a good token that is remembered goes on`() throws {
        var judge = try PushWorld().judge()
        let connection = PushConnection(refusedCredentials: Self.refused(1))
        let good = PushToken(of: "TEAMKEY001").authorization
        #expect(Self.push(good, &judge, connection) == "200")
        for number in 0..<3 { _ = Self.push(Self.forged(number), &judge, connection) }
        #expect(connection.refusedCredentials.isExhausted)
        #expect(Self.push(good, &judge, connection) == "200")
    }

    @Test func `a token that was bad is good under keys that say so`() throws {
        let world = try PushWorld()
        var judge = world.judge()
        let connection = PushConnection(refusedCredentials: Self.refused())
        let token = PushToken(of: "TEAMKEY001").authorization
        let key = try #require(world.senders.keys.key(KeyID("TEAMKEY001")))
        try world.senders.keys.replace { [] }
        #expect(Self.push(token, &judge, connection) == "403 InvalidProviderToken")
        #expect(Self.push(token, &judge, connection) == "403 InvalidProviderToken")
        try world.senders.keys.replace { [key] }
        #expect(Self.push(token, &judge, connection) == "200")
    }

    @Test func `a token that is missing or too old counts nothing`() throws {
        var judge = try PushWorld().judge()
        let connection = PushConnection(refusedCredentials: Self.refused(1))
        for number in 0..<10 {
            #expect(Self.push("bearer ", &judge, connection) == "403 MissingProviderToken")
            let old = PushToken(of: "TEAMKEY001", issued: Int64(-4000 - number)).authorization
            #expect(Self.push(old, &judge, connection) == "403 ExpiredProviderToken")
        }
        #expect(!connection.refusedCredentials.isExhausted)
    }

    // MARK: Credentials of hosts and operators

    private static func request(_ authorization: String?, _ refused: RefusedCredentials) -> HTTPRequest {
        var request = HTTPRequest(method: "GET", target: "/v1/stats", refusedCredentials: refused)
        if let authorization { request.headers.append("authorization", authorization) }
        return request
    }

    private static func problem<Caller>(_ caller: () throws(Problem) -> Caller) -> String {
        do throws(Problem) {
            _ = try caller()
            return "good"
        } catch {
            return "\(error.code.rawValue): \(error.detail)"
        }
    }

    private static let tooMany =
        "invalid-credential: too many credentials on this connection were refused; open another connection"

    @Test func `so many credentials of hosts are looked at, whatever is wrong with them`() throws {
        let time = FakeTime()
        let key = try TestKey("ABC123DEFG")
        let stranger = try TestKey("ABC123DEFG")
        let authorizer = HostAuthorizer(senders: SenderDirectory(keys: [key.known()]), clock: time.makeClock())
        let ask = { (authorization: String?, refused: RefusedCredentials) in
            Self.problem { () throws(Problem) in try authorizer.caller(of: Self.request(authorization, refused)) }
        }
        let good = try key.hostCredential(Sports.token("phone"))
        for bad in [
            try stranger.hostCredential(Sports.token("phone")), try stranger.providerToken(), "bearer a.b.c",
            try key.providerToken(issuedAt: Sports.start - .hours(2)),
            try key.hostCredential(Sports.token("phone"), issuedAt: Sports.start - .days(40)),
        ] {
            let refused = Self.refused(3)
            for _ in 0..<3 { #expect(!ask(bad, refused).hasPrefix("good")) }
            #expect(ask(good, refused) == "good")
            #expect(ask(bad, refused) != Self.tooMany)
            #expect(refused.isExhausted)
            #expect(ask(bad, refused) == Self.tooMany)
            #expect(ask(good, refused) == Self.tooMany)
        }
        let refused = Self.refused(1)
        for _ in 0..<10 { #expect(ask(nil, refused).hasPrefix("missing-credential")) }
        #expect(!refused.isExhausted)
    }

    @Test func `so many tokens of operators are looked at`() throws {
        let access = try OperatorAccess.knowing(["first"])
        let refused = Self.refused(3)
        let ask = { (authorization: String?) in
            Self.problem { () throws(Problem) in try access.visitor(of: Self.request(authorization, refused)) }
        }
        for _ in 0..<10 { #expect(ask(nil).hasPrefix("missing-credential")) }
        for number in 0..<3 {
            #expect(ask("bearer \(number)") == "invalid-credential: the gateway does not know this operator token")
        }
        #expect(ask("bearer first") == "good")
        #expect(ask("bearer 3") == "invalid-credential: the gateway does not know this operator token")
        #expect(ask("bearer 4") == Self.tooMany)
        #expect(ask("bearer first") == Self.tooMany)
    }
}
