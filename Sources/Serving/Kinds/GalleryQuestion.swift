package import Engine
package import WidgetModel

/// A question to a timeline provider beside timelines, and its subject.
package struct GalleryQuestion: Hashable, Sendable {
    package let key: KindKey
    package let question: ProviderRequest
    package let context: TimelineProviderContext
    package let configuration: Configuration

    package init(
        key: KindKey,
        question: ProviderRequest,
        context: TimelineProviderContext = TimelineProviderContext(family: .systemSmall),
        configuration: Configuration = .empty
    ) {
        self.key = key
        self.question = question
        self.context = context
        self.configuration = configuration
    }
}
