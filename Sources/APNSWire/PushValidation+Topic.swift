import WidgetModel

extension PushValidation {
    /// The app and type that topic, push type and path agree on.
    struct Place: Hashable, Sendable {
        let app: Int
        let type: PushType
    }

    static func devicePlace(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ topics: TopicTable
    ) throws(Rejection) -> Place {
        guard let range = head.topic, !range.isEmpty else { throw .missingTopic }
        let topic = bytes.extracting(range.bounds)
        let entry = topics.entry(topic: topic)
        guard entry != nil || Topic.isWellFormed(topic) else { throw .badTopic }
        let type = try Self.type(head, bytes, entry, topic)
        guard let entry else { throw .topicDisallowed }
        return Place(app: entry.app, type: type)
    }

    /// Of a targeted push the path names the app; topic and type may be absent, else they must agree with it.
    static func targetedPlace(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ bundle: ByteRange,
        _ topics: TopicTable
    ) throws(Rejection) -> Place {
        let app = Self.app(bundle, bytes, topics)
        guard let range = head.topic, !range.isEmpty else {
            let type = try Self.headerType(head, bytes) ?? .widgets
            guard let app else { throw .topicDisallowed }
            return Place(app: app, type: type)
        }
        let topic = bytes.extracting(range.bounds)
        let entry = topics.entry(topic: topic)
        guard entry != nil || Topic.isWellFormed(topic) else { throw .badTopic }
        let type = try Self.type(head, bytes, entry, topic)
        if let app, let entry, entry.app != app { throw .badTopic }
        guard let app, entry != nil else { throw .topicDisallowed }
        return Place(app: app, type: type)
    }

    private static func app(_ bundle: ByteRange, _ bytes: Span<UInt8>, _ topics: TopicTable) -> Int? {
        if let app = topics.app(bundle: bytes.extracting(bundle.bounds)) { return app }
        guard let decoded = PushRoute.bundle(decoding: bundle, in: bytes) else { return nil }
        return topics.app(bundle: decoded)
    }

    /// The push type, from the header, the topic or both in agreement.
    private static func type(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ entry: TopicTable.Entry?,
        _ topic: Span<UInt8>
    ) throws(Rejection) -> PushType {
        let told = entry == nil ? Topic.suffixType(topic) : entry?.type
        guard let named = try Self.headerType(head, bytes) else {
            guard let told else { throw .invalidPushType }
            return told
        }
        // An extra topic without a suffix takes either type.
        guard named == told || (entry != nil && told == nil) else { throw .badTopic }
        return named
    }

    /// The type that the header names, nil if it is absent. Other types are not handled here, known or not.
    private static func headerType(_ head: PushRequestHead, _ bytes: Span<UInt8>) throws(Rejection) -> PushType? {
        guard let range = head.pushType else { return nil }
        let text = bytes.extracting(range.bounds)
        if text.spells("widgets") { return .widgets }
        if text.spells("controls") { return .controls }
        throw .invalidPushType
    }
}
