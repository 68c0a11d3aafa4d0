import WidgetModel

/// The body that creates a channel.
///
/// APNs' own members are `message-storage-policy` and `push-type`; `freshet` beside them has the target of the
/// channel's broadcasts, with `kind` and `match` as in a targeted push.
package struct ChannelCreation: Hashable, Sendable {
    /// `message-storage-policy`: whether the most recent message may wait.
    package let storesMessages: Bool
    /// Whether `push-type` is `widgets`, not `LiveActivity`.
    package let isForWidgets: Bool
    /// Whether there is no `push-type`: APNSwift sends none, and wants a body in the answer.
    package let isAlias: Bool
    /// nil for the instances that carry the channel's id as a tag.
    package let audience: PushPayload?

    package init(storesMessages: Bool, isForWidgets: Bool, isAlias: Bool, audience: PushPayload?) {
        self.storesMessages = storesMessages
        self.isForWidgets = isForWidgets
        self.isAlias = isAlias
        self.audience = audience
    }

    package static func parse(_ body: Span<UInt8>, reader: JSONReader) throws(RejectionAnswer) -> ChannelCreation {
        let members = try ChannelBody.members(of: body, reader)
        var policy: Int64?
        var type: String?
        var audience: PushPayload?
        for member in members {
            switch (member.name, member.value) {
            case ("message-storage-policy", .int(let value)) where value == 0 || value == 1: policy = value
            case ("message-storage-policy", _):
                throw RejectionAnswer(.badRequestParams, detail: "message-storage-policy: must be 0 or 1")
            case ("push-type", .string(let text)): type = text
            case ("push-type", _): throw RejectionAnswer(.invalidPushType, detail: "push-type: is not a string")
            case ("freshet", let value):
                audience = try ChannelBody.own(value)
                if let audience, audience.digest != nil || audience.notBefore != nil || audience.maxMatched != nil {
                    let detail = "freshet: a channel takes kind and match; everything else belongs to its broadcasts"
                    throw RejectionAnswer(.badRequestParams, detail: detail)
                }
            default:
                let detail = "\(member.name.prefix(64)): is an unknown member"
                throw RejectionAnswer(.badRequestParams, detail: detail)
            }
        }
        guard let policy else {
            throw RejectionAnswer(.badRequestParams, detail: "message-storage-policy: is missing")
        }
        if let type, type.lowercased() != "liveactivity", type != "widgets" {
            throw RejectionAnswer(.invalidPushType, detail: "push-type: must be LiveActivity or widgets")
        }
        return ChannelCreation(
            storesMessages: policy == 1,
            isForWidgets: type == "widgets",
            isAlias: type == nil,
            audience: audience
        )
    }
}

/// The body of a broadcast: of a Live Activity or a widget push; its content is the app's own.
package struct BroadcastBody: Hashable, Sendable {
    /// `freshet`: `digest`, `not-before` and `maxMatched`, as in a targeted push.
    package let own: PushPayload

    package static func parse(_ body: Span<UInt8>, reader: JSONReader) throws(RejectionAnswer) -> BroadcastBody {
        let members = try ChannelBody.members(of: body, reader)
        guard let aps = members.first(where: { $0.name == "aps" })?.value else {
            throw RejectionAnswer(.badRequestPayload, detail: "aps: is missing")
        }
        guard case .object = aps else {
            throw RejectionAnswer(.badRequestPayload, detail: "aps: is \(aps.typeName), not an object")
        }
        if let event = aps["event"], event != .string("update"), event != .string("end") {
            let detail = "aps.event: must be \"update\" or \"end\"; a broadcast cannot start an activity"
            throw RejectionAnswer(.badRequestPayload, detail: detail)
        }
        let own = try members.first { $0.name == "freshet" }.map { (member) throws(RejectionAnswer) in
            try ChannelBody.own(member.value)
        }
        if let own, own.kind != nil || own.match != nil || own.isForAll {
            throw RejectionAnswer(
                .badRequestParams,
                detail: "freshet: kind and match come from the channel; leave them out of the push"
            )
        }
        return BroadcastBody(own: own ?? .plain)
    }
}

/// The members of both bodies.
private enum ChannelBody {
    static func members(
        of body: Span<UInt8>,
        _ reader: JSONReader
    ) throws(RejectionAnswer) -> [JSONValue.Member] {
        let value: JSONValue
        do throws(JSONError) {
            value = try reader.parse(body, limits: JSONLimits(depthMax: PushPayload.depthMax))
        } catch {
            let place = error.offset.map { " at byte \($0)" } ?? ""
            throw RejectionAnswer(.badRequestPayload, detail: "\(error.sentence)\(place)")
        }
        guard case .object(let members) = value else {
            throw RejectionAnswer(.badRequestPayload, detail: "the payload is \(value.typeName), not an object")
        }
        return members
    }

    static func own(_ value: JSONValue) throws(RejectionAnswer) -> PushPayload {
        do throws(PayloadError) {
            return try PushPayload(own: value)
        } catch {
            throw RejectionAnswer(.badRequestParams, detail: error.description)
        }
    }
}
