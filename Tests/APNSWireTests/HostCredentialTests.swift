@testable import APNSWire
import Testing
import WidgetModel

@Suite struct HostCredentialTests {
    private let reader = JSONReader()
    private static let issuedAt = Instant(seconds: 1_700_000_000)

    private func fault(_ claims: String) -> String? {
        let fixture = TokenFixture(claims: claims)
        do throws(TokenError) {
            _ = try HostCredential.parse(authorization: fixture.authorization.span, reader: self.reader)
            return nil
        } catch {
            return error.sentence
        }
    }

    private static func claims(
        lasting lifetime: Interval = .days(30),
        notBefore: Interval? = nil
    ) -> HostCredentialClaims {
        HostCredentialClaims(
            team: TeamID("TEAM123456"),
            app: BundleID("com.example.scores"),
            pushToken: DeviceToken(bytes: [0xAB, 0xCD]),
            issuedAt: Self.issuedAt,
            notBefore: notBefore.map { Self.issuedAt + $0 },
            expiresAt: Self.issuedAt + lifetime
        )
    }

    @Test(arguments: [nil, .hours(1)] as [Interval?])
    func `what is minted is read back`(notBefore: Interval?) throws {
        let claims = Self.claims(notBefore: notBefore)
        let signingInput = claims.signingInput(keyID: KeyID("ABC123DEFG"))
        let text = CompactToken.compact(signingInput: signingInput, signature: TokenFixture.raw)
        let credential = try HostCredential.parse(token: text.span, reader: self.reader)
        #expect(
            credential
                == HostCredential(
                    keyID: KeyID("ABC123DEFG"),
                    claims: claims,
                    signature: TokenFixture.raw,
                    signingInput: signingInput
                )
        )
    }

    @Test(
        arguments: [
            (#""freshet-host""#, #""ab""#, #""com.example""#, nil),
            (#"["x","freshet-host"]"#, #""AB""#, #""com.example""#, nil),
            (#""freshet-hosts""#, #""ab""#, #""com.example""#, "aud is not freshet-host"),
            (#"["x"]"#, #""ab""#, #""com.example""#, "aud is not freshet-host"),
            ("null", #""ab""#, #""com.example""#, "aud is not freshet-host"),
            (#""freshet-host""#, #""a""#, #""com.example""#, "sub is not a push token in hex"),
            (#""freshet-host""#, #""""#, #""com.example""#, "sub is not a push token in hex"),
            (#""freshet-host""#, "12", #""com.example""#, "sub is not a push token in hex"),
            (#""freshet-host""#, #""ab""#, #""""#, "app is not a bundle id"),
            (#""freshet-host""#, #""ab""#, "{}", "app is not a bundle id"),
        ] as [(String, String, String, String?)]
    )
    func `audience, token and app must be there and fit`(aud: String, sub: String, app: String, fault: String?) {
        let claims = #"{"iss":"T","aud":\#(aud),"sub":\#(sub),"app":\#(app),"iat":1,"exp":"2"}"#
        #expect(self.fault(claims) == fault)
    }

    @Test func `every time must be there, and a provider token is no credential`() {
        let start = #"{"iss":"T","aud":"freshet-host","sub":"ab","app":"a""#
        #expect(self.fault(start + #","iat":1}"#) == "exp is missing")
        #expect(self.fault(start + #","exp":1}"#) == "iat is missing")
        #expect(self.fault(start + #","iat":1,"exp":-1}"#) == "exp is not a time in UNIX seconds")
        #expect(self.fault(start + #","iat":1,"exp":2,"nbf":"1"}"#) == nil)
        #expect(self.fault(start + #","iat":1,"exp":2,"nbf":"soon"}"#) == "nbf is not a time in UNIX seconds")
        #expect(self.fault(TokenFixture().claims) == "aud is not freshet-host")
    }

    @Test(arguments: [400, 402])
    func `a push token has at most 400 hex digits`(digits: Int) {
        let token = String(repeating: "f", count: digits)
        let claims = #"{"iss":"T","aud":"freshet-host","sub":"\#(token)","app":"a","iat":1,"exp":2}"#
        #expect(self.fault(claims) == (digits == 400 ? nil : "sub is not a push token in hex"))
    }

    private static func verdict(_ claims: HostCredentialClaims, at now: Instant) -> String? {
        do throws(TokenError) {
            try HostCredentialRules().check(claims, now: now)
            return nil
        } catch {
            return error.sentence
        }
    }

    @Test(
        arguments: [
            (Int64(-301), "iat is in the future"), (-300, nil), (0, nil), (3600, nil), (3899, nil),
            (3900, "the credential has expired"), (1_000_000, "the credential has expired"),
        ] as [(Int64, String?)]
    )
    func `a credential holds from iat to exp, with five minutes of skew`(seconds: Int64, fault: String?) {
        #expect(Self.verdict(Self.claims(lasting: .hours(1)), at: Self.issuedAt + .seconds(seconds)) == fault)
    }

    @Test(
        arguments: [
            (Int64(-10_000), -301, "iat is in the future"), (-10_000, -300, nil), (0, -300, nil),
            (600, 299, "nbf is in the future"), (600, 300, nil), (7200, 3600, "nbf is in the future"),
        ] as [(Int64, Int64, String?)]
    )
    func `nbf counts where it is stricter than iat`(notBefore: Int64, seconds: Int64, fault: String?) {
        let claims = Self.claims(lasting: .hours(2), notBefore: .seconds(notBefore))
        #expect(Self.verdict(claims, at: Self.issuedAt + .seconds(seconds)) == fault)
    }

    @Test(
        arguments: [
            (Int64(-1), "exp is not after iat"), (0, "exp is not after iat"), (1, nil), (7_776_000, nil),
            (7_776_001, "the credential is valid for longer than allowed"),
        ] as [(Int64, String?)]
    )
    func `a credential lasts at most ninety days`(seconds: Int64, fault: String?) {
        #expect(Self.verdict(Self.claims(lasting: .seconds(seconds)), at: Self.issuedAt) == fault)
    }
}
