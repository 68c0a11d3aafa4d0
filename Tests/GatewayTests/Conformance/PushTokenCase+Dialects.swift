// The spellings of senders, and the forms that are refused before a key is looked for.

extension PushTokenCase {
    /// Spellings of real senders, and others with the same meaning.
    static let dialects: [PushTokenCase] = [
        .good("as Apple documents it") { _ in },
        .good("typ, as most libraries add it") { $0.header = #"{"alg":"ES256","kid":"TEAMKEY001","typ":"JWT"}"# },
        .good("kid before alg") { $0.header = #"{"kid":"TEAMKEY001","alg":"ES256"}"# },
        .good("other header members") { $0.header = PushToken.header("TEAMKEY001", #","cty":"x","x5t":"y""#) },
        .good("a key in the header, which nobody believes") {
            $0.header = PushToken.header("TEAMKEY001", #","jwk":{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#)
        },
        .good("the address of a key, which nobody visits") {
            $0.header = PushToken.header("TEAMKEY001", #","jku":"https://example.com/keys""#)
        },
        .good("a DER signature: openssl, apnotic, a2") { $0.signature = .der },
        .good("the other S of a signature") { $0.signature = .otherS },
        .good("standard base64 with padding: a2") { $0.isStandardBase64 = true },
        .good("standard base64 that needs its own letters") {
            $0.isStandardBase64 = true
            $0.claims = PushToken.claims(#","x":"?>?>~~~""#)
        },
        .good("URL base64 that needs its own letters") {
            $0.claims = PushToken.claims(#","x":"?>?>~~~""#)
        },
        .good("DER in standard base64") {
            $0.isStandardBase64 = true
            $0.signature = .der
        },
        .good("Bearer: a2") { $0.scheme = "Bearer " },
        .good("BEARER") { $0.scheme = "BEARER " },
        .good("several spaces") { $0.scheme = "bearer    " },
        .good("a tab") { $0.scheme = "bearer\t" },
        .good("spaces around everything") {
            $0.scheme = "  bearer "
            $0.tail = "  "
        },
        .good("iat as a string: APNSwift") { $0.claims = Self.iat("\"\(PushWorld.now)\"") },
        .good("iat as a float without a fraction") { $0.claims = Self.iat("\(PushWorld.now).0") },
        .good("iat with a fraction: Python's time.time()") { $0.claims = Self.iat("\(PushWorld.now).7324") },
        .good("iat with an exponent") { $0.claims = Self.iat("1.7936388e9") },
        .good("iat as a string with zeros in front") { $0.claims = Self.iat("\"00\(PushWorld.now)\"") },
        .good("pretty-printed, with kid in the claims: APNSwift") {
            $0.claims =
                "{\n  \"iat\" : \"\(PushWorld.now)\",\n  \"iss\" : \"TEAM123456\",\n  \"kid\" : \"TEAMKEY001\"\n}"
        },
        .good("exp, a second away") { $0.claims = PushToken.claims(#","exp":\#(PushWorld.now + 1)"#) },
        .good("nbf as far ahead as iat may be") { $0.claims = PushToken.claims(#","nbf":\#(PushWorld.now + 300)"#) },
        .good("nbf long ago, which makes it no older") { $0.claims = PushToken.claims(#","nbf":1"#) },
        .good("claims of the sender's own") { $0.claims = PushToken.claims(#","nested":{"a":[1,{"b":null}]}"#) },
        .good("claims nested 8 deep") { $0.claims = PushToken.claims(#","x":"# + Self.nested(7)) },
        .good("escapes in the JSON") { $0.header = #"{"\u0061lg":"ES\u0032\u0035\u0036","kid":"TEAMKEY00\u0031"}"# },
        .good("59 minutes old") { $0.claims = PushToken.claims(issued: -3540) },
        .good("an hour old to the second") { $0.claims = PushToken.claims(issued: -3600) },
        .good("5 minutes ahead to the second") { $0.claims = PushToken.claims(issued: 300) },
        .good("a token of 4,096 bytes") { $0.fill(to: 4096) },
    ]

    /// Values that are refused for their form.
    static let forms: [PushTokenCase] = [
        .value("no authorization", nil, Self.missing, "the header authorization is missing or empty"),
        .value("an empty authorization", "", Self.missing, "the header authorization is missing or empty"),
        .value("spaces", " \t ", Self.missing, "the header authorization is missing or empty"),
        .value("the scheme alone", "bearer", Self.missing, "authorization has no token after bearer"),
        .value("the scheme and spaces", "bearer   ", Self.missing, "authorization has no token after bearer"),
        .bad("basic", "authorization does not have the scheme bearer") { $0.scheme = "basic " },
        .bad("no scheme", "authorization does not have the scheme bearer") { $0.scheme = "" },
        .bad("a scheme of six other letters", "authorization does not have the scheme bearer") {
            $0.scheme = "bearex "
        },
        .bad("bearers", "authorization does not have the scheme bearer") { $0.scheme = "bearers " },
        .bad("a colon after it", "authorization does not have the scheme bearer") { $0.scheme = "bearer: " },
        .bad("token", "authorization does not have the scheme bearer") { $0.scheme = "token " },
        .value("no full stop", "bearer abc", Self.invalid, "the token does not have three parts"),
        .value("one full stop", "bearer abc.def", Self.invalid, "the token does not have three parts"),
        .bad("four parts", "the token does not have three parts") { $0.tail = ".AAAA" },
        .bad("a full stop at the end", "the token does not have three parts") { $0.tail = "." },
        .value("empty parts", "bearer ..", Self.invalid, Self.notJSON("header", "the text is empty")),
        .bad("a space within", "the signature is not base64") { $0.tail = " AAAA" },
        .bad("a comma after it", "the signature is not base64") { $0.tail = "," },
        .bad("a letter of another script", "the signature is not base64") { $0.tail = "é" },
        .bad("padding where none is due", "the signature is not base64") { $0.tail = "=" },
        .bad("too much padding", "the signature is not base64") {
            $0.isStandardBase64 = true
            $0.tail = "="
        },
        .bad("one letter too many", "the signature is not base64") {
            $0.signature = .bytes(Array(repeating: 1, count: 63))
            $0.tail = "A"
        },
        .bad("a token of 4,097 bytes", "the token has 4097 bytes, more than 4096") { $0.fill(to: 4097) },
        .bad("no header", Self.notJSON("header", "the text is empty")) { $0.header = "" },
        .bad("a header that is a list", "the header part is an array, not an object") { $0.header = "[]" },
        .bad("a header that is a string", "the header part is a string, not an object") { $0.header = #""ES256""# },
        .bad("no alg, as in Apple's sample of 2016", "the header's alg is not ES256") {
            $0.header = #"{"kid":"TEAMKEY001"}"#
        },
        .bad("alg none", "the header's alg is not ES256") {
            $0.header = #"{"alg":"none","kid":"TEAMKEY001"}"#
            $0.signature = .bytes([])
        },
        .bad("alg None", "the header's alg is not ES256") { $0.header = #"{"alg":"None","kid":"TEAMKEY001"}"# },
        .bad("alg HS256: the public key as a secret", "the header's alg is not ES256") {
            $0.header = #"{"alg":"HS256","kid":"TEAMKEY001"}"#
        },
        .bad("alg RS256", "the header's alg is not ES256") { $0.header = #"{"alg":"RS256","kid":"TEAMKEY001"}"# },
        .bad("alg ES512: pushok", "the header's alg is not ES256") {
            $0.header = #"{"alg":"ES512","kid":"TEAMKEY001"}"#
        },
        .bad("alg ES256K", "the header's alg is not ES256") { $0.header = #"{"alg":"ES256K","kid":"TEAMKEY001"}"# },
        .bad("alg in lower case", "the header's alg is not ES256") {
            $0.header = #"{"alg":"es256","kid":"TEAMKEY001"}"#
        },
        .bad("a list of algs", "the header's alg is not ES256") {
            $0.header = #"{"alg":["ES256"],"kid":"TEAMKEY001"}"#
        },
        .bad("alg null", "the header's alg is not ES256") { $0.header = #"{"alg":null,"kid":"TEAMKEY001"}"# },
        .bad("alg in the claims", "the header's alg is not ES256") {
            $0.header = #"{"kid":"TEAMKEY001"}"#
            $0.claims = PushToken.claims(#","alg":"ES256""#)
        },
        .bad("crit", "the header has crit, which is not supported") {
            $0.header = PushToken.header("TEAMKEY001", #","crit":["b64"],"b64":false"#)
        },
        .bad("an empty crit", "the header has crit, which is not supported") {
            $0.header = PushToken.header("TEAMKEY001", #","crit":[]"#)
        },
        .bad("no kid", "kid is missing or not a string") { $0.header = #"{"alg":"ES256"}"# },
        .bad("kid in the claims only", "kid is missing or not a string") {
            $0.header = #"{"alg":"ES256"}"#
            $0.claims = PushToken.claims(#","kid":"TEAMKEY001""#)
        },
        .bad("kid that is a number", "kid is missing or not a string") { $0.header = #"{"alg":"ES256","kid":7}"# },
        .bad("kid null", "kid is missing or not a string") { $0.header = #"{"alg":"ES256","kid":null}"# },
        .bad("an empty kid", "kid has 0 bytes, not 1 to 64") { $0.header = PushToken.header("") },
        .bad("a kid of 65 bytes", "kid has 65 bytes, not 1 to 64") { $0.header = PushToken.header(Self.letters(65)) },
        .bad("alg twice", Self.twice("header", "alg")) {
            $0.header = #"{"alg":"ES256","alg":"none","kid":"TEAMKEY001"}"#
        },
        .bad("the same alg twice", Self.twice("header", "alg")) {
            $0.header = #"{"alg":"ES256","alg":"ES256","kid":"TEAMKEY001"}"#
        },
        .bad("kid twice", Self.twice("header", "kid")) {
            $0.header = PushToken.header("TEAMKEY001", #","kid":"OTHERKEY01""#)
        },
        .bad("iss twice", Self.twice("claims", "iss")) { $0.claims = PushToken.claims(#","iss":"OTHER12345""#) },
        .bad("iat twice", Self.twice("claims", "iat")) { $0.claims = PushToken.claims(#","iat":0"#) },
        .bad("iss twice, once escaped", Self.twice("claims", "iss")) {
            $0.claims = PushToken.claims(#","\u0069ss":"OTHER12345""#)
        },
        .bad("claims nested 9 deep", Self.notJSON("claims", "arrays and objects are nested deeper than 8")) {
            $0.claims = PushToken.claims(#","x":"# + Self.nested(8))
        },
        .bad("claims that are a list", "the claims part is an array, not an object") { $0.claims = "[]" },
        .bad("no iss", "iss is missing or not a string") { $0.claims = #"{"iat":\#(PushWorld.now)}"# },
        .bad("iss that is a number", "iss is missing or not a string") {
            $0.claims = #"{"iss":1,"iat":\#(PushWorld.now)}"#
        },
        .bad("an empty iss", "iss has 0 bytes, not 1 to 64") { $0.claims = PushToken.claims(team: "") },
        .bad("an iss of 65 bytes", "iss has 65 bytes, not 1 to 64") {
            $0.claims = PushToken.claims(team: Self.letters(65))
        },
        .bad("no iat", "iat is missing") { $0.claims = #"{"iss":"TEAM123456"}"# },
        .bad("iat null", Self.noTime) { $0.claims = Self.iat("null") },
        .bad("iat true", Self.noTime) { $0.claims = Self.iat("true") },
        .bad("iat in a list", Self.noTime) { $0.claims = Self.iat("[\(PushWorld.now)]") },
        .bad("iat that is empty", Self.noTime) { $0.claims = Self.iat("\"\"") },
        .bad("iat as a string of milliseconds, as in Apple's sample of 2016", Self.noTime) {
            $0.claims = Self.iat("\"\(PushWorld.now)650\"")
        },
        .bad("iat in milliseconds", Self.noTime) { $0.claims = Self.iat("\(PushWorld.now)000") },
        .bad("iat beyond the year 9999", Self.noTime) { $0.claims = Self.iat("253402300800") },
        .bad("iat before 1970", Self.noTime) { $0.claims = Self.iat("-1") },
        .bad("iat a second before 1970, with a fraction", Self.noTime) { $0.claims = Self.iat("-0.5") },
        .bad("iat beyond every number", Self.noTime) { $0.claims = Self.iat("1e300") },
        .bad("iat beyond 63 bits", Self.noTime) { $0.claims = Self.iat("18446744073709551615") },
        .bad("iat in words", Self.noTime) { $0.claims = Self.iat("\"2026-11-02T17:00:00Z\"") },
        .bad("iat with a fraction as a string", Self.noTime) { $0.claims = Self.iat("\"\(PushWorld.now).5\"") },
        .bad("iat with a space", Self.noTime) { $0.claims = Self.iat("\" \(PushWorld.now)\"") },
        .bad("iat NaN as a string", Self.noTime) { $0.claims = Self.iat("\"NaN\"") },
        .bad("a host's credential", Self.foreign("aud")) {
            $0.claims = PushToken.claims(
                #","aud":"freshet-host","app":"com.example.scores","sub":"00","exp":9999999999"#
            )
        },
        .bad("a host's credential with a slip in its audience", Self.foreign("aud")) {
            $0.claims = PushToken.claims(#","aud":"freshet-hots","app":"com.example.scores","sub":"00""#)
        },
        .bad("a host's credential without an audience", Self.foreign("sub")) {
            $0.claims = PushToken.claims(#","app":"com.example.scores","sub":"00""#)
        },
        .bad("an audience in a list", Self.foreign("aud")) { $0.claims = PushToken.claims(#","aud":["apns"]"#) },
        .bad("an audience that is null", Self.foreign("aud")) { $0.claims = PushToken.claims(#","aud":null"#) },
        .bad("an app", Self.foreign("app")) { $0.claims = PushToken.claims(#","app":"com.example.scores""#) },
        .bad("a host", Self.foreign("host")) { $0.claims = PushToken.claims(#","host":"panel-1""#) },
        .bad("a push token", Self.foreign("pushToken")) { $0.claims = PushToken.claims(#","pushToken":"00""#) },
        .bad("exp in words", "exp is not a time in UNIX seconds") { $0.claims = PushToken.claims(#","exp":"soon""#) },
        .bad("nbf in a list", "nbf is not a time in UNIX seconds") { $0.claims = PushToken.claims(#","nbf":[1]"#) },
        .bad("an empty signature", Self.noSignature) { $0.signature = .bytes([]) },
        .bad("a signature of 63 bytes", Self.noSignature) { $0.signature = .bytes(Array(repeating: 1, count: 63)) },
        .bad("a signature of 65 bytes", Self.noSignature) { $0.signature = .bytes(Array(repeating: 1, count: 65)) },
        .bad("a signature of ES512's length", Self.noSignature) {
            $0.signature = .bytes(Array(repeating: 1, count: 132))
        },
        .bad("DER with a byte after it", Self.noSignature) { $0.signature = .bytes([0x30, 6, 2, 1, 1, 2, 1, 1, 0]) },
        .bad("DER with a long length", Self.noSignature) { $0.signature = .bytes([0x30, 0x81, 6, 2, 1, 1, 2, 1, 1]) },
        .bad("DER with a negative number", Self.noSignature) { $0.signature = .bytes([0x30, 6, 2, 1, 0x80, 2, 1, 1]) },
    ]

    static let missing = "403 MissingProviderToken"
    static let invalid = "403 InvalidProviderToken"
    private static let noTime = "iat is not a time in UNIX seconds"
    private static func foreign(_ claim: String) -> String {
        "the claim \(claim) belongs to another kind of token; a provider token has iss and iat"
    }

    private static let noSignature = "the signature is neither 64 bytes nor DER"

    private static func notJSON(_ part: String, _ sentence: String) -> String {
        "the \(part) part is not JSON: \(sentence)"
    }

    private static func twice(_ part: String, _ member: String) -> String {
        self.notJSON(part, "the member \"\(member)\" occurs twice in one object")
    }

    private static func iat(_ value: String) -> String { #"{"iss":"TEAM123456","iat":\#(value)}"# }
    private static func letters(_ count: Int) -> String { String(repeating: "K", count: count) }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
}
