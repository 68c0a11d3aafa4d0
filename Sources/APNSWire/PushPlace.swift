import WidgetModel

/// The place of a push in a sender's topics: looked up once, used by several checks.
package struct PushPlace: Hashable, Sendable {
    /// The entry of `apns-topic`, or of the sender's only topic in its place; nil if the sender has no such topic.
    private let topic: TopicTable.Entry?
    /// The entry of the bundle id in the path of a targeted push.
    private let app: TopicTable.Entry?
    /// The types that a push of the sender may have.
    private let types: PushTypeSet

    /// - Parameter topics: The topics of the verified sender.
    package init(_ head: PushRequestHead, in bytes: Span<UInt8>, target: PushTarget, topics: TopicTable) {
        let named = head.topic.flatMap { topics.entry(topic: bytes.extracting($0.bounds)) }
        switch target {
        case .device:
            self.topic = head.topic?.isEmpty ?? true ? topics.defaultEntry : named
            self.app = nil
            self.types = topics.types
        case .targeted(let bundle, _):
            self.topic = named
            self.app = topics.entry(bundle: bundle, in: bytes)
            self.types = .widgetKit
        }
    }

    /// The app's own bound on its device tokens, in hex digits.
    var tokenDigitsMax: Int? {
        guard let topic, topic.tokenDigitsMax > 0 else { return nil }
        return Int(topic.tokenDigitsMax)
    }

    /// Whether the key is for the other environment than the app: `BadEnvironmentKeyInToken`.
    package var isOfOtherEnvironment: Bool { (self.app ?? self.topic)?.isOfOtherEnvironment ?? false }

    /// The app and type that topic, push type and path agree on.
    func appAndType(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ target: PushTarget
    ) throws(Rejection) -> (app: Int, type: PushType) {
        let range = head.topic ?? .empty
        guard case .targeted = target else {
            guard !range.isEmpty || self.topic != nil else { throw .missingTopic }
            let type = try self.type(head, bytes, bytes.extracting(range.bounds))
            guard let topic = self.topic else { throw .topicDisallowed }
            return (Int(topic.app), type)
        }
        // Of a targeted push the path names the app; topic and type may be absent, else they must agree with it.
        guard !range.isEmpty else {
            let type = try self.headerType(head, bytes) ?? .widgets
            guard let app = self.app else { throw .topicDisallowed }
            return (Int(app.app), type)
        }
        let type = try self.type(head, bytes, bytes.extracting(range.bounds))
        if let app = self.app, let topic = self.topic {
            guard topic.app == app.app else { throw .badTopic }
        }
        guard let app = self.app, self.topic != nil else { throw .topicDisallowed }
        return (Int(app.app), type)
    }

    /// The push type, from the header, the topic or both in agreement.
    private func type(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ topic: Span<UInt8>
    ) throws(Rejection) -> PushType {
        guard self.topic != nil || Topic.isWellFormed(topic) else { throw .badTopic }
        if let named = try self.headerType(head, bytes) {
            guard self.agrees(topic, with: named) else { throw .badTopic }
            return named
        }
        guard let told = self.toldType(topic) else { throw .invalidPushType }
        guard self.types.contains(told) else { throw .invalidPushType }
        return told
    }

    /// Whether a topic may carry a type.
    private func agrees(_ topic: Span<UInt8>, with type: PushType) -> Bool {
        if let known = self.topic { return known.types.contains(type) }
        return Topic.suffixType(topic) == type
            || Topic.suffix(of: type).utf8CodeUnitCount == 0 && Topic.suffixType(topic) == nil
    }

    /// The type that a topic alone tells. Without a suffix it is an alert, where the app's pushes may be alerts: senders
    /// meant that before there was the header.
    private func toldType(_ topic: Span<UInt8>) -> PushType? {
        guard let known = self.topic else { return Topic.suffixType(topic) }
        return known.types.single ?? (known.types.contains(.alert) ? .alert : nil)
    }

    /// The type that the header names, nil if it is absent.
    private func headerType(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>
    ) throws(Rejection) -> PushType? {
        guard let range = head.pushType else { return nil }
        guard let type = PushType(header: bytes.extracting(range.bounds)) else { throw .invalidPushType }
        guard self.types.contains(type) else { throw .invalidPushType }
        return type
    }
}

extension PushType {
    /// The type that an `apns-push-type` names, nil if none. In lower case, but for `liveactivity`, which Apple's own
    /// samples also write `Liveactivity` and `LiveActivity`.
    init?(header text: Span<UInt8>) {
        if text.spells("widgets") {
            self = .widgets
        } else if text.spells("controls") {
            self = .controls
        } else if let type = Self.rare(text) {
            self = type
        } else {
            return nil
        }
    }

    private static func rare(_ text: Span<UInt8>) -> PushType? {
        switch text.count {
        case 3: text.spells("mdm") ? .mdm : nil
        case 4: text.spells("voip") ? .voip : nil
        case 5: text.spells("alert") ? .alert : nil
        case 8: text.spells("location") ? .location : nil
        case 10: text.spells("background") ? .background : text.spells("pushtotalk") ? .pushtotalk : nil
        case 12:
            if text.spells("complication") {
                .complication
            } else if text.spells("fileprovider") {
                .fileprovider
            } else {
                text.spellsIgnoringCase("liveactivity") ? .liveactivity : nil
            }
        default: nil
        }
    }
}
