package import Clustering
import Engine
import Journaling
package import Ownership
package import Settings
package import WidgetModel

/// The nodes that have the partitions which are not this one's.
package struct OtherNodes: Sendable {
    /// How long an owner is looked for.
    package struct Limits: Hashable, Sendable {
        /// For a question. Default 3 s, in which partitions of a node that died are another's.
        package var question = Interval.seconds(3)
        /// For the answer to a record that is in the log, and for a search. Default 10 s.
        package var answer = Interval.seconds(10)
        /// For the answer of a node that forgets its history. Default 2 min: it writes two snapshots of each of its partitions.
        package var forgetting = Interval.minutes(2)

        package init() {}

        package init(_ configuration: GatewayConfiguration) {
            guard let place = configuration.journal.jetStream else { return }
            self.question = place.questionPatience
            self.answer = place.patience
        }
    }

    /// A longer question is asked in pieces. A node takes 1,000,000 bytes, partitions' numbers among them.
    static let questionBytesMax = JournalLimits().batchBytesMax
    /// How long one node is asked before the partition's owner is looked up again.
    fileprivate static let attempt = Interval.seconds(1)
    private static let pause = Duration.milliseconds(50)

    private let membership: Membership
    package let limits: Limits

    package init(_ membership: Membership, limits: Limits = Limits()) {
        (self.membership, self.limits) = (membership, limits)
    }

    /// See ``Cluster/isCutOff``.
    var isCutOff: Bool { self.membership.cluster.isCutOff }

    /// Looks for the owner of one partition, and asks it, until the time is over.
    struct Search {
        private let nodes: OtherNodes
        private let owner: PartitionOwner
        private let question: OwnerQuestion
        private let limit: Interval
        private let end: ContinuousClock.Instant
        private var isFirst = true

        fileprivate init(
            _ nodes: OtherNodes,
            _ owner: PartitionOwner,
            _ question: OwnerQuestion,
            limit: Interval,
            since start: ContinuousClock.Instant
        ) {
            (self.nodes, self.owner, self.question, self.limit) = (nodes, owner, question, limit)
            self.end = start + .milliseconds(limit.milliseconds)
        }

        /// The owner's answer; nil if the partition is this node's by now.
        ///
        /// - Throws: `partition-away` once the time is over, and the owner's errors.
        mutating func next() async throws(Problem) -> [UInt8]? {
            let bytes = self.question.encoded
            while true {
                let left = Interval(milliseconds: Int64((self.end - .now) / .milliseconds(1)))
                guard left > .zero, !Task.isCancelled else { throw self.nodes.silence(of: self.owner, self.limit) }
                if !self.isFirst { try? await Task.sleep(for: OtherNodes.pause) }
                self.isFirst = false
                guard self.owner.isAway else { return nil }
                let time = self.question.attempt(within: left, of: self.nodes.limits)
                guard let answer = await self.nodes.ask(self.owner.partition, bytes, within: time) else { continue }
                return try Self.read(answer)
            }
        }

        private static func read(_ answer: NodeAnswer) throws(Problem) -> [UInt8] {
            guard case .answer(let bytes) = answer else {
                throw Problem(
                    .tooLarge,
                    "the question or its answer is longer than gateways send each other: ask for less"
                )
            }
            switch try? OwnerAnswer(encoded: bytes) {
            case .found(let bytes): return bytes
            case .problem(let problem): throw problem
            case nil: throw .unreadableAnswer
            }
        }
    }

    /// - Parameter start: From when on the time counts that the search may take.
    func search(
        for owner: PartitionOwner,
        _ question: OwnerQuestion,
        since start: ContinuousClock.Instant
    ) -> Search {
        Search(self, owner, question, limit: question.limit(of: self.limits), since: start)
    }

    /// Asks the owners of some partitions the same, each node once for all that it has.
    ///
    /// - Parameter question: The bytes of an ``EngineQuestion``.
    /// - Returns: The answers' bytes. A partition is missing whose node did not answer, or answered that it has not all of them any
    ///   more: it is to be asked alone.
    func ask(_ partitions: [PartitionID], _ question: [UInt8]) async -> [PartitionID: [UInt8]] {
        let nodes = Dictionary(grouping: partitions) { self.membership.cluster.owner(of: $0) }
        // What is left is for asking them one by one.
        let time = min(Self.attempt, .milliseconds(self.limits.question.milliseconds / 2))
        return await withTaskGroup(of: [PartitionID: [UInt8]].self) { group in
            for case (let node?, let own) in nodes where node != self.membership.node {
                group.addTask { await self.ask(node, own, question, within: time) }
            }
            return await group.reduce(into: [:]) { all, some in all.merge(some) { first, _ in first } }
        }
    }

    private func ask(
        _ node: ClusterNode,
        _ partitions: [PartitionID],
        _ question: [UInt8],
        within time: Interval
    ) async -> [PartitionID: [UInt8]] {
        let bytes = OwnerQuestion.engines(partitions, question).encoded
        let said = await self.membership.exchange.ask(node, NodeQuestion(about: partitions[0], bytes, within: time))
        guard case .answer(let answer) = said, case .found(let found) = try? OwnerAnswer(encoded: answer),
            let answers = try? OwnersAnswers(encoded: found).bytes, answers.count == partitions.count
        else { return [:] }
        return Dictionary(uniqueKeysWithValues: zip(partitions, answers))
    }

    /// Asks the owner of a partition, as far as it is known.
    ///
    /// - Returns: Nil if no node has it, or the one that had it has not any more, or says nothing.
    private func ask(_ partition: PartitionID, _ bytes: [UInt8], within time: Interval) async -> NodeAnswer? {
        guard let node = self.membership.cluster.owner(of: partition), node != self.membership.node else { return nil }
        let answer = await self.membership.exchange.ask(node, NodeQuestion(about: partition, bytes, within: time))
        switch answer {
        case .answer, .tooLong: return answer
        case .away, .busy, .silence: return nil
        }
    }

    private func silence(of owner: PartitionOwner, _ limit: Interval) -> Problem {
        Problem(
            .partitionAway,
            "\(owner.absence), and no answer came within \(limit.milliseconds) ms; send it again later",
            retryAfter: Problem.awaySeconds
        )
    }
}

extension OwnerQuestion {
    /// How long its owner is looked for. More than the owner's turn is waited for, unless it is a simple one.
    fileprivate func limit(of limits: OtherNodes.Limits) -> Interval {
        switch self {
        case .forgetHistory: limits.question
        case .answers: limits.answer
        default: self.isAskedOnce ? limits.answer : limits.question
        }
    }

    /// How long one attempt to ask its owner may take.
    ///
    /// - Parameter left: How long the owner is looked for yet.
    fileprivate func attempt(within left: Interval, of limits: OtherNodes.Limits) -> Interval {
        switch self {
        // The owner is found at once, and then works.
        case .forgetHistory: limits.forgetting
        default: self.isAskedOnce ? left : min(left, OtherNodes.attempt)
        }
    }

    /// Whether it goes on for as long as it takes, and is not begun again meanwhile: a search, a change, or much to read.
    fileprivate var isAskedOnce: Bool {
        switch self {
        case .engine(let bytes): ReceivedQuestion.isSearch(bytes)
        case .contents(let question): question.hasTimelines
        case .callBack, .forgetHistory: true
        case .progress, .answers, .engines: false
        }
    }
}

extension Problem {
    /// After how many seconds a partition that is on its way is likely to be somewhere.
    package static let awaySeconds = 1

    /// The problem of a request that needs a partition that is not this node's.
    package init(_ absence: OwnerError) {
        self.init(.partitionAway, "\(absence); send it again later", retryAfter: Self.awaySeconds)
    }

    /// This node's partitions may have other owners by now.
    package static let cutOff = Problem(
        .partitionAway,
        "this gateway has not heard the brokers for a while, and others may have its partitions by now; use another one",
        retryAfter: Self.awaySeconds
    )

    /// The text for a client. The store's own text may name files, and is not for untrusted peers.
    init(of error: any Error) {
        if let problem = error as? Problem {
            self = problem
        } else if let absence = error as? OwnerError, case .away = absence {
            self.init(absence)
        } else if let error = error as? JournalError {
            self.init(.unavailable, "the log is not available (\(error.code.rawValue)); send it again")
        } else {
            self.init(.unavailable, "the partition of this request has stopped; send it again later")
        }
    }

    /// A record is in the log, and its answer is not known.
    static func unknownOutcome(of partition: PartitionID) -> Problem {
        var problem = Problem(
            .partitionAway,
            "it is in the log, but partition \(partition) did not answer in time how it was carried out: look before you send it again",
            retryAfter: Self.awaySeconds
        )
        problem.isOutcomeUnknown = true
        return problem
    }

    static var unreadableAnswer: Problem {
        Problem(
            .unavailable,
            "the gateway that has this request's partition has another program, whose answer cannot be read; upgrade both"
        )
    }
}
