// The rows of one part of Apple's contract. Each has the oddity of the request, the differences of its header list from
// the usual one, and the answer.

extension PushRequestCase {
    /// Method, path, and headers that come twice: refused before the credentials are looked at.
    static let heads: [PushRequestCase] = [
        PushRequestCase("GET", [":method: GET"], "405 MethodNotAllowed").early,
        PushRequestCase("PUT", [":method: PUT"], "405 MethodNotAllowed").early,
        PushRequestCase("DELETE", [":method: DELETE"], "405 MethodNotAllowed").early,
        PushRequestCase("HEAD", [":method: HEAD"], "405 MethodNotAllowed").early,
        PushRequestCase("OPTIONS", [":method: OPTIONS"], "405 MethodNotAllowed").early,
        PushRequestCase("PATCH", [":method: PATCH"], "405 MethodNotAllowed").early,
        PushRequestCase("post in lower case", [":method: post"], "405 MethodNotAllowed").early,
        PushRequestCase("a method of four letters", [":method: POSX"], "405 MethodNotAllowed").early,
        PushRequestCase("a method that begins like POST", [":method: POSTS"], "405 MethodNotAllowed").early,
        PushRequestCase("an empty method", [":method: "], "405 MethodNotAllowed").early,
        PushRequestCase("no method", [":method"], "405 MethodNotAllowed").early,

        PushRequestCase("the root", [":path: /"], "404 BadPath").early,
        PushRequestCase("an empty path", [":path: "], "404 BadPath").early,
        PushRequestCase("no path", [":path"], "404 BadPath").early,
        PushRequestCase("an asterisk", [":path: *"], "404 BadPath").early,
        PushRequestCase("the version alone", [":path: /3/"], "404 BadPath").early,
        PushRequestCase("devices", [":path: /3/devices/00"], "404 BadPath").early,
        PushRequestCase("Device", [":path: /3/Device/00"], "404 BadPath").early,
        PushRequestCase("version 2", [":path: /2/device/00"], "404 BadPath").early,
        PushRequestCase("version 4", [":path: /4/device/00"], "404 BadPath").early,
        PushRequestCase("two slashes in front", [":path: //3/device/00"], "404 BadPath").early,
        PushRequestCase("a slash after the token", [":path: /3/device/00/"], "404 BadPath").early,
        PushRequestCase("two tokens", [":path: /3/device/00/11"], "404 BadPath").early,
        PushRequestCase("two slashes before the token", [":path: /3/device//00"], "404 BadPath").early,
        PushRequestCase("a whole URL", [":path: https://localhost/3/device/00"], "404 BadPath").early,
        PushRequestCase("a broadcast", [":path: /4/broadcasts/apps/com.example.scores"], "404 BadPath").early,
        PushRequestCase("targeted at no app", [":path: /v1/apps//pushes"], "404 BadPath").early,
        PushRequestCase("a slash after pushes", [":path: /v1/apps/com.example.scores/pushes/"], "404 BadPath").early,
        PushRequestCase(
            "a dry run that says yes",
            [":path: /v1/apps/com.example.scores/pushes?dry-run=yes"],
            "404 BadPath"
        ).early,
        PushRequestCase("no token", [":path: /3/device/"], "400 MissingDeviceToken").early,
        PushRequestCase("no token and no slash", [":path: /3/device"], "400 MissingDeviceToken").early,

        PushRequestCase("apns-id twice", Self.twice("apns-id: \(Self.id)"), "400 DuplicateHeaders").early,
        PushRequestCase("two apns-ids", ["apns-id: 1", "+apns-id: \(Self.id)"], "400 DuplicateHeaders").early,
        PushRequestCase("topic twice", ["+apns-topic: com.example.scores"], "400 DuplicateHeaders").early,
        PushRequestCase("type twice", ["+apns-push-type: widgets"], "400 DuplicateHeaders").early,
        PushRequestCase("priority twice", Self.twice("apns-priority: 5"), "400 DuplicateHeaders").early,
        PushRequestCase("expiration twice", Self.twice("apns-expiration: 0"), "400 DuplicateHeaders").early,
        PushRequestCase("collapse id twice", Self.twice("apns-collapse-id: a"), "400 DuplicateHeaders").early,
        PushRequestCase("channel twice", Self.twice("apns-channel-id: a"), "400 DuplicateHeaders").early,
        PushRequestCase("authorization twice", ["+authorization: bearer a.b.c"], "400 DuplicateHeaders").early,
        PushRequestCase("empty headers twice", Self.twice("apns-collapse-id: "), "400 DuplicateHeaders").early,
    ]

    /// Requests whose peculiarity must make no difference.
    static let tolerated: [PushRequestCase] = [
        PushRequestCase("nothing out of the ordinary", [], Self.ok),
        PushRequestCase("no :authority but host", [":authority", "host: localhost"], Self.ok),
        PushRequestCase("neither :authority nor host", [":authority"], Self.ok),
        PushRequestCase("Apple's other host name", [":authority: api.development.push.apple.com"], Self.ok),
        PushRequestCase("no scheme", [":scheme"], Self.ok),
        PushRequestCase("content-type of APNSwift", ["content-type: application/json"], Self.ok),
        PushRequestCase("content-type of apns2", ["content-type: application/json; charset=utf-8"], Self.ok),
        PushRequestCase("content-type of curl", ["content-type: application/x-www-form-urlencoded"], Self.ok),
        PushRequestCase("a content-type that lies", ["content-type: image/png"], Self.ok),
        PushRequestCase("an empty content-type", ["content-type: "], Self.ok),
        PushRequestCase("content-type twice", Self.twice("content-type: application/json"), Self.ok),
        PushRequestCase("content-length", ["content-length: 32"], Self.ok),
        PushRequestCase("user-agent of APNSwift", ["user-agent: APNS/swift-nio"], Self.ok),
        PushRequestCase("what curl adds", ["accept: */*", "user-agent: curl/8.5.0"], Self.ok),
        PushRequestCase("what Go adds", ["accept-encoding: gzip", "user-agent: Go-http-client/2.0"], Self.ok),
        PushRequestCase("te", ["te: trailers"], Self.ok),
        PushRequestCase("cookies in crumbs", ["cookie: a=1", "+cookie: b=2"], Self.ok),
        PushRequestCase("accept twice", ["accept: */*", "+accept: text/plain"], Self.ok),
        PushRequestCase("an apns header that nobody knows", ["apns-unheard-of: x"], Self.ok),
        PushRequestCase("the same twice", Self.twice("apns-unheard-of: x"), Self.ok),
        PushRequestCase("apns-channel-id", ["apns-channel-id: dHN0LXNyY2gtY2hubA=="], Self.ok),
        PushRequestCase("apns-request-id", ["apns-request-id: \(Self.id)"], Self.ok),
        PushRequestCase("a name that is nearly one", ["apns-topics: com.example.other"], Self.ok),
        PushRequestCase("a name of the same length", ["apns-idx: 1"], Self.ok),
    ]

    static let ok = "200 scores widgets phone"
    static let id = "123e4567-e89b-12d3-a456-4266554400a0"

    static func twice(_ line: String) -> [String] { [line, "+\(line)"] }
}
