// Tokens in good form, held against the keys that the gateway knows, and against its clock.

extension PushTokenCase {
    /// Forged tokens, another team's tokens, and tokens of another time.
    static let keys: [PushTokenCase] = [
        .bad("a key that nobody knows", Self.unsigned, .forged) {
            $0.header = PushToken.header("STRANGER00")
            $0.signer = "STRANGER00"
        },
        .bad("a stranger's signature under our key's name", Self.unsigned, .forged) { $0.signer = "STRANGER00" },
        .bad("the signature of the team's other key", Self.unsigned, .forged) { $0.signer = "TEAMKEY002" },
        .bad("another team's key under our key's name", Self.unsigned, .forged) { $0.signer = "OTHERKEY01" },
        .bad("another team's key for our team", Self.unsigned, .forged) {
            $0.header = PushToken.header("OTHERKEY01")
            $0.signer = "OTHERKEY01"
        },
        .bad("our key for another team", Self.unsigned, .forged) { $0.claims = PushToken.claims(team: "OTHER12345") },
        .bad("our key for a team that there is not", Self.unsigned, .forged) {
            $0.claims = PushToken.claims(team: "NOBODY1234")
        },
        .bad("a team in lower case", Self.unsigned, .forged) { $0.claims = PushToken.claims(team: "team123456") },
        .bad("a key in lower case", Self.unsigned, .forged) { $0.header = PushToken.header("teamkey001") },
        .bad("a key with a space after it", Self.unsigned, .forged) { $0.header = PushToken.header("TEAMKEY001 ") },
        .bad("one bit of the signature", Self.unsigned, .forged) { $0.signature = .altered },
        .bad("the signature of other claims", Self.unsigned, .forged) { $0.signature = .over("a.b") },
        .bad("a signature of zeros", Self.unsigned, .forged) { $0.signature = .bytes(Array(repeating: 0, count: 64)) },
        .bad("a signature of ones", Self.unsigned, .forged) { $0.signature = .bytes(Array(repeating: 255, count: 64)) },
        .bad("R and S of the group's order", Self.unsigned, .forged) {
            $0.signature = .bytes(PushToken.order + PushToken.order)
        },
        .bad("R and S of 1", Self.unsigned, .forged) {
            let one = Array(repeating: UInt8(0), count: 31) + [1]
            $0.signature = .bytes(one + one)
        },
        .bad("R and S of 1 in DER", Self.unsigned, .forged) { $0.signature = .bytes([0x30, 6, 2, 1, 1, 2, 1, 1]) },
        .bad("R and S of 0 in DER", Self.unsigned, .forged) { $0.signature = .bytes([0x30, 6, 2, 1, 0, 2, 1, 0]) },
        .bad("a kid of 64 bytes", Self.unsigned, .forged) {
            $0.header = PushToken.header(String(repeating: "K", count: 64))
        },
        .bad("an iss of 64 bytes", Self.unsigned, .forged) {
            $0.claims = PushToken.claims(team: String(repeating: "T", count: 64))
        },
        .bad("a path for a kid", Self.unsigned, .forged) { $0.header = PushToken.header("../../etc/passwd") },

        .time("an hour and a second old", issued: -3601, "403 ExpiredProviderToken", "iat is more than 1h ago"),
        .time("a day old", issued: -86_400, "403 ExpiredProviderToken", "iat is more than 1h ago"),
        .time("of 1970", issued: -PushWorld.now, "403 ExpiredProviderToken", "iat is more than 1h ago"),
        .own("exp that is now", #","exp":\#(PushWorld.now)"#, "403 ExpiredProviderToken", "exp is past"),
        .own("exp long ago", #","exp":1"#, "403 ExpiredProviderToken", "exp is past"),
        .own(
            "nbf 5 minutes and a second ahead",
            #","nbf":\#(PushWorld.now + 301)"#,
            "403 InvalidProviderToken",
            "nbf is too far in the future"
        ),
        .time("5 minutes and a second ahead", issued: 301, "403 InvalidProviderToken", "iat is too far in the future"),
        .time("an hour ahead", issued: 3600, "403 InvalidProviderToken", "iat is too far in the future"),
        .time(
            "of the year 9999",
            issued: 253_402_300_799 - PushWorld.now,
            "403 InvalidProviderToken",
            "iat is too far in the future"
        ),
        .value(
            "a fraction too old",
            PushToken.usual(of: "TEAMKEY001", issued: "\(PushWorld.now - 3601).9"),
            "403 ExpiredProviderToken",
            "iat is more than 1h ago",
            .genuine
        ),
        .value(
            "a key for the other environment",
            PushToken(of: "SANDKEY001").authorization,
            "403 BadEnvironmentKeyInToken",
            "the key is not for the environment of the app",
            .genuine
        ),
    ]

    private static let unsigned = "the token is not signed by a key of the team that it names"

    /// With more claims than a token needs.
    private static func own(_ name: String, _ claims: String, _ answer: String, _ detail: String) -> PushTokenCase {
        var token = PushToken(of: "TEAMKEY001")
        token.claims = PushToken.claims(claims)
        return .value(name, token.authorization, answer, detail, .genuine)
    }

    private static func time(_ name: String, issued: Int64, _ answer: String, _ detail: String) -> PushTokenCase {
        .value(name, PushToken(of: "TEAMKEY001", issued: issued).authorization, answer, detail, .genuine)
    }
}

extension PushToken {
    /// The usual token with any `iat`.
    fileprivate static func usual(of key: String, issued: String) -> String {
        var token = PushToken(of: key)
        token.claims = #"{"iss":"TEAM123456","iat":\#(issued)}"#
        return token.authorization
    }
}
