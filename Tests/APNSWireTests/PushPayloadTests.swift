import APNSWire
import Testing
import WidgetModel

@Suite struct PushPayloadTests {
    private let reader = JSONReader()

    private func parse(_ text: String, isTargeted: Bool = false) throws(PayloadError) -> PushPayload {
        try PushPayload.parse(Array(text.utf8).span, isTargeted: isTargeted, reader: self.reader)
    }

    private func fault(_ text: String, isTargeted: Bool = false) -> String? {
        do throws(PayloadError) {
            _ = try self.parse(text, isTargeted: isTargeted)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(
        arguments: [
            #"{"aps":{"content-changed":true}}"#, #"{ "aps" : { "content-changed" : true } }"#,
            "\t{\r\n\"aps\":\n{\"content-changed\":true}}\n",
            #"{"aps":{"content-changed":true,"sound":"x"},"mine":[1,{"a":null}]}"#,
            #"{"mine":0,"aps":{"content-changed":true}}"#, #"{"aps":{"content-changed":true},"freshet":{}}"#,
            #"{"\u0061ps":{"content\u002Dchanged":true}}"#,
        ]
    )
    func `these say no more than that content changed`(text: String) throws {
        #expect(try self.parse(text) == .plain)
    }

    @Test func `what freshet narrows comes out typed`() throws {
        let payload = try self.parse(
            """
            {"aps": {"content-changed": true}, "freshet": {"kind": "scores", "match": {"team": ["seahawks"]},
             "digest": "sha256:00", "not-before": 1700000000, "maxMatched": 500}}
            """
        )
        let team = JSONValue.Member(name: "team", value: .array([.string("seahawks")]))
        #expect(
            payload
                == PushPayload(
                    kind: WidgetKind("scores"),
                    match: .object([team]),
                    digest: "sha256:00",
                    notBefore: Instant(seconds: 1_700_000_000),
                    maxMatched: 500
                )
        )
        #expect(try self.parse(String(decoding: payload.jsonText, as: UTF8.self)) == payload)
        #expect(try self.parse(String(decoding: PushPayload.plain.jsonText, as: UTF8.self)) == .plain)
    }

    @Test(
        arguments: [
            (
                "{\n    \"aps\": {\n        \"content-changed\": true,\n    }\n}",
                "a comma, colon, bracket or value is missing or out of place at byte 52"
            ),
            ("{}", "aps: is missing"), ("[]", "the payload is an array, not an object"),
            (#"{"aps":1}"#, "aps: is an integer, not an object"),
            (#"{"aps":{}}"#, "aps.content-changed: is missing; a widget push has true"),
            (#"{"aps":{"content-changed":false}}"#, "aps.content-changed: is not true"),
            (#"{"aps":{"content-changed":"true"}}"#, "aps.content-changed: is not true"),
            (#"{"aps":{"content-changed":1}}"#, "aps.content-changed: is not true"),
            (#"{"aps":{"content-changed":true}}x"#, "something follows the end of the value at byte 32"),
            (
                #"{"aps":{"content-changed":true,"content-changed":true}}"#,
                "the member \"content-changed\" occurs twice in one object"
            ),
        ]
    )
    func `a body that is no widget push is refused with the place`(text: String, fault: String) {
        #expect(self.fault(text) == fault)
    }

    @Test(
        arguments: [
            ("[]", "freshet: is an array, not an object"),
            (#"{"kind":1}"#, "freshet.kind: is an integer, not a string"),
            (#"{"kind":""}"#, "freshet.kind: has 0 bytes, not 1 to 128"),
            (#"{"match":[]}"#, "freshet.match: is an array, not an object"),
            (#"{"digest":""}"#, "freshet.digest: has 0 bytes, not 1 to 128"),
            (#"{"not-before":-1}"#, "freshet.not-before: is not a time in whole UNIX seconds"),
            (#"{"not-before":1.5}"#, "freshet.not-before: is not a time in whole UNIX seconds"),
            (#"{"maxMatched":0}"#, "freshet.maxMatched: is not a whole number of at least 1"),
            (#"{"attributes":[]}"#, "freshet.attributes: is an array, not an object"),
            (#"{"mach":{}}"#, "freshet.mach: is an unknown member"),
        ]
    )
    func `a freshet member that is wrong is refused with its path`(own: String, fault: String) {
        #expect(self.fault(#"{"aps":{"content-changed":true},"freshet":\#(own)}"#) == fault)
    }

    @Test(
        arguments: [
            ("", "freshet: has neither kind nor match; for a push to every widget of the app, give \"all\": true"),
            (
                #","freshet":{"digest":"v7"}"#,
                "freshet: has neither kind nor match; for a push to every widget of the app, give \"all\": true"
            ),
            (#","freshett":{"kind":"scores"}"#, "freshett: is an unknown member; the members are aps and freshet"),
            (
                #","freshet":{"kind":"scores"},"mine":1"#,
                "mine: is an unknown member; the members are aps and freshet"
            ),
            (#","freshet":{"all":false}"#, "freshet.all: must be true; leave it out to give kind or match"),
            (
                #","freshet":{"all":true,"match":{}}"#,
                "freshet.all: stands for every widget of the app; give either all, or kind and match"
            ),
            (#","freshet":{"all":true}"#, nil), (#","freshet":{"kind":"scores"}"#, nil),
            (#","freshet":{"match":{}}"#, nil),
        ] as [(String, String?)]
    )
    func `a targeted push says whom it is about, and nothing that is not known`(beside: String, fault: String?) {
        #expect(self.fault(#"{"aps":{"content-changed":true}\#(beside)}"#, isTargeted: true) == fault)
    }

    @Test func `all is for pushes to an app`() throws {
        let text = #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
        #expect(self.fault(text) == "freshet.all: is for pushes to an app, not to a device")
        let payload = try self.parse(text, isTargeted: true)
        #expect(payload == PushPayload(isForAll: true))
        #expect(try self.parse(String(decoding: payload.jsonText, as: UTF8.self), isTargeted: true) == payload)
    }

    @Test(arguments: ["kind", "digest"], [128, 129])
    func `kind and digest have at most 128 bytes`(name: String, bytes: Int) {
        let text = String(repeating: "k", count: bytes)
        let fault = self.fault(#"{"aps":{"content-changed":true},"freshet":{"\#(name)":"\#(text)"}}"#)
        #expect(fault == (bytes == 128 ? nil : "freshet.\(name): has 129 bytes, not 1 to 128"))
    }

    @Test func `no proper part of the plain body is a payload`() {
        let plain = #"{"aps":{"content-changed":true}}"#
        for end in 0..<plain.count { #expect(self.fault(String(plain.prefix(end))) != nil) }
    }
}
