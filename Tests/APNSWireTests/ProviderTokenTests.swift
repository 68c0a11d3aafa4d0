import APNSWire
import Testing
import WidgetModel

@Suite struct ProviderTokenTests {
    private let reader = JSONReader()

    private func parse(_ authorization: [UInt8]) -> Result<ProviderToken, ProviderTokenError> {
        do throws(ProviderTokenError) {
            return .success(try ProviderToken.parse(authorization: authorization.span, reader: self.reader))
        } catch {
            return .failure(error)
        }
    }

    private func parse(_ change: (inout TokenFixture) -> Void) -> Result<ProviderToken, ProviderTokenError> {
        var fixture = TokenFixture()
        change(&fixture)
        return self.parse(fixture.authorization)
    }

    private func rejection(_ change: (inout TokenFixture) -> Void) -> Rejection? {
        guard case .failure(let fault) = self.parse(change) else { return nil }
        return fault.rejection
    }

    @Test func `a token comes apart`() throws {
        let fixture = TokenFixture()
        let token = try self.parse { _ in }.get()
        #expect(token.keyID == KeyID("ABC123DEFG"))
        #expect(token.team == TeamID("TEAM123456"))
        #expect(token.times.issuedAt == Instant(seconds: 1_700_000_000))
        #expect(token.signature == TokenFixture.raw)
        let text = fixture.authorization.dropFirst("bearer ".utf8.count)
        #expect(token.signingInput == Array(text.prefix(upTo: text.lastIndex(of: 0x2E) ?? text.startIndex)))
    }

    @Test(arguments: ["bearer ", "Bearer ", "BEARER ", "bEaReR   ", " \tbearer\t "])
    func `the scheme is bearer in any case and spacing`(scheme: String) {
        #expect(self.rejection { $0.scheme = scheme } == nil)
    }

    @Test(arguments: ["", " ", "\t ", "bearer", "Bearer   "])
    func `nothing is a missing token`(value: String) {
        guard case .failure(let fault) = self.parse(Array(value.utf8)) else {
            Issue.record("accepted")
            return
        }
        #expect(fault.rejection == .missingProviderToken)
    }

    @Test(arguments: ["basic ", "bearers ", "beare ", "", "bearer: ", "beirer "])
    func `another scheme is an invalid token`(scheme: String) {
        #expect(self.rejection { $0.scheme = scheme } == .invalidProviderToken)
    }

    @Test(arguments: [false, true], [0, 1, 2])
    func `both alphabets are read, with the padding that is due`(isStandard: Bool, spaces: Int) {
        // Shifts the lengths, so that every padding occurs.
        let space = String(repeating: " ", count: spaces)
        let rejection = self.rejection {
            $0.isStandardBase64 = isStandard
            $0.header = #"{"alg":"ES256",\#(space)"kid":"?>?>?>~~~~"}"#
            $0.claims = #"{"iss":"TEAM123456",\#(space)"iat":1700000000}"#
        }
        #expect(rejection == nil)
    }

    @Test(
        arguments: [
            #"{"iss":"TEAM123456","iat":1700000000}"#, #"{"iss":"TEAM123456","iat":"1700000000"}"#,
            #"{"iss":"TEAM123456","iat":1700000000.0}"#, #"{"iss":"TEAM123456","iat":17e8}"#,
            "{\n  \"iat\" : \"1700000000\",\n  \"iss\" : \"TEAM123456\",\n  \"kid\" : \"ABC123DEFG\"\n}",
            #"{"exp":1,"nested":{"a":[1]},"iss":"TEAM123456","iat":1700000000}"#,
        ]
    )
    func `claims of real senders are read`(claims: String) throws {
        let token = try self.parse { $0.claims = claims }.get()
        #expect(token.times.issuedAt == Instant(seconds: 1_700_000_000))
        #expect(token.team == TeamID("TEAM123456"))
    }

    @Test(
        arguments: [
            #"{"iss":"TEAM123456"}"#, #"{"iss":"TEAM123456","iat":null}"#, #"{"iss":"TEAM123456","iat":-1}"#,
            #"{"iss":"TEAM123456","iat":-1.0}"#,
            #"{"iss":"TEAM123456","iat":1e300}"#, #"{"iss":"TEAM123456","iat":-1e300}"#,
            #"{"iss":"TEAM123456","iat":1459143580650.5}"#, #"{"iss":"TEAM123456","iat":"NaN"}"#,
            #"{"iss":"TEAM123456","iat":NaN}"#, #"{"iss":"TEAM123456","iat":""}"#,
            #"{"iss":"TEAM123456","iat":" 1700000000"}"#, #"{"iss":"TEAM123456","iat":"1700000000.0"}"#,
            #"{"iss":"TEAM123456","iat":253402300800}"#, #"{"iss":"TEAM123456","iat":"1459143580650"}"#,
            #"{"iss":"TEAM123456","iat":18446744073709551615}"#, #"{"iss":"TEAM123456","iat":true}"#,
            #"{"iat":1700000000}"#, #"{"iss":"","iat":1700000000}"#, #"{"iss":1,"iat":1700000000}"#,
            #"{"iss":"TEAM123456","iat":1700000000,"iat":1700000000}"#,
            #"{"iss":"TEAM123456","iss":"TEAM123456","iat":1700000000}"#,
            #"{"iss":"TEAM123456","iat":1700000000,}"#, "[]", "", "null",
        ]
    )
    func `claims that are wrong make an invalid token`(claims: String) {
        #expect(self.rejection { $0.claims = claims } == .invalidProviderToken)
    }

    @Test(arguments: [(0, true), (253_402_300_799, true), (253_402_300_800, false)])
    func `a time lies between 1970 and the year 9999`(seconds: Int, isAccepted: Bool) {
        let rejection = self.rejection { $0.claims = #"{"iss":"TEAM123456","iat":\#(seconds)}"# }
        #expect(rejection == (isAccepted ? nil : .invalidProviderToken))
    }

    @Test(
        arguments: [
            #"{"kid":"ABC123DEFG"}"#, #"{"alg":"none","kid":"ABC123DEFG"}"#, #"{"alg":"ES512","kid":"ABC123DEFG"}"#,
            #"{"alg":"HS256","kid":"ABC123DEFG"}"#, #"{"alg":"es256","kid":"ABC123DEFG"}"#,
            #"{"alg":["ES256"],"kid":"ABC123DEFG"}"#, #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":""}"#,
            #"{"alg":"ES256","kid":7}"#, #"{"alg":"ES256","kid":"A","crit":["b64"],"b64":false}"#,
            #"{"alg":"none","alg":"ES256","kid":"ABC123DEFG"}"#, "\"ES256\"",
        ]
    )
    func `a header that is wrong makes an invalid token`(header: String) {
        #expect(self.rejection { $0.header = header } == .invalidProviderToken)
    }

    @Test(arguments: [("1700000000.125", 125), ("1700000000.9999", 999), ("1.7000000005e9", 500)] as [(String, Int64)])
    func `a fraction of a second is kept to the millisecond`(iat: String, milliseconds: Int64) throws {
        let token = try self.parse { $0.claims = #"{"iss":"TEAM123456","iat":\#(iat)}"# }.get()
        #expect(token.times.issuedAt == Instant(milliseconds: 1_700_000_000_000 + milliseconds))
    }

    @Test(arguments: ["aud", "sub", "app", "host", "pushToken"], [#""freshet-host""#, #"["x"]"#, "null", "7"])
    func `a token with a claim of another kind of token is no provider token`(claim: String, value: String) {
        let sentence = "the claim \(claim) belongs to another kind of token; a provider token has iss and iat"
        let claims = #"{"iss":"TEAM123456","iat":1700000000,"\#(claim)":\#(value)}"#
        #expect(self.parse { $0.claims = claims } == .failure(ProviderTokenError(.invalidProviderToken, sentence)))
    }

    @Test func `a token may say by itself when it counts`() throws {
        let claims = #"{"iss":"TEAM123456","iat":1700000000,"nbf":"1700000001","exp":1700000002.5}"#
        let token = try self.parse { $0.claims = claims }.get()
        #expect(token.times.notBefore == Instant(seconds: 1_700_000_001))
        #expect(token.times.expiresAt == Instant(milliseconds: 1_700_000_002_500))
        #expect(self.rejection { $0.claims = #"{"iss":"TEAM123456","iat":1,"exp":"soon"}"# } == .invalidProviderToken)
    }

    @Test(
        arguments: [
            (-301, .invalidProviderToken), (-300, nil), (0, nil), (99, nil), (100, .expiredProviderToken),
        ] as [(Int64, Rejection?)]
    )
    func `what a token says by itself counts where it is stricter`(second: Int64, reason: Rejection?) {
        let start = Instant(seconds: 1_700_000_000)
        let times = ProviderTokenTimes(issuedAt: start - .days(9), notBefore: start, expiresAt: start + .seconds(100))
        var rejection: Rejection?
        do throws(Rejection) {
            try ProviderTokenRules(ageMax: .days(30)).check(times, now: start + .seconds(second))
        } catch {
            rejection = error
        }
        #expect(rejection == reason)
    }

    @Test(arguments: [64, 65])
    func `ids have at most 64 bytes`(bytes: Int) {
        let id = String(repeating: "i", count: bytes)
        let expected: Rejection? = bytes == 64 ? nil : .invalidProviderToken
        #expect(self.rejection { $0.header = #"{"alg":"ES256","kid":"\#(id)"}"# } == expected)
        #expect(self.rejection { $0.claims = #"{"iss":"\#(id)","iat":1}"# } == expected)
    }

    @Test(arguments: [
        (4096, "the token does not have three parts"), (4097, "the token has 4097 bytes, more than 4096"),
    ])
    func `a token has at most 4096 bytes`(bytes: Int, sentence: String) {
        #expect(CompactToken.bytesMax == 4096)
        let text = Array("bearer ".utf8) + Array(repeating: UInt8(ascii: "A"), count: bytes)
        #expect(self.parse(text) == .failure(ProviderTokenError(.invalidProviderToken, sentence)))
    }

    @Test(arguments: [
        "bearer a.b", "bearer a.b.c.d", "bearer ..", "bearer .", "bearer abc", "bearer a b.c.d", "bearer é.e.e",
    ])
    func `a token has three parts of base64`(value: String) {
        guard case .failure(let fault) = self.parse(Array(value.utf8)) else {
            Issue.record("accepted")
            return
        }
        #expect(fault.rejection == .invalidProviderToken)
    }

    @Test(
        arguments: [
            (Int64(0), nil), (3599, nil), (3600, nil), (3601, .expiredProviderToken),
            (1_000_000, .expiredProviderToken),
            (-1, nil), (-300, nil), (-301, .invalidProviderToken), (-1_000_000, .invalidProviderToken),
        ] as [(Int64, Rejection?)]
    )
    func `a token lives for an hour, and five minutes of skew are forgiven`(age: Int64, reason: Rejection?) {
        let issuedAt = Instant(seconds: 1_700_000_000)
        var rejection: Rejection?
        do throws(Rejection) {
            try ProviderTokenRules().check(ProviderTokenTimes(issuedAt: issuedAt), now: issuedAt + .seconds(age))
        } catch {
            rejection = error
        }
        #expect(rejection == reason)
    }

    @Test func `what is minted is read back`() throws {
        let claims = ProviderTokenClaims(
            keyID: KeyID("KEY\"4567890"),
            team: TeamID("TEAM123456"),
            issuedAt: Instant(seconds: 1_700_000_123)
        )
        let text = CompactToken.compact(signingInput: claims.signingInput, signature: TokenFixture.raw)
        let token = try self.parse(Array("bearer ".utf8) + text).get()
        #expect(token.keyID == claims.keyID && token.team == claims.team && token.times.issuedAt == claims.issuedAt)
        #expect(token.signingInput == claims.signingInput)
        #expect(token.signature == TokenFixture.raw)
    }
}
