import APNSWire
import HTTPTransport
import Synchronization
package import WidgetModel

/// What providers say of kinds that nobody has placed yet: placeholders, snapshots, recommendations, relevance. Asked
/// for once, kept for a while.
package final class Gallery: Sendable {
    /// What is asked, and about what.
    package struct Question: Hashable, Sendable {
        package let key: KindKey
        package let question: ProviderQuestion
        package let family: WidgetFamily
        package let configuration: Configuration
        package let isPreview: Bool

        package init(
            key: KindKey,
            question: ProviderQuestion,
            family: WidgetFamily,
            configuration: Configuration,
            isPreview: Bool
        ) {
            self.key = key
            self.question = question
            self.family = family
            self.configuration = configuration
            self.isPreview = isPreview
        }
    }

    private struct Cache {
        /// Looked up only.
        var answers: [Question: (value: JSONValue, at: Instant)] = [:]
        var order: [Question] = []
    }

    /// Answers that are kept; the oldest makes room.
    package static let answersMax = 4096
    /// How long somebody who looks at a gallery is kept waiting.
    package static let previewMax = Interval.seconds(1)

    private let cache = Mutex(Cache())
    private let age: Shared<Interval>
    private let clock: LogClock

    /// - Parameter age: How long an answer is taken for new.
    package init(age: Interval, clock: LogClock) {
        self.age = Shared(age)
        self.clock = clock
    }

    /// Takes answers for new for so long from now on.
    package func use(age: Interval) { self.age.set(age) }

    /// The answer to a question: one that is kept and new enough, else the provider's; if it gives none in time, an old one.
    ///
    /// - Returns: Nil if there is none at all.
    package func answer(_ question: Question, _ connection: ProviderConnection) async -> JSONValue? {
        let now = self.clock.now()
        let kept = self.cache.withLock { $0.answers[question] }
        // A placeholder has no news in it.
        if let kept, question.question == .placeholder || now - kept.at < self.age.value { return kept.value }
        let body = question.question.body(
            app: question.key.app,
            kind: question.key.kind,
            family: question.family,
            configuration: question.configuration,
            isPreview: question.isPreview,
            now: now
        )
        let isQuick = question.isPreview || question.question == .placeholder
        guard
            let response = try? await connection.ask(body.jsonText, within: isQuick ? Self.previewMax : nil),
            response.status == 200, let value = Self.member(of: response.body, question.question)
        else { return kept?.value }
        self.keep(question, value, now)
        return value
    }

    /// Forgets what was said, so that it is asked anew: `invalidateRelevance(ofKind:)` and
    /// `invalidateConfigurationRecommendations()`.
    ///
    /// - Parameter kind: Nil for all kinds of the app.
    package func invalidate(_ question: ProviderQuestion, app: BundleID, kind: WidgetKind?) {
        self.cache.withLock { cache in
            let gone = cache.order.filter {
                $0.question == question && $0.key.app == app && (kind == nil || $0.key.kind == kind)
            }
            for question in gone { cache.answers[question] = nil }
            cache.order.removeAll { cache.answers[$0] == nil }
        }
    }

    private func keep(_ question: Question, _ value: JSONValue, _ now: Instant) {
        self.cache.withLock { cache in
            if cache.answers.updateValue((value, now), forKey: question) == nil { cache.order.append(question) }
            if cache.order.count > Self.answersMax { cache.answers[cache.order.removeFirst()] = nil }
        }
    }

    /// What the only answer says: `entry` for placeholder and snapshot, else the member named as the question.
    private static func member(of body: [UInt8], _ question: ProviderQuestion) -> JSONValue? {
        let value = try? HostRoutes.json(body, reader: JSONReader(), bytesMax: body.count)
        guard case .array(let answers)? = value?["answers"], let first = answers.first else { return nil }
        switch question {
        case .placeholder, .snapshot: return first["entry"]
        case .relevance, .recommendations, .timeline: return first[question.rawValue]
        }
    }
}
