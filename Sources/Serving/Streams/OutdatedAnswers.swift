package import Engine
package import WidgetModel

/// Answers of an app's timeline providers that are out of date: `invalidateRelevance(ofKind:)` and
/// `invalidateConfigurationRecommendations()`.
package struct OutdatedAnswers: Hashable, Sendable {
    package let question: ProviderRequest
    package let app: BundleID
    /// Nil for all kinds of the app.
    package let kind: WidgetKind?

    package init(_ question: ProviderRequest, app: BundleID, kind: WidgetKind?) {
        self.question = question
        self.app = app
        self.kind = kind
    }
}
