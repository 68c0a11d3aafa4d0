package import WidgetModel

/// The topics that one sender may push to, with their apps.
///
/// The gateway makes one per provider key when its configuration is loaded: the apps of the key's team, less those that
/// the key is not for. A topic that is not in it is `TopicDisallowed`. Look-up compares bytes, O(length), without a
/// String. A class, because every push looks into one: a struct's tables would be retained one by one.
package final class TopicTable: Sendable {
    package struct App: Hashable, Sendable {
        /// The gateway's own number for the app; comes back in ``ValidatedPush/app``.
        package let number: Int
        package let bundle: BundleID
        /// Topics beside those that the bundle id gives, such as a watch app's or an extension's.
        package let extraTopics: [String]
        /// The types that pushes to the app may have.
        package let types: PushTypeSet
        /// The longest device token of the app in hex digits, nil for the gateway's limit.
        package let tokenDigitsMax: Int?
        /// Whether the app belongs to the environment, production or development, that the key is not for.
        package let isOfOtherEnvironment: Bool

        package init(
            number: Int,
            bundle: BundleID,
            extraTopics: [String] = [],
            types: PushTypeSet = .widgetKit,
            tokenDigitsMax: Int? = nil,
            isOfOtherEnvironment: Bool = false
        ) {
            self.number = number
            self.bundle = bundle
            self.extraTopics = extraTopics
            self.types = types
            self.tokenDigitsMax = tokenDigitsMax
            self.isOfOtherEnvironment = isOfOtherEnvironment
        }
    }

    /// The facts about one topic, or one bundle id.
    struct Entry: Hashable, Sendable {
        let app: UInt32
        /// The types that go with the topic: one where it has a suffix, else each without one or, for an extra topic, any.
        let types: PushTypeSet
        /// In hex digits; 0 for the gateway's limit.
        let tokenDigitsMax: UInt16
        let isOfOtherEnvironment: Bool
    }

    private let topics: ByteTable<Entry>
    private let bundles: ByteTable<Entry>
    /// The entry of the topic for a push without `apns-topic`; nil if a push has to name one.
    let defaultEntry: Entry?
    /// The types that a push to any of the apps may have.
    let types: PushTypeSet

    /// - Parameters:
    ///   - apps: The apps. If two list one topic, it belongs to the earlier one.
    ///   - allowed: The only topics that the key is for, or nil if it is for all.
    ///   - defaultsToOnlyTopic: Whether a push without a topic uses the only topic, if there is only one: as for a
    ///     client certificate.
    package init(
        _ apps: [App],
        limitedTo allowed: [String]? = nil,
        defaultsToOnlyTopic: Bool = false
    ) {
        var topics = ByteTable<Entry>()
        var bundles = ByteTable<Entry>()
        var union = PushTypeSet.widgetKit
        var reachable: [Entry] = []
        for app in apps {
            var isReachable = false
            for (topic, types) in Self.entries(of: app)
            where allowed?.contains(topic) ?? true {
                topics.insert(Array(topic.utf8), Self.entry(app, types))
                reachable.append(Self.entry(app, types))
                isReachable = true
            }
            union.formUnion(app.types)
            if isReachable { bundles.insert(Array(app.bundle.rawValue.utf8), Self.entry(app, app.types)) }
        }
        self.topics = topics
        self.bundles = bundles
        self.types = union
        self.defaultEntry = defaultsToOnlyTopic && reachable.count == 1 ? reachable[0] : nil
    }

    /// The same topics in an object of its own: event loops that share one count their references to it in one place.
    package init(copying table: TopicTable) {
        self.topics = ByteTable(copying: table.topics)
        self.bundles = ByteTable(copying: table.bundles)
        self.defaultEntry = table.defaultEntry
        self.types = table.types
    }

    /// The topics of an app, each with the types that go with it.
    private static func entries(of app: App) -> [(String, PushTypeSet)] {
        var topics: [(String, PushTypeSet)] = []
        for type in PushType.allCases where app.types.contains(type) {
            let topic = Topic.of(app.bundle, type: type)
            if let index = topics.firstIndex(where: { $0.0 == topic }) {
                topics[index].1.insert(type)
            } else {
                topics.append((topic, PushTypeSet([type])))
            }
        }
        for topic in app.extraTopics {
            topics.append((topic, Topic.suffixType(Array(topic.utf8).span).map { PushTypeSet([$0]) } ?? app.types))
        }
        return topics
    }

    private static func entry(_ app: App, _ types: PushTypeSet) -> Entry {
        Entry(
            app: UInt32(app.number),
            types: types,
            tokenDigitsMax: UInt16(clamping: app.tokenDigitsMax ?? 0),
            isOfOtherEnvironment: app.isOfOtherEnvironment
        )
    }

    /// All topics of an app.
    package static func topicNames(of app: App) -> [String] {
        self.entries(of: app).map(\.0)
    }

    func entry(topic: Span<UInt8>) -> Entry? { self.topics.value(for: topic) }

    /// The entry of the app that a path segment names, percent-encoded or not.
    func entry(bundle segment: ByteRange, in bytes: Span<UInt8>) -> Entry? {
        if let entry = self.bundles.value(for: bytes.extracting(segment.bounds)) { return entry }
        return PushRoute.bundle(decoding: segment, in: bytes).flatMap { self.entry(bundle: $0) }
    }

    private func entry(bundle: BundleID) -> Entry? { self.bundles.value(for: bundle.rawValue.utf8.span) }

    /// The number of the app with a bundle id, if the sender may push to any of its topics.
    package func app(bundle: BundleID) -> Int? {
        self.entry(bundle: bundle).map { Int($0.app) }
    }
}
