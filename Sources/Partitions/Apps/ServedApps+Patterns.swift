package import APNSWire
package import IntentMatching
package import WidgetModel

extension ServedApps.App {
    /// The pattern of a push or a channel, checked against the kinds of the app; nil for every instance.
    ///
    /// - Parameter limits: Its limits.
    /// - Throws: `rejection`, with the fault and its place, if it is malformed or names a kind or parameter that the
    ///   app does not have.
    package func pattern(
        _ payload: PushPayload,
        orElse rejection: Rejection,
        limits: PatternLimits
    ) throws(RejectionAnswer) -> MatchPattern? {
        if let kind = payload.kind, self.schema(of: kind) == nil {
            throw RejectionAnswer(rejection, detail: "freshet.kind: the app has no kind \"\(kind)\"")
        }
        guard let match = payload.match else { return nil }
        do throws(PatternError) {
            let pattern = try MatchPattern.parse(match, limits: limits)
            try pattern.check(against: self.schemas, kind: payload.kind)
            return pattern
        } catch {
            throw RejectionAnswer(rejection, detail: "freshet.\(error.description)")
        }
    }

    /// The pattern of a request, checked against the kinds of the app.
    ///
    /// - Parameter kind: The kind that it is for; nil for all.
    /// - Throws: `bad-pattern`, with the fault and its place.
    package func pattern(
        _ match: JSONValue,
        _ kind: WidgetKind?,
        _ limits: PatternLimits
    ) throws(Problem) -> MatchPattern {
        do throws(PatternError) {
            let pattern = try MatchPattern.parse(match, limits: limits)
            try pattern.check(against: self.schemas, kind: kind)
            return pattern
        } catch {
            throw Problem(.badPattern, error.sentence, path: error.path)
        }
    }
}
