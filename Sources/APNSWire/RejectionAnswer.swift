package import WidgetModel

/// The answer to a refused push: the reason and the further members of some reasons.
package struct RejectionAnswer: Error, Hashable, Sendable {
    /// The most bytes of a body. APNSwift reads no more than this of an error.
    package static let bodyBytesMax = 1024

    package let rejection: Rejection
    /// Since when the token is known not to be valid. On the wire only with status 410.
    package let timestamp: Instant?
    /// The exact fault, for a person; clients of APNs ignore it.
    package let detail: String?
    /// After how many seconds the sender may try again: the header `retry-after`.
    package let retryAfter: Int?

    package init(_ rejection: Rejection, timestamp: Instant? = nil, detail: String? = nil, retryAfter: Int? = nil) {
        self.rejection = rejection
        self.timestamp = timestamp
        self.detail = detail
        self.retryAfter = retryAfter
    }

    package var status: Int { self.rejection.status }

    /// The JSON body, at most ``bodyBytesMax`` bytes (a detail that would not fit is left out).
    ///
    /// Send it in one DATA frame with END_STREAM: pushy and aioapns do not put split bodies together.
    package var body: [UInt8] {
        guard let detail = self.detail else { return self.body(detail: nil) }
        let body = self.body(detail: detail)
        return body.count <= Self.bodyBytesMax ? body : self.body(detail: nil)
    }

    private func body(detail: String?) -> [UInt8] {
        var members = [JSONValue.Member(name: "reason", value: .string(self.rejection.rawValue))]
        if self.status == 410, let timestamp = self.timestamp {
            members.append(JSONValue.Member(name: "timestamp", value: .int(timestamp.milliseconds)))
        }
        if let detail { members.append(JSONValue.Member(name: "detail", value: .string(detail))) }
        return JSONValue.object(members).jsonText
    }
}
