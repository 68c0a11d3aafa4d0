package import WidgetModel

/// The order in which a Smart Stack would show a host's widgets at an instant.
///
/// The more relevant entry first; of equally relevant ones the one with the later date, then by instance id. An entry
/// without relevance, with a score of zero or less, or after its duration counts as not relevant, and those come last
/// ("TimelineEntryRelevance"; Apple does not say how the system breaks ties, nor how it weighs usage).
package struct SmartStack: Hashable, Sendable {
    package struct Widget: Hashable, Sendable {
        package let instance: InstanceID
        /// The date of the entry that is shown, nil if there is none.
        package let date: Instant?
        /// Zero if it is not relevant now.
        package let score: Float

        /// - Parameters:
        ///   - timeline: The instance's timeline; nil if it is unknown.
        ///   - now: The instant of the order.
        package init(_ instance: InstanceID, showing timeline: Timeline?, at now: Instant) {
            let entry = timeline?.entry(at: now)
            self.instance = instance
            self.date = entry?.date
            self.score = entry?.score(at: now) ?? 0
        }
    }

    /// The most relevant first.
    package let widgets: [Widget]

    /// O(n log n).
    package init(_ widgets: [Widget]) {
        self.widgets = widgets.sorted { left, right in
            if left.score != right.score { return left.score > right.score }
            if left.date != right.date { return (left.date ?? .epoch) > (right.date ?? .epoch) }
            return left.instance < right.instance
        }
    }
}

extension TimelineEntry {
    /// How relevant the entry is at an instant at which it is shown; zero if it is not.
    package func score(at now: Instant) -> Float {
        guard let relevance = self.relevance, relevance.score > 0 else { return 0 }
        let isOver = relevance.duration > .zero && self.date + relevance.duration <= now
        return isOver ? 0 : relevance.score
    }
}
