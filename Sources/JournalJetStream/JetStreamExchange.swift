#if JetStream
package import Clustering
import Dispatch
import JournalStreams
package import Journaling
import Synchronization
import WidgetModel

/// Questions from node to node as messages that nothing stores.
///
/// Each start of a node has a subject of its own for questions to it. So a start that is gone is known at once, since brokers say that none
/// listens, and one that comes back is never taken for the one before.
package final class JetStreamExchange: NodeExchange {
    /// The limits that keep nodes from filling each other's memory.
    package struct Limits: Hashable, Sendable {
        /// How many questions of this node may be under way at once. Default 1024.
        package var askedMax = 1024
        /// How many questions of other nodes are answered at once. Default 256.
        package var answeredMax = 256
        /// The longest question, which is one message. Default 1,000,000.
        package var questionBytesMax = 1_000_000
        /// The longest answer. Default 64 MiB.
        package var answerBytesMax = 67_108_864

        package init() {}
    }

    private struct Waiting {
        let continuation: CheckedContinuation<NodeAnswer, Never>
        let until: DispatchTime
        var parts = AnswerParts()
    }

    private struct State {
        /// By number.
        var waiting: [UInt64: Waiting] = [:]
        var asked: UInt64 = 0
        var answering = 0
        var isClosed = false
    }

    /// How long a thread waits for a message before it looks at the time.
    private static let waitMilliseconds = 50

    private let core: OpenLog
    private let limits: Limits
    /// Part of the subjects that answers come to.
    private let inbox = UInt64.random(in: 0...UInt64.max)
    private let state = Mutex(State())
    private let threads = ThreadGroup()

    init(_ core: OpenLog, limits: Limits) {
        self.core = core
        self.limits = limits
    }

    package func answer(
        as node: ClusterNode,
        _ body: @escaping @Sendable (NodeQuestion) async -> NodeAnswer
    ) throws(JournalError) {
        let questions = self.core.names.questions(to: node.incarnation.number)
        try self.threads.start("node-questions") { self.listen(to: questions) { self.answer($0, body) } }
        let answers = self.core.names.answers(to: self.inbox)
        try self.threads.start("node-answers") { self.listen(to: answers) { self.takeAnswer($0) } }
    }

    package func close() {
        let waiting = self.state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.continuation)
        }
        for continuation in waiting { continuation.resume(returning: .silence) }
        self.threads.join()
    }

    // MARK: Threads

    private var isOver: Bool { self.core.isClosed || self.state.withLock { $0.isClosed } }

    private func listen(to subject: String, _ take: (Broker.Told) -> Void) {
        self.core.listen(to: subject, waitMilliseconds: Self.waitMilliseconds, until: { self.isOver }) { told in
            if let told { take(told) }
            self.giveUpOverdue()
        }
    }

    // MARK: Asking

    package func ask(_ node: ClusterNode, _ question: NodeQuestion) async -> NodeAnswer {
        guard question.bytes.count <= self.limits.questionBytesMax else { return .tooLong }
        return await withCheckedContinuation { continuation in
            let until = DispatchTime.now() + .milliseconds(Int(question.time.milliseconds))
            let number: UInt64? = self.state.withLock { state in
                guard !state.isClosed, state.waiting.count < self.limits.askedMax else { return nil }
                state.asked += 1
                state.waiting[state.asked] = Waiting(continuation: continuation, until: until)
                return state.asked
            }
            guard let number else { return continuation.resume(returning: .busy) }
            let subject = self.core.names.questions(to: node.incarnation.number)
            let bytes = QuestionMessage.bytes(question, self.core.journalID, in: subject)
            let answer = self.core.names.answer(to: self.inbox, number)
            if !self.core.broker.ask(bytes, of: subject, answerTo: answer) { self.finish(number, .silence) }
        }
    }

    /// An answer has come, a part of one, or that none listens.
    private func takeAnswer(_ told: Broker.Told) {
        guard let last = told.subject.split(separator: ".").last, let number = UInt64(last, radix: 16) else { return }
        if told.isUnheard { return self.finish(number, .silence) }
        // Another log's, or a newer program's, is no answer.
        guard let message = try? AnswerMessage(told.bytes, self.core.journalID, in: told.subject) else { return }
        let answer = self.state.withLock { state in
            state.waiting[number]?.parts.takeContent(message.content, bytesMax: self.limits.answerBytesMax)
        }
        if let answer { self.finish(number, answer) }
    }

    private func finish(_ number: UInt64, _ answer: NodeAnswer) {
        let waiting = self.state.withLock { $0.waiting.removeValue(forKey: number) }
        waiting?.continuation.resume(returning: answer)
    }

    private func giveUpOverdue() {
        let now = DispatchTime.now()
        let overdue = self.state.withLock { state in state.waiting.filter { $0.value.until <= now }.map(\.key) }
        for number in overdue { self.finish(number, .silence) }
    }

    // MARK: Answering

    private func answer(_ told: Broker.Told, _ body: @escaping @Sendable (NodeQuestion) async -> NodeAnswer) {
        guard let reply = told.reply,
            let question = try? QuestionMessage.question(told.bytes, self.core.journalID, in: told.subject)
        else { return }
        let isTaken = self.state.withLock { state in
            guard state.answering < self.limits.answeredMax else { return false }
            state.answering += 1
            return true
        }
        guard isTaken else { return self.send(.busy, to: reply) }
        Task {
            let answer = await body(question)
            self.state.withLock { $0.answering -= 1 }
            if case .answer(let bytes) = answer, bytes.count > self.limits.answerBytesMax {
                self.send(.tooLong, to: reply)
            } else {
                self.send(answer, to: reply)
            }
        }
    }

    private func send(_ answer: NodeAnswer, to subject: String) {
        guard !self.isOver else { return }
        for message in AnswerMessage.messages(answer, self.core.journalID, in: subject) {
            self.core.broker.tell(message, to: subject)
        }
    }
}

extension JetStreamJournal {
    /// The exchange by which the nodes that have this log open ask each other.
    package func makeExchange(limits: JetStreamExchange.Limits = JetStreamExchange.Limits()) -> JetStreamExchange {
        JetStreamExchange(self.core, limits: limits)
    }
}
#endif
