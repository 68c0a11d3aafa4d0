import APNSWire
package import Engine
package import Partitions
import Serving
import TLS
package import TimelineProviding
package import Timelines
package import WidgetModel

/// A timeline provider's answer, about each instance that it was asked about.
package struct ProviderAnswer: Sendable {
    /// By the ids of the request; ids that were not asked for are left out. Looked up only.
    package private(set) var parts: [ReloadID: FetchPart] = [:]
    /// Ids that were not asked for.
    package private(set) var unknown = 0

    /// Reads the answer to the question `timeline`, or the body of a call back.
    ///
    /// - Parameters:
    ///   - countMax: How many answers it may have.
    ///   - limits: How much of each timeline is taken.
    ///   - isAsked: Whether an id is waited for.
    package init(
        _ value: JSONValue,
        countMax: Int,
        limits: TimelineLimits,
        isAsked: (ReloadID) -> Bool
    ) throws(Problem) {
        var object = try RequestObject(value)
        let answers = try object.array("answers", countMax: countMax) ?? []
        try object.finish()
        for (index, element) in answers.enumerated() {
            var answer = try RequestObject(element, at: "answers[\(index)]")
            guard let id = ReloadID(try answer.requiredString("id")), isAsked(id) else {
                self.unknown += 1
                continue
            }
            do throws(Problem) {
                self.parts[id] = try Self.part(&answer, limits)
            } catch {
                self.parts[id] = .refused("\(error.path.map { "\($0): " } ?? "")\(error.detail)")
            }
        }
    }

    private static func part(_ answer: inout RequestObject, _ limits: TimelineLimits) throws(Problem) -> FetchPart {
        if let fault = try answer.string("error", bytesMax: 1000) { return .fault(fault) }
        guard var timeline = try answer.object("timeline") else {
            throw answer.problem("timeline", "is required unless there is an error: an object")
        }
        let provided = try ProvidedTimeline(&timeline, limits: limits)
        try answer.finish()
        return .timeline(provided)
    }
}

extension ProvidedTimeline {
    init(_ object: inout RequestObject, limits: TimelineLimits) throws(Problem) {
        var entries: [TimelineEntry] = []
        var contents: [[UInt8]] = []
        let elements = try TimelineBody.entries(&object, limits)
        for (index, element) in elements.enumerated() {
            var entry = try RequestObject(element, at: object.path(of: "entries[\(index)]"))
            guard let content = entry.value("content") else {
                throw entry.problem("content", "is required: the content that the host draws")
            }
            contents.append(content.jsonText)
            entries.append(try TimelineBody.entry(&entry))
        }
        let policy = try TimelineBody.policy(&object)
        let digest = try object.string("digest", bytesMax: .max).map { Array($0.utf8) }
        try object.finish()
        let timeline = Timeline(entries: entries, policy: policy, digest: digest ?? Self.digest(of: contents))
        try TimelineBody.validate(timeline, limits, object)
        self.init(timeline: timeline, contents: contents)
    }

    /// The state of content whose provider names none: a hash of it. Dates are not in it, so that the same news at another
    /// time is the same.
    private static func digest(of contents: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for content in contents {
            bytes += content
            // JSON text has no line feed in it.
            bytes.append(UInt8(ascii: "\n"))
        }
        return Array("sha256:\(Base16.text(of: Digests.sha256(bytes.span)))".utf8)
    }
}
