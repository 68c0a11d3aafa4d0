package import Engine
package import Partitions
package import Timelines
package import WidgetModel

/// The body of `PUT /v1/hosts/<token>/widgets/<id>/timeline`.
package struct TimelineBody: Sendable {
    /// The reload that the timeline came from; naming it acknowledges it.
    package let reload: ReloadID?
    package let timeline: Timeline
    /// The bytes of all entries that the host draws, in its own words; the gateway never sees them.
    package let contentBytes: Int?

    /// More is no size of anything: 1 PB.
    private static let contentBytesMax: Int64 = 1_000_000_000_000_000

    package init(_ object: inout RequestObject, limits: TimelineLimits = TimelineLimits()) throws(Problem) {
        self.reload = try object.reload()
        var entries: [TimelineEntry] = []
        let elements = try Self.entries(&object, limits)
        for (index, element) in elements.enumerated() {
            var entry = try RequestObject(element, at: object.path(of: "entries[\(index)]"))
            entries.append(try Self.entry(&entry))
        }
        let policy = try Self.policy(&object)
        let digest = try object.string("digest", bytesMax: .max).map { Array($0.utf8) }
        self.contentBytes = try object.int("contentBytes", in: 0...Self.contentBytesMax).map { Int($0) }
        try object.finish()
        self.timeline = Timeline(entries: entries, policy: policy, digest: digest)
        try Self.validate(self.timeline, limits, object)
    }

    /// The entries of a timeline, none of them read: a list that is too long is refused before.
    package static func entries(_ object: inout RequestObject, _ limits: TimelineLimits) throws(Problem) -> [JSONValue]
    {
        let elements = try object.array("entries", countMax: .max) ?? []
        guard elements.count > limits.entriesMax else { return elements }
        let fault = TimelineError.tooManyEntries(count: elements.count, max: limits.entriesMax)
        throw object.problem(fault.path, fault.description, code: .badTimeline)
    }

    /// Refuses a timeline that the engine would refuse, and names the place of its fault.
    package static func validate(_ timeline: Timeline, _ limits: TimelineLimits, _ object: RequestObject)
        throws(Problem)
    {
        do throws(TimelineError) {
            try timeline.validate(limits)
        } catch {
            throw object.problem(error.path, error.description, code: .badTimeline)
        }
    }

    /// One entry; members that the caller has taken are its own affair.
    package static func entry(_ object: inout RequestObject) throws(Problem) -> TimelineEntry {
        guard let date = try object.instant("date") else { throw object.problem("date", "is required: a date") }
        var relevance: EntryRelevance?
        if var value = try object.object("relevance") {
            guard let score = try value.double("score") else {
                throw value.problem("score", "is required: a number")
            }
            let seconds = try value.double("duration") ?? 0
            guard seconds >= 0, seconds <= 31_622_400 else {
                throw value.problem("duration", "expected seconds, 0 to a year")
            }
            try value.finish()
            relevance = EntryRelevance(
                score: Float(score),
                duration: .milliseconds(Int64((seconds * 1000).rounded()))
            )
        }
        try object.finish()
        return TimelineEntry(date: date, relevance: relevance)
    }

    /// `"atEnd"` (the default), `"never"` or `{"after": date}`.
    package static func policy(_ object: inout RequestObject) throws(Problem) -> ReloadPolicy {
        switch object.value("policy") {
        case nil, .string("atEnd"): return .atEnd
        case .string("never"): return .never
        case .object:
            guard var after = try object.object("policy"), let date = try after.instant("after") else {
                throw object.problem("policy", "expected {\"after\": <date>}")
            }
            try after.finish()
            return .after(date)
        default: throw object.problem("policy", "expected \"atEnd\", \"never\" or {\"after\": <date>}")
        }
    }
}

extension TimelineError {
    /// Where in a timeline's JSON it is.
    var path: String {
        switch self {
        case .tooManyEntries: "entries"
        case .digestLength: "digest"
        case .scoreNotFinite(let index): "entries[\(index)].relevance.score"
        case .negativeDuration(let index): "entries[\(index)].relevance.duration"
        }
    }
}

extension RequestObject {
    /// The member `reload`, if it is there.
    package mutating func reload() throws(Problem) -> ReloadID? {
        guard let text = try self.string("reload") else { return nil }
        guard let id = ReloadID(text) else {
            throw self.problem("reload", "is not the id of a reload; send back the event's id", code: .unknownReload)
        }
        return id
    }
}
