import APNSWire
package import Engine
package import HTTPTransport
package import Partitions
package import WidgetModel

/// The question for the outcomes of a push, for its sender and for operators.
package struct PushQuestion: Sendable {
    /// How soon a push that is followed is looked at again, however much is applied meanwhile.
    static let lookInterval = Duration.milliseconds(100)

    package let id: PushID
    /// The sender whose key limits the visible pushes; nil for all pushes.
    package private(set) var sender: Sender?
    /// Whether the sender is one that reads all pushes of its team, of any key.
    private let isReader: Bool
    /// How many of the widgets that a push waits for in a partition are looked at to tell why.
    private let waitingLookedMax: Int
    /// Whether the answer has the push itself, too, which the log is read for.
    package var tellsWhatItWas = false
    let log: CommandLog

    /// - Parameter text: The `apns-id`.
    package init(
        _ text: String,
        of sender: Sender? = nil,
        isReader: Bool = false,
        _ bounds: ServingBounds,
        _ log: CommandLog
    ) throws(Problem) {
        guard let id = PushID(text) else { throw Problem(.badRequest, "an apns-id is a UUID") }
        self.id = id
        self.sender = sender
        self.isReader = isReader
        self.waitingLookedMax = bounds.waitingLookedMax
        self.log = log
    }

    /// The same question of a sender.
    package func put(by sender: Sender) -> PushQuestion {
        var question = self
        question.sender = sender
        return question
    }

    /// The state of the newest push with this id, the others beside it.
    package struct Answer: Sendable {
        package let json: JSONValue
        /// Whether nothing of any of them can change any more.
        let isComplete: Bool
    }

    package func ask() async throws(Problem) -> Answer {
        guard let answer = try await self.askIfSeen() else {
            throw Self.unknown
        }
        return answer
    }

    /// There is no push with this id, or none that may be seen.
    package static let unknown = Problem(
        .notFound,
        "the gateway has no push with this apns-id: it was never accepted, or is no longer kept"
    )

    /// - Returns: Nil if there is no push with this id, or none that may be seen.
    private func askIfSeen() async throws(Problem) -> Answer? {
        let answers = try await self.placedViews(lookedMax: self.waitingLookedMax)
        // One id may stand for several pushes, by content or by team: the newest is the answer, the others are beside.
        var pushes: [[PlacedPush]] = []
        for push in answers {
            let view = push.view
            if let index = pushes.firstIndex(where: {
                $0[0].view.team == view.team && $0[0].view.contentHash == view.contentHash
            }) {
                pushes[index].append(push)
            } else {
                pushes.append([push])
            }
        }
        pushes.sort { $0[0].view.acceptedAt > $1[0].view.acceptedAt }
        let none: [PushRecord?] = Array(repeating: nil, count: pushes.count)
        let records = self.tellsWhatItWas ? await self.log.records(of: pushes.map { $0[0] }) : none
        let found = zip(pushes, records).compactMap { push, record in
            Views.push(push.map(\.view), record, partitions: self.log.partitions)
        }
        guard let first = found.first, case .object(let members) = first else { return nil }
        let isComplete = found.allSatisfy { $0["isComplete"] == .bool(true) }
        guard found.count > 1 else { return Answer(json: first, isComplete: isComplete) }
        let others = JSONValue.Member(name: "others", value: .array(Array(found.dropFirst())))
        return Answer(json: .object(members + [others]), isComplete: isComplete)
    }

    /// Each partition's view of the pushes with this id that may be seen.
    package func views() async throws(Problem) -> [PushView] { try await self.placedViews(lookedMax: 0).map(\.view) }

    private func placedViews(lookedMax: Int) async throws(Problem) -> [PlacedPush] {
        let question = PushesQuestion([self.id], of: self.sender?.team, lookedMax: lookedMax)
        let answers = try await self.log.askAll(question)
        return zip(self.log.partitionIDs, answers).flatMap { partition, views in
            views.filter { self.sees($0) }.map { PlacedPush(partition: partition, view: $0) }
        }
    }

    private func sees(_ push: PushView) -> Bool {
        guard let sender = self.sender else { return true }
        return self.isReader ? sender.mayRead(push) : sender.maySee(push)
    }

    /// `GET /v1/pushes/<apns-id>/events`: the state now, again whenever it changes, and at last that it is complete. It ends
    /// when the follower may not see the push any more.
    ///
    /// - Parameter present: The question as the follower may put it now, nil for not at all; asked for whenever there is
    ///   something to be heard.
    package func follow(
        _ followers: PushFollowers,
        asking present: @escaping @Sendable () -> PushQuestion?
    ) async throws(Problem) -> HTTPResponse {
        let subscription: PushFollowers.Subscription
        do throws(PushFollowers.SubscribeError) {
            // Before the first look, so that no change falls between.
            subscription = try followers.subscribe()
        } catch {
            throw Problem(error)
        }
        let first: Answer
        do throws(Problem) {
            first = try await self.ask()
        } catch {
            followers.cancel(subscription)
            throw error
        }
        return HTTPResponse(
            status: 200,
            headers: ["content-type": "text/event-stream", "cache-control": "no-store"],
            body: .stream { writer in
                defer { followers.cancel(subscription) }
                try await writer.write(EventText.push(first))
                var last = first
                var wakes = subscription.wakes.makeAsyncIterator()
                while !last.isComplete, let wake = await wakes.next(), let question = present() {
                    guard let now = try await question.askIfSeen() else { return }
                    if now.json != last.json {
                        try await writer.write(EventText.push(now))
                    } else if wake == .heartbeat {
                        try await writer.write(EventText.quiet)
                    }
                    last = now
                    // A busy partition applies something all the time; wakes meanwhile are one.
                    try await Task.sleep(for: Self.lookInterval)
                }
            }
        )
    }
}

extension Sender {
    /// Whether a sender's key is for a push: for its app, and for its action there. The topic does not count: a key for one topic of an app
    /// sees, and takes back, the pushes of other keys to devices of that app under another topic.
    package func maySee(_ push: PushView) -> Bool {
        guard let app = push.app else { return false }
        guard push.isForApp else { return self.may(.devices, app) }
        return self.may(.targeted, app) || self.may(.channels, app)
    }

    /// Whether a key that reads is told of a push: its team's own, for an app that it may read.
    package func mayRead(_ push: PushView) -> Bool {
        push.team == self.team && push.app.map { self.may(.reads, $0) } ?? false
    }
}

extension EventText {
    /// Something to hear for a reader that has no place to resume from.
    fileprivate static let quiet = ": heartbeat\n\n"

    /// `progress`, or at last `complete`, with the answer of `GET /v1/pushes/<apns-id>`.
    fileprivate static func push(_ answer: PushQuestion.Answer) -> String {
        let data = String(decoding: answer.json.jsonText, as: UTF8.self)
        return "event: \(answer.isComplete ? "complete" : "progress")\ndata: \(data)\n\n"
    }
}

extension Problem {
    fileprivate init(_ refusal: PushFollowers.SubscribeError) {
        switch refusal {
        case .tooMany(let max): self.init(.tooMany, "\(max) pushes are being followed, the limit; ask again later")
        case .closing: self.init(.unavailable, "the gateway is shutting down; connect again in a moment")
        }
    }
}
