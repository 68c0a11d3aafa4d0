package import WidgetModel

/// One entry of a timeline: the instance shows it from its date on.
///
/// The content stays with the host; the gateway needs only the entry's date and its relevance.
package struct TimelineEntry: Hashable, Sendable {
    /// The earliest instant at which the entry is shown.
    package let date: Instant
    package let relevance: EntryRelevance?

    package init(date: Instant, relevance: EntryRelevance? = nil) {
        self.date = date
        self.relevance = relevance
    }
}

/// How relevant an entry is in a Smart Stack, WidgetKit's `TimelineEntryRelevance`.
package struct EntryRelevance: Hashable, Sendable {
    /// On a scale of the provider's own choice, compared over all its timelines; zero and below is not relevant.
    package let score: Float
    /// How long after the entry's date the score holds. Zero: until the next entry.
    package let duration: Interval

    package init(score: Float, duration: Interval = .zero) {
        self.score = score
        self.duration = duration
    }
}

/// When a host asks for its next timeline, WidgetKit's `TimelineReloadPolicy`. None of them is ever early.
package enum ReloadPolicy: Hashable, Sendable {
    /// After the date of the last entry.
    case atEnd
    /// After this date, which may lie before or after the last entry.
    case after(Instant)
    /// Not by itself: the next timeline comes by a push or when the app asks.
    case never
}
