package import WidgetModel

/// The topics that one sender may push to, and whose they are.
///
/// The gateway makes one per provider key when its configuration is loaded: the apps of the key's team, less what
/// the key is not for. A topic that is not in it is `TopicDisallowed`. Look-up compares bytes, O(length), without
/// a String.
package struct TopicTable: Sendable {
    package struct App: Hashable, Sendable {
        /// The gateway's own number for the app; comes back in ``ValidatedPush/app``.
        package let number: Int
        package let bundle: BundleID
        /// Topics beside the two that the bundle id gives, such as a watch app's or an extension's.
        package let extraTopics: [String]

        package init(number: Int, bundle: BundleID, extraTopics: [String] = []) {
            self.number = number
            self.bundle = bundle
            self.extraTopics = extraTopics
        }
    }

    struct Entry: Hashable, Sendable {
        let app: Int
        /// nil where only the push type header can tell.
        let type: PushType?
    }

    private var topics: ByteTable<Entry>
    private var bundles: ByteTable<Entry>

    /// - Parameters:
    ///   - apps: The apps. Where two list one topic, the earlier has it.
    ///   - allowed: The only topics that the key is for, or nil if it is for all.
    package init(_ apps: [App], limitedTo allowed: [String]? = nil) {
        self.topics = ByteTable()
        self.bundles = ByteTable()
        for app in apps {
            let own = [PushType.widgets, .controls].map { Topic.of(app.bundle, type: $0) }
            var isReachable = false
            for topic in own + app.extraTopics where allowed?.contains(topic) ?? true {
                let bytes = Array(topic.utf8)
                self.topics.insert(bytes, Entry(app: app.number, type: Topic.suffixType(bytes.span)))
                isReachable = true
            }
            if isReachable { self.bundles.insert(Array(app.bundle.rawValue.utf8), Entry(app: app.number, type: nil)) }
        }
    }

    func entry(topic: Span<UInt8>) -> Entry? { self.topics.value(for: topic) }

    /// The number of the app with a bundle id, if the sender may push to any of its topics.
    package func app(bundle: Span<UInt8>) -> Int? { self.bundles.value(for: bundle)?.app }

    /// The number of the app with a bundle id, if the sender may push to any of its topics.
    package func app(bundle: BundleID) -> Int? { self.app(bundle: Array(bundle.rawValue.utf8).span) }
}
