package import WidgetModel

/// The body of a push: `aps`, and beside it `freshet`, which narrows its target.
package struct PushPayload: Hashable, Sendable {
    /// The only kind that is meant, or nil for every kind.
    package var kind: WidgetKind?
    /// The match pattern, an object as it was sent, or nil for every instance.
    package var match: JSONValue?
    /// Whether the push says `all`: every instance of the app, of every kind. Then there is neither kind nor match.
    package var isForAll: Bool
    /// The attributes for conditions of instances, an object as it was sent; nil for none.
    package var attributes: JSONValue?
    /// Names the state of the content. UTF-8, 1 to ``digestBytesMax`` bytes, opaque.
    package var digest: String?
    /// The push waits until then.
    package var notBefore: Instant?
    /// More matched instances than this refuse the push. At least 1.
    package var maxMatched: Int?

    /// `{"aps":{"content-changed":true}}`: everything of the target.
    package static let plain = PushPayload()

    package static let digestBytesMax = 128
    package static let kindBytesMax = 128
    /// The deepest nesting of a payload.
    package static let depthMax = 24

    package init(
        kind: WidgetKind? = nil,
        match: JSONValue? = nil,
        isForAll: Bool = false,
        attributes: JSONValue? = nil,
        digest: String? = nil,
        notBefore: Instant? = nil,
        maxMatched: Int? = nil
    ) {
        self.kind = kind
        self.match = match
        self.isForAll = isForAll
        self.attributes = attributes
        self.digest = digest
        self.notBefore = notBefore
        self.maxMatched = maxMatched
    }

    /// The body as JSON, as a sender writes it.
    package var jsonText: [UInt8] {
        var members = [
            JSONValue.Member(
                name: "aps",
                value: .object([JSONValue.Member(name: "content-changed", value: .bool(true))])
            )
        ]
        if let own { members.append(JSONValue.Member(name: "freshet", value: own)) }
        return JSONValue.object(members).jsonText
    }

    /// The member `freshet`, nil if there is nothing to say.
    package var own: JSONValue? {
        var own: [JSONValue.Member] = []
        if let kind { own.append(JSONValue.Member(name: "kind", value: .string(kind.rawValue))) }
        if let match { own.append(JSONValue.Member(name: "match", value: match)) }
        if self.isForAll { own.append(JSONValue.Member(name: "all", value: .bool(true))) }
        if let attributes { own.append(JSONValue.Member(name: "attributes", value: attributes)) }
        if let digest { own.append(JSONValue.Member(name: "digest", value: .string(digest))) }
        if let notBefore { own.append(JSONValue.Member(name: "not-before", value: .int(notBefore.seconds))) }
        if let maxMatched { own.append(JSONValue.Member(name: "maxMatched", value: .int(Int64(maxMatched)))) }
        return own.isEmpty ? nil : .object(own)
    }
}

/// Why a body is not a widget push. On the wire it is ``Rejection/badPayload``, with the description as detail.
package struct PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The wrong member, as in `freshet.not-before`; empty if the text is not JSON.
    package let path: String
    package let sentence: String
    /// The byte of the fault, if it is known.
    package let offset: Int?

    package init(_ path: String, _ sentence: String, offset: Int? = nil) {
        self.path = path
        self.sentence = sentence
        self.offset = offset
    }

    package var description: String {
        var text = self.path.isEmpty ? self.sentence : "\(self.path): \(self.sentence)"
        if let offset = self.offset { text += " at byte \(offset)" }
        return text
    }
}
