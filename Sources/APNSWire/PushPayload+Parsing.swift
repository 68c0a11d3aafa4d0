package import WidgetModel

extension PushPayload {
    /// Reads a body.
    ///
    /// The plain body, with any white space, is recognised without building values. Members of `aps` beside
    /// `content-changed` are the app's own and ignored, as are members beside `aps` and `freshet` in a push to a
    /// device; an unknown member of `freshet` is refused. A targeted push has no members beside the two, and names its
    /// target: a misspelt `match` or `freshet` would reach all widgets.
    ///
    /// - Parameter isTargeted: Whether the push is to an app, not to a device.
    package static func parse(
        _ body: Span<UInt8>,
        isTargeted: Bool,
        reader: JSONReader
    ) throws(PayloadError) -> PushPayload {
        if !isTargeted, Self.isPlain(body) { return .plain }
        let value: JSONValue
        do throws(JSONError) {
            value = try reader.parse(body, limits: JSONLimits(depthMax: Self.depthMax))
        } catch {
            throw PayloadError("", error.sentence, offset: error.offset)
        }
        guard case .object = value else { throw PayloadError("", "the payload is \(value.typeName), not an object") }
        guard let aps = value["aps"] else { throw PayloadError("aps", "is missing") }
        guard case .object = aps else { throw PayloadError("aps", "is \(aps.typeName), not an object") }
        switch aps["content-changed"] {
        case .bool(true): break
        case nil: throw PayloadError("aps.content-changed", "is missing; a widget push has true")
        default: throw PayloadError("aps.content-changed", "is not true")
        }
        let payload = try value["freshet"].map { (own) throws(PayloadError) in try PushPayload(own: own) } ?? .plain
        guard isTargeted else {
            guard !payload.isForAll else {
                throw PayloadError("freshet.all", "is for pushes to an app, not to a device")
            }
            return payload
        }
        if case .object(let members) = value,
            let other = members.first(where: { $0.name != "aps" && $0.name != "freshet" })
        {
            throw PayloadError("\(other.name.prefix(64))", "is an unknown member; the members are aps and freshet")
        }
        guard payload.kind != nil || payload.match != nil || payload.isForAll else {
            throw PayloadError(
                "freshet",
                "has neither kind nor match; for a push to every widget of the app, give \"all\": true"
            )
        }
        return payload
    }

    /// Reads the member `freshet`.
    package init(own value: JSONValue) throws(PayloadError) {
        guard case .object(let members) = value else {
            throw PayloadError("freshet", "is \(value.typeName), not an object")
        }
        self.init()
        for member in members {
            switch member.name {
            case "kind":
                self.kind = WidgetKind(try Self.text(member, bytesMax: Self.kindBytesMax))
            case "match":
                guard case .object = member.value else {
                    throw PayloadError("freshet.match", "is \(member.value.typeName), not an object")
                }
                self.match = member.value
            case "all":
                guard case .bool(true) = member.value else {
                    throw PayloadError("freshet.all", "must be true; leave it out to give kind or match")
                }
                self.isForAll = true
            case "digest":
                self.digest = try Self.text(member, bytesMax: Self.digestBytesMax)
            case "not-before":
                guard case .int(let seconds) = member.value, seconds >= 0 else {
                    throw PayloadError("freshet.not-before", "is not a time in whole UNIX seconds")
                }
                self.notBefore = Instant(seconds: seconds)
            case "maxMatched":
                guard case .int(let count) = member.value, count >= 1 else {
                    throw PayloadError("freshet.maxMatched", "is not a whole number of at least 1")
                }
                self.maxMatched = Int(count)
            case "attributes":
                guard case .object = member.value else {
                    throw PayloadError("freshet.attributes", "is \(member.value.typeName), not an object")
                }
                self.attributes = member.value
            default:
                throw PayloadError("freshet.\(member.name.prefix(64))", "is an unknown member")
            }
        }
        guard !self.isForAll || (self.kind == nil && self.match == nil) else {
            throw PayloadError("freshet.all", "stands for every widget of the app; give either all, or kind and match")
        }
    }

    private static func text(_ member: JSONValue.Member, bytesMax: Int) throws(PayloadError) -> String {
        guard case .string(let text) = member.value else {
            throw PayloadError("freshet.\(member.name)", "is \(member.value.typeName), not a string")
        }
        guard !text.isEmpty, text.utf8.count <= bytesMax else {
            throw PayloadError("freshet.\(member.name)", "has \(text.utf8.count) bytes, not 1 to \(bytesMax)")
        }
        return text
    }

    /// Whether a body is the plain one, but for white space.
    package static func isPlain(_ body: Span<UInt8>) -> Bool {
        if body.spells(#"{"aps":{"content-changed":true}}"#) { return true }
        var position = 0
        guard Self.skip("{", body, &position), Self.skip(#""aps""#, body, &position), Self.skip(":", body, &position),
            Self.skip("{", body, &position), Self.skip(#""content-changed""#, body, &position),
            Self.skip(":", body, &position), Self.skip("true", body, &position), Self.skip("}", body, &position),
            Self.skip("}", body, &position)
        else { return false }
        Self.skipSpace(body, &position)
        return position == body.count
    }

    @inline(__always)
    private static func skip(_ token: StaticString, _ body: Span<UInt8>, _ position: inout Int) -> Bool {
        Self.skipSpace(body, &position)
        guard body.holds(token, at: position) else { return false }
        position += token.utf8CodeUnitCount
        return true
    }

    @inline(__always)
    private static func skipSpace(_ body: Span<UInt8>, _ position: inout Int) {
        while position < body.count {
            switch body[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }
}
