package import WidgetModel

/// An error on any route but the push routes, as `application/problem+json` (RFC 9457).
///
/// The code is stable and documented in docs/wire.md; the detail is a sentence for a person and says what to do.
package struct Problem: Error, Hashable, Sendable {
    /// The kind of problem, one name each for a program to branch on.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case badRequest = "bad-request"
        case malformedJSON = "malformed-json"
        case unknownKind = "unknown-kind"
        case badConfiguration = "bad-configuration"
        case badPattern = "bad-pattern"
        case badTimeline = "bad-timeline"
        case notSupported = "not-supported"
        case missingCredential = "missing-credential"
        case invalidCredential = "invalid-credential"
        case expiredCredential = "expired-credential"
        case forbidden = "forbidden"
        case notFound = "not-found"
        case unknownHost = "unknown-host"
        case unknownInstance = "unknown-instance"
        case unknownReload = "unknown-reload"
        case crossOrigin = "cross-origin"
        case methodNotAllowed = "method-not-allowed"
        case preconditionFailed = "precondition-failed"
        case staleRevision = "stale-revision"
        case staleTimeline = "stale-timeline"
        case tooManyMatched = "too-many-matched"
        case tooMuchWork = "too-much-work"
        case tokenBound = "token-bound"
        case gone = "gone"
        case tooLarge = "too-large"
        case unsupportedMediaType = "unsupported-media-type"
        case misdirected = "misdirected"
        case tooMany = "too-many"
        case tooManyTombstones = "too-many-tombstones"
        case unavailable = "unavailable"
        case partitionAway = "partition-away"
        case overShare = "over-share"
        case storageFull = "storage-full"
        case memoryFull = "memory-full"
        case tooManyHosts = "too-many-hosts"
        case tooManyInstances = "too-many-instances"
        case `internal` = "internal"

        /// The HTTP status that goes with the code.
        package var status: Int {
            switch self {
            case .badRequest, .malformedJSON, .unknownKind, .badConfiguration, .badPattern, .badTimeline,
                .notSupported:
                400
            case .missingCredential, .invalidCredential, .expiredCredential: 401
            case .forbidden, .crossOrigin: 403
            case .notFound, .unknownHost, .unknownInstance, .unknownReload: 404
            case .methodNotAllowed: 405
            case .staleRevision, .staleTimeline, .tooManyMatched, .tooMuchWork, .tokenBound: 409
            case .gone: 410
            case .preconditionFailed: 412
            case .tooLarge: 413
            case .unsupportedMediaType: 415
            case .misdirected: 421
            case .tooMany, .tooManyTombstones: 429
            case .internal: 500
            case .unavailable, .partitionAway, .overShare: 503
            case .storageFull, .memoryFull, .tooManyHosts, .tooManyInstances: 507
            }
        }
    }

    /// How long a caller waits before it tries again, where nothing tells more exactly.
    package static let retryAfterSeconds = 5

    /// A path that no list of routes has.
    package static let noRoute = Problem(.notFound, "there is no such route; docs/wire.md lists them")

    /// A body that is longer than a route, or the listener, takes.
    package static let bodyTooLong = Problem(
        .tooLarge,
        "the body is too long for this route; docs/limits.md has the limits"
    )

    package let code: Code
    /// A sentence: the fault, and what to do about it. Never a token or a key.
    package let detail: String
    /// Where in the request body, as a path (`instances[2].configuration.team`), if it is about a place in it.
    package let path: String?
    /// How many instances a push that was refused for it matches.
    package let matched: Int?
    /// How many it may match.
    package let matchedMax: Int?
    /// How many units of work a request would be that was refused for it, and how many it may be.
    package let work: WorkExcess?
    /// After how many seconds the same request may succeed, where its answer says that: `retry-after`, too.
    package let retryAfter: Int?
    /// The methods that the route takes, where another was sent: `allow`.
    package let allowed: String?
    /// Whether it may have been done all the same.
    package internal(set) var isOutcomeUnknown = false

    package init(
        _ code: Code,
        _ detail: String,
        path: String? = nil,
        matched: Int? = nil,
        matchedMax: Int? = nil,
        work: WorkExcess? = nil,
        retryAfter: Int? = nil,
        allowed: String? = nil
    ) {
        self.code = code
        self.detail = detail
        self.path = path
        self.matched = matched
        self.matchedMax = matchedMax
        self.work = work
        self.retryAfter = retryAfter
        self.allowed = allowed
    }

    /// A push that would match more instances than it may.
    package static func tooMany(_ matched: Int, over max: Int) -> Problem {
        Problem(
            .tooManyMatched,
            "the push matches \(matched) instances, more than the \(max) allowed; narrow freshet.match or raise maxMatched",
            matched: matched,
            matchedMax: max
        )
    }

    /// A push, or a request for many instances, that is more work than one may be.
    static func tooMuchWork(_ work: WorkExcess) -> Problem {
        Problem(
            .tooMuchWork,
            "this would be about \(work.units) units of work for a partition; one push may be \(work.unitsMax) (fairness.pushMax, or the app's pushMax): give a kind or narrow freshet.match",
            work: work
        )
    }

    /// A push token that is taken from one host, and not given to the next one yet.
    package static let tokenMoves = Problem(
        .unavailable,
        "the push token is being registered for another host; send it again",
        retryAfter: Self.retryAfterSeconds
    )

    /// A team that has its share of undecided work in the log.
    static func overShare(retryAfter: Int) -> Problem {
        Problem(
            .overShare,
            "the team has used up its share of undecided work in the log (fairness.undecided); send it again later",
            retryAfter: retryAfter
        )
    }

    /// The members of RFC 9457 and ours: `code`, `path`, `matched`, `matchedMax`, `units`, `unitsMax`, `retryAfter`.
    package var json: JSONValue {
        JSONValue.object(of: [
            ("type", .string("about:blank")),
            ("title", .string(self.code.rawValue.split(separator: "-").joined(separator: " "))),
            ("status", .int(Int64(self.code.status))),
            ("code", .string(self.code.rawValue)),
            ("detail", .string(self.detail)),
            ("path", self.path.map { .string($0) }),
            ("matched", self.matched.map { .int(Int64($0)) }),
            ("matchedMax", self.matchedMax.map { .int(Int64($0)) }),
            ("units", self.work.map { .int(Int64($0.units)) }),
            ("unitsMax", self.work.map { .int(Int64($0.unitsMax)) }),
            ("retryAfter", self.retryAfter.map { .int(Int64($0)) }),
            ("outcome", self.isOutcomeUnknown ? .string("unknown") : nil),
        ])
    }
}

/// A request that is more work than one may be.
package struct WorkExcess: Hashable, Sendable {
    /// In the partition that it is most for.
    package let units: Int
    package let unitsMax: Int

    package init(units: Int, unitsMax: Int) {
        (self.units, self.unitsMax) = (units, unitsMax)
    }
}
