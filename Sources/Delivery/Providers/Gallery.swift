import APNSWire
package import Engine
import HTTPTransport
package import Partitions
package import Serving
import Synchronization
package import WidgetModel

/// The answers of providers beside timelines: placeholders, and for kinds that are not placed yet snapshots,
/// recommendations and relevance. Asked for once, kept for a while.
package final class Gallery: Sendable {
    private struct Kept {
        let value: JSONValue
        let at: Instant
        /// Whether it is to be asked anew, whatever its age.
        var isOld = false
    }

    /// A request that is on its way, for all who ask meanwhile.
    private struct Request {
        let number: Int
        let task: Task<JSONValue?, Never>
    }

    private struct Cache {
        /// Looked up only.
        var answers: [GalleryQuestion: Kept] = [:]
        var order: [GalleryQuestion] = []
        /// Looked up only.
        var requests: [GalleryQuestion: Request] = [:]
        var requestsMade = 0

        /// Lets questions be asked anew. A request that is on its way was sent before the answers became old.
        mutating func outdate(_ isOld: (GalleryQuestion) -> Bool) {
            for question in self.order where isOld(question) { self.answers[question]?.isOld = true }
            self.requests = self.requests.filter { !isOld($0.key) }
        }

        mutating func keep(_ question: GalleryQuestion, _ kept: Kept) {
            // The answer to a later request is there already.
            if kept.isOld, let present = self.answers[question], !present.isOld { return }
            if self.answers.updateValue(kept, forKey: question) == nil { self.order.append(question) }
            if self.order.count > Gallery.answersMax { self.answers[self.order.removeFirst()] = nil }
        }
    }

    /// Answers that are kept; the oldest makes room.
    package static let answersMax = 4096
    /// The longest wait of a person who looks at a gallery.
    package static let previewMax = Interval.seconds(1)
    /// How long relevance is taken for new at most.
    package static let relevanceAgeMax = Interval.hours(24)

    private let cache = Mutex(Cache())
    private let age: Shared<Interval>
    private let clock: LogClock
    /// Where providers that are too slow for those who look at a gallery are counted.
    let states: KindStates

    /// - Parameter age: How long an answer is taken for new.
    package init(age: Interval, clock: LogClock, states: KindStates) {
        self.age = Shared(age)
        self.clock = clock
        self.states = states
    }

    /// Takes answers for new for so long from now on.
    package func setLimit(age: Interval) { self.age.set(age) }

    /// The answer to a question: one that is kept and new enough, else the provider's; if it gives none in time, an old one.
    ///
    /// - Parameter pushed: The kinds of the app that were pushed to: their relevance is asked anew. Nil where it is not
    ///   asked for relevance.
    /// - Returns: Nil if there is none at all.
    package func answer(
        _ question: GalleryQuestion,
        _ connection: ProviderConnection,
        _ pushed: PushedKinds? = nil
    ) async -> JSONValue? {
        let now = self.clock.now()
        let age = self.age(of: question.question)
        let step = self.cache.withLock { cache -> (kept: JSONValue?, request: Task<JSONValue?, Never>?) in
            if question.question == .relevance, let pushed {
                let noted = pushed.takeNoted()
                if !noted.isEmpty {
                    cache.outdate {
                        $0.question == .relevance && $0.key.app == question.key.app && noted.contains($0.key.kind)
                    }
                }
            }
            if let kept = cache.answers[question], !kept.isOld, age.map({ now - kept.at < $0 }) ?? true {
                return (kept.value, nil)
            }
            if let request = cache.requests[question] { return (nil, request.task) }
            cache.requestsMade += 1
            let number = cache.requestsMade
            let task = Task { await self.ask(question, connection, number, now) }
            cache.requests[question] = Request(number: number, task: task)
            return (nil, task)
        }
        return if let kept = step.kept { kept } else { await step.request?.value }
    }

    /// The answer that is kept, however old; nil if there is none. Asks no provider.
    package func kept(_ question: GalleryQuestion) -> JSONValue? { self.cache.withLock { $0.answers[question]?.value } }

    /// Lets questions be asked anew.
    package func invalidate(_ request: InvalidationRequest) {
        let question: ProviderRequest =
            switch request.subject {
            case .relevance: .relevance
            case .recommendations: .recommendations
            }
        self.cache.withLock { cache in
            cache.outdate {
                $0.question == question && $0.key.app == request.app
                    && (request.kind == nil || $0.key.kind == request.kind)
            }
        }
    }

    /// How long an answer is taken for new, nil for ever.
    private func age(of question: ProviderRequest) -> Interval? {
        switch question {
        // A placeholder has no news in it.
        case .placeholder: nil
        case .relevance: min(self.age.value, Self.relevanceAgeMax)
        case .snapshot, .recommendations, .timeline: self.age.value
        }
    }

    /// Asks the provider and keeps its answer.
    ///
    /// - Parameter number: The request's.
    private func ask(
        _ question: GalleryQuestion,
        _ connection: ProviderConnection,
        _ number: Int,
        _ now: Instant
    ) async -> JSONValue? {
        let body = question.question.body(
            app: question.key.app,
            kind: question.key.kind,
            context: question.context,
            configuration: question.configuration,
            now: now
        )
        let slowness: KindFindings.Slowness? =
            question.question == .placeholder ? .placeholder : question.context.isPreview ? .preview : nil
        var response: HTTPClientResponse?
        do {
            response = try await connection.ask(body.jsonText, within: slowness == nil ? nil : Self.previewMax)
        } catch let error as HTTPTransportError where error.code == .timeout {
            if let slowness { self.states.noteSlowness(slowness, of: question.key) }
        } catch {
            // As for any other request without an answer: the kept answer is given.
        }
        let value = response.flatMap { $0.status == 200 ? Self.member(of: $0.body, question.question) : nil }
        return self.cache.withLock { cache in
            let isLatest = cache.requests[question]?.number == number
            if isLatest { cache.requests[question] = nil }
            guard let value else { return cache.answers[question]?.value }
            cache.keep(question, Kept(value: value, at: now, isOld: !isLatest))
            return value
        }
    }

    /// The value of the only answer: `entry` for placeholder and snapshot, else the member named as the question.
    private static func member(of body: [UInt8], _ question: ProviderRequest) -> JSONValue? {
        let value = try? JSONReader().value(of: body, bytesMax: body.count)
        guard case .array(let answers)? = value?["answers"], let first = answers.first else { return nil }
        switch question {
        // Without content there is nothing to draw.
        case .placeholder, .snapshot: return first["entry"].flatMap { $0["content"] == nil ? nil : $0 }
        case .relevance, .recommendations, .timeline: return first[question.rawValue]
        }
    }
}
