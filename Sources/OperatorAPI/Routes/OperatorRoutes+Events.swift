import APNSWire
import Engine
import HTTPTransport
import Partitions
import Serving
import Settings
import WidgetModel

extension OperatorRoutes {
    /// `GET /v1/events`: the live events, as Server-Sent Events. It ends when the caller may no longer know them.
    func events(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let wanted = try self.subjects(call.query("types"), call.asker.caller)
        let needed = wanted.map(\.scope).max() ?? .read
        let (feed, access) = (self.watch.feed, self.doors.access)
        let last = call.lastEventID ?? call.query("cursor")
        // A text that is no place did not come from this gateway: the missed events are not known.
        let place = last.map { FeedPlace($0) ?? FeedPlace(epoch: .max, sequence: .max) }
        let subscription: OperatorFeed.Subscription
        do throws(OperatorFeed.SubscribeError) {
            subscription = try feed.subscribe(after: place)
        } catch {
            throw Problem(error)
        }
        return HTTPResponse(
            status: 200,
            headers: ["content-type": "text/event-stream", "cache-control": "no-store"],
            body: .stream { writer in
                defer { feed.cancel(subscription) }
                var text = EventText.retry(Self.retryMilliseconds)
                if subscription.missed == nil { text += EventText.gap }
                for (event, place) in subscription.missed ?? [] where wanted.contains(event.subject) {
                    text += EventText.event(event, place)
                }
                try await writer.write(text + EventText.place(subscription.start))
                for await (event, place) in subscription.events {
                    // A sample comes once a second, whatever is wanted.
                    guard access.present(call.request, for: needed) != nil else { return }
                    if wanted.contains(event.subject) {
                        try await writer.write(EventText.event(event, place))
                    } else if case .sample = event {
                        // Something to hear once a second, and a place to resume from.
                        try await writer.write(EventText.heartbeat(place))
                    }
                }
            }
        )
    }

    /// The subjects that a reader is told of: those that it asks for, by default all that it may know.
    private func subjects(_ text: String?, _ caller: OperatorCaller) throws(Problem) -> Set<OperatorFeed.Subject> {
        let all = OperatorFeed.Subject.allCases
        guard let text else { return Set(all.filter { $0.scope <= caller.scope }) }
        var subjects: Set<OperatorFeed.Subject> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let subject = OperatorFeed.Subject(rawValue: String(word)) else {
                let names = all.map(\.rawValue).joined(separator: ", ")
                throw Problem(.badRequest, "expected one or more of \(names), separated by commas", path: "types")
            }
            try OperatorAccess.check(caller, needed: subject.scope, for: "events of the type \(subject.rawValue)")
            subjects.insert(subject)
        }
        return subjects
    }

    /// How soon a reader should connect again.
    private static let retryMilliseconds = 2000
}

extension EventText {
    fileprivate static func event(_ event: OperatorFeed.Event, _ place: FeedPlace) -> String {
        let value: JSONValue =
            switch event {
            case .sample(let sample): Views.sample(sample)
            case .reload(let reload): Views.reload(reload)
            case .note(_, let value): value
            }
        let data = String(decoding: value.jsonText, as: UTF8.self)
        return "id: \(place)\nevent: \(event.subject.rawValue)\ndata: \(data)\n\n"
    }
}

extension Problem {
    fileprivate init(_ refusal: OperatorFeed.SubscribeError) {
        switch refusal {
        case .tooMany(let max): self.init(.tooMany, "\(max) readers follow the events, the limit; close one")
        case .closing: self.init(.unavailable, "the gateway is shutting down; connect again in a moment")
        }
    }
}
