package import WidgetModel

/// Suggestions for a person: configurations that are relevant at an instant and that the host does not show.
///
/// A provider lists a kind's relevance by priority ("WidgetRelevance"). So the first of each kind come first, then the
/// second of each kind, and so on; among those the one whose time ends first, then by kind. A configuration is
/// suggested once, for as long as it is relevant without a break, according to the attributes that apply at the
/// instant.
package struct Suggestions: Hashable, Sendable {
    /// A configuration, and when it is relevant; half-open.
    package struct Relevance: Hashable, Sendable {
        package let configuration: Configuration
        /// Nil if it has always been.
        package let from: Instant?
        /// Nil if it stays so.
        package let until: Instant?

        package init(_ configuration: Configuration, from: Instant? = nil, until: Instant? = nil) {
            self.configuration = configuration
            self.from = from
            self.until = until
        }

        package func holds(at now: Instant) -> Bool {
            (self.from.map { $0 <= now } ?? true) && (self.until.map { now < $0 } ?? true)
        }
    }

    /// A kind of the host's app.
    package struct Kind: Hashable, Sendable {
        package let kind: WidgetKind
        /// By priority.
        package let relevances: [Relevance]
        /// The configurations of the host's instances of the kind.
        package let placed: [Configuration]

        package init(_ kind: WidgetKind, relevances: [Relevance], placed: [Configuration]) {
            self.kind = kind
            self.relevances = relevances
            self.placed = placed
        }
    }

    package struct Suggestion: Hashable, Sendable {
        package let kind: WidgetKind
        package let relevance: Relevance
    }

    package let suggestions: [Suggestion]

    /// O(n log n) in the number of relevances.
    ///
    /// - Parameters:
    ///   - kinds: Each at most once.
    ///   - countMax: How many are wanted.
    package init(_ kinds: [Kind], at now: Instant, countMax: Int) {
        var ranked: [(rank: Int, suggestion: Suggestion)] = []
        for kind in kinds {
            for (rank, relevance) in Self.wanted(kind, at: now).prefix(countMax).enumerated() {
                ranked.append((rank, Suggestion(kind: kind.kind, relevance: relevance)))
            }
        }
        ranked.sort { left, right in
            if left.rank != right.rank { return left.rank < right.rank }
            let (leftEnd, rightEnd) = (left.suggestion.relevance.until, right.suggestion.relevance.until)
            if leftEnd != rightEnd { return Self.isEarlier(leftEnd, rightEnd) }
            return left.suggestion.kind < right.suggestion.kind
        }
        self.suggestions = ranked.prefix(countMax).map(\.suggestion)
    }

    /// The configurations of a kind that are relevant and not placed, each once, by priority.
    private static func wanted(_ kind: Kind, at now: Instant) -> [Relevance] {
        let placed = Set(kind.placed)
        var wanted: [Relevance] = []
        /// Looked up only.
        var places: [Configuration: Int] = [:]
        for relevance in kind.relevances where relevance.holds(at: now) && !placed.contains(relevance.configuration) {
            if let place = places[relevance.configuration] {
                wanted[place] = Self.union(wanted[place], relevance)
            } else {
                places[relevance.configuration] = wanted.count
                wanted.append(relevance)
            }
        }
        return wanted
    }

    /// Two that hold at one instant, of one configuration.
    private static func union(_ left: Relevance, _ right: Relevance) -> Relevance {
        Relevance(
            left.configuration,
            from: left.from.flatMap { from in right.from.map { min(from, $0) } },
            until: left.until.flatMap { until in right.until.map { max(until, $0) } }
        )
    }

    /// No end is later than any.
    private static func isEarlier(_ left: Instant?, _ right: Instant?) -> Bool {
        guard let left else { return false }
        return right.map { left < $0 } ?? true
    }
}
