import APNSWire
import HTTPTransport
import Partitions
import Serving
import Testing
import WidgetModel

@Suite struct ProblemTests {
    /// As docs/wire.md lists them.
    private static let documented: [Int: Set<String>] = [
        400: [
            "bad-request", "malformed-json", "unknown-kind", "bad-configuration", "bad-pattern", "bad-timeline",
            "not-supported",
        ],
        401: ["missing-credential", "invalid-credential", "expired-credential"],
        403: ["forbidden", "cross-origin"],
        404: ["not-found", "unknown-host", "unknown-instance", "unknown-reload"],
        405: ["method-not-allowed"],
        409: ["stale-revision", "stale-timeline", "too-many-matched", "too-much-work", "token-bound"],
        410: ["gone"],
        412: ["precondition-failed"],
        413: ["too-large"],
        415: ["unsupported-media-type"],
        421: ["misdirected"],
        429: ["too-many", "too-many-tombstones"],
        500: ["internal"],
        503: ["unavailable", "partition-away", "over-share"],
        507: ["storage-full", "memory-full", "too-many-hosts", "too-many-instances"],
    ]

    @Test func `every code has the status that is documented`() {
        let all = Dictionary(grouping: Problem.Code.allCases, by: \.status).mapValues { Set($0.map(\.rawValue)) }
        #expect(all == Self.documented)
    }

    @Test func `the shape is that of RFC 9457`() {
        let problem = Problem(.badConfiguration, "expected a string", path: "instances[0].configuration.team")
        #expect(
            String(decoding: problem.json.jsonText, as: UTF8.self)
                == #"{"type":"about:blank","title":"bad configuration","status":400,"code":"bad-configuration","#
                + #""detail":"expected a string","path":"instances[0].configuration.team"}"#
        )
    }

    @Test func `absent members are left out and the number of matches is given`() {
        #expect(
            String(
                decoding: Problem(.tooManyMatched, "too many", matched: 12, matchedMax: 9).json.jsonText,
                as: UTF8.self
            )
                == #"{"type":"about:blank","title":"too many matched","status":409,"code":"too-many-matched","#
                + #""detail":"too many","matched":12,"matchedMax":9}"#
        )
    }

    @Test func `when to come back stands in the header and in the body, where an import's lines have it`() {
        let problem = Problem(.tooManyTombstones, "later", retryAfter: 77)
        #expect(HTTPResponse(problem: problem).headers["retry-after"] == "77")
        #expect(problem.json["retryAfter"] == .int(77))
    }

    @Test(arguments: Problem.Code.allCases)
    func `as an answer it says its type, how to authenticate and when to come back`(code: Problem.Code) {
        // How long a memory is full, or a registry, the code does not say.
        let isWaitKnown: Set<Problem.Code> = [.unavailable, .overShare, .storageFull]
        let response = HTTPResponse(problem: Problem(code, "x"))
        #expect(response.status == code.status)
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(response.headers["www-authenticate"] == (code.status == 401 ? "Bearer" : nil))
        let wait = [503: "5", 507: "30"][code.status]
        #expect(response.headers["retry-after"] == (isWaitKnown.contains(code) ? wait : nil))
    }
}
