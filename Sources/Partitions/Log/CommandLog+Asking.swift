package import Engine
import Ownership
package import WidgetModel

/// Questions to partitions, whichever node has them.
extension CommandLog {
    /// Asks the partition that owns a host.
    package func ask<Question: HostBoundQuestion>(_ question: Question) async throws(Problem) -> Question.Answer {
        try await self.ask(self.partition(of: question.host), question)
    }

    /// Asks a partition.
    ///
    /// - Parameter start: From when on the time counts for which the partition's owner is looked for; nil for now.
    package func ask<Question: EngineQuestion>(
        _ partition: PartitionID,
        _ question: Question,
        since start: ContinuousClock.Instant? = nil
    ) async throws(Problem) -> Question.Answer {
        var answers: [Question.Answer] = []
        for piece in self.pieces(of: question) {
            answers.append(
                try await self.ask(partition, .engine(piece.bytes), since: start) { owner, _ in
                    try await owner.ask(piece)
                }
            )
        }
        return Question.join(answers)
    }

    private func pieces<Question: EngineQuestion>(of question: Question) -> [Question] {
        self.nodes == nil ? [question] : question.pieces(bytesMax: OtherNodes.questionBytesMax)
    }

    /// The results of one question to each of some partitions, in their order. A node that has several of them is asked once.
    package func results<Question: EngineQuestion>(
        of partitions: [PartitionID],
        _ question: Question
    ) async -> [(partition: PartitionID, result: Result<Question.Answer, Problem>)] {
        let pieces = self.pieces(of: question)
        guard pieces.count > 1 else { return await self.results(of: partitions, atOnce: question) }
        var answers: [PartitionID: Result<[Question.Answer], Problem>] = [:]
        for piece in pieces {
            for (partition, result) in await self.results(of: partitions, atOnce: piece) {
                let before = answers[partition] ?? .success([])
                answers[partition] = before.flatMap { before in result.map { before + [$0] } }
            }
        }
        return partitions.compactMap { partition in
            answers[partition].map { (partition, $0.map { Question.join($0) }) }
        }
    }

    private func results<Question: EngineQuestion>(
        of partitions: [PartitionID],
        atOnce question: Question
    ) async -> [(partition: PartitionID, result: Result<Question.Answer, Problem>)] {
        let start = ContinuousClock.now
        let away = partitions.filter { !self.isPresent($0) }
        let said = await away.isEmpty ? [:] : self.nodes?.ask(away, question.bytes) ?? [:]
        return await self.each(of: partitions) { partition throws(Problem) in
            guard let bytes = said[partition] else { return try await self.ask(partition, question, since: start) }
            guard let answer = try? Question.Answer(encoded: bytes) else { throw .unreadableAnswer }
            return answer
        }
    }

    /// The result of asking a partition.
    package func result<Question: EngineQuestion>(
        of partition: PartitionID,
        _ question: Question
    ) async -> Result<Question.Answer, Problem> {
        do throws(Problem) {
            return .success(try await self.ask(partition, question))
        } catch {
            return .failure(error)
        }
    }

    /// Asks every partition; the answers are in the partitions' order.
    package func askAll<Question: EngineQuestion>(_ question: Question) async throws(Problem) -> [Question.Answer] {
        var answers: [Question.Answer] = []
        for (_, result) in await self.results(of: self.partitionIDs, question) { answers.append(try result.get()) }
        return answers
    }

    /// Asks every partition, to merge all answers. They are in the partitions' order, without the partitions that are away where this notes
    /// them.
    package func askEach<Question: EngineQuestion>(
        _ question: Question
    ) async throws(Problem) -> [(partition: PartitionID, answer: Question.Answer)] {
        var answers: [(partition: PartitionID, answer: Question.Answer)] = []
        for (partition, result) in await self.results(of: self.partitionIDs, question) {
            guard let answer = try self.noted(result, of: partition) else { continue }
            answers.append((partition, answer))
        }
        return answers
    }

    /// A partition's answer; nil if it is away and this notes that.
    ///
    /// - Throws: Its error.
    package func noted<Answer>(
        _ result: Result<Answer, Problem>,
        of partition: PartitionID
    ) throws(Problem) -> Answer? {
        do throws(Problem) {
            return try result.get()
        } catch {
            guard let coverage = self.coverage, error.code == .partitionAway else { throw error }
            coverage.noteSilence(of: partition)
            return nil
        }
    }

    /// Whether the state of a partition is the newest there is, as far as this node can know: no other node may have taken it over.
    package func isCurrent(_ partition: PartitionID) -> Bool {
        !self.isPresent(partition) || !(self.nodes?.isCutOff ?? false)
    }

    /// Whether a partition is this node's.
    package func isPresent(_ partition: PartitionID) -> Bool { !self.owners[Int(partition.rawValue)].isAway }

    /// Refuses an operation that only the node with these partitions may do.
    func checkPresence(of partitions: [PartitionID]) throws(Problem) {
        guard let away = partitions.first(where: { !self.isPresent($0) }) else { return }
        throw Problem(self.owners[Int(away.rawValue)].absence)
    }

    /// Asks any partition of this node's a question that all partitions answer alike; where it has none, another
    /// node's.
    package func askAnyPresent<Question: EngineQuestion>(_ question: Question) async throws(Problem) -> Question.Answer
    {
        if let answer = try await self.askOwn(question) { return answer }
        return try await self.ask(PartitionID(0), question)
    }

    /// Asks one of this node's partitions, and waits for no other node; nil if it has none.
    package func askOwn<Question: EngineQuestion>(_ question: Question) async throws(Problem) -> Question.Answer? {
        guard let partition = self.partitionIDs.first(where: self.isPresent) else { return nil }
        return try await self.ask(partition, question)
    }

    /// Asks the partitions that are this node's, in their order.
    package func askPresent<Question: EngineQuestion>(
        _ question: Question
    ) async throws(Problem) -> [(partition: PartitionID, answer: Question.Answer)] {
        var answers: [(partition: PartitionID, answer: Question.Answer)] = []
        for owner in self.owners where !owner.isAway {
            do {
                answers.append((owner.partition, try await owner.ask(question)))
            } catch {
                // It has left meanwhile.
                guard OwnerError.isAbsence(error) else { throw Problem(of: error) }
            }
        }
        return answers
    }

    /// Finds in every partition the widgets that a push would match; the answers are in the partitions' order.
    ///
    /// - Parameter decidedMax: How many matches of a partition are decided at most; nil if they are only counted.
    package func askAll(_ push: PushRecord, decidedMax: (PartitionID) -> Int?) async throws(Problem) -> [DryRunView] {
        let quotas = self.partitionIDs.map(decidedMax)
        var answers: [DryRunView] = []
        for (_, result) in await self.each({ (partition) async throws(Problem) in
            let question = MatchQuestion(push, decidedMax: quotas[Int(partition.rawValue)])
            return try await self.ask(partition, .engine(question.bytes)) { owner, _ in try await owner.ask(question) }
        }) {
            answers.append(try result.get())
        }
        return answers
    }

    /// Details of reloads, of those that have any.
    ///
    /// - Parameter toleratesSilence: Whether a partition that does not answer is taken to have none.
    package func find<Detail: ReloadDetail>(
        _: Detail.Type,
        of reloads: some Sequence<ReloadID>,
        toleratesSilence: Bool = false
    ) async throws(Problem) -> [ReloadID: Detail] {
        var found: [ReloadID: Detail] = [:]
        for (partition, ids) in Dictionary(grouping: reloads, by: \.partition)
        where partition.rawValue < self.partitions {
            do throws(Problem) {
                let details = try await self.ask(partition, ReloadQuestion<Detail>(ids))
                for (id, detail) in zip(ids, details) { found[id] = detail }
            } catch {
                guard toleratesSilence else { throw error }
            }
        }
        return found
    }

    /// The committed reloads of a partition of this node that are out and not delivered by a stream, in the order in which they were
    /// issued, and where to go on; nil if the partition has stopped.
    ///
    /// - Parameters:
    ///   - first: Instances with lower numbers are left out.
    ///   - limit: How many there may be; a last instance's are not torn apart.
    package func undeliveredReloads(
        of partition: PartitionID,
        from first: InstanceNumber,
        limit: Int
    ) async -> ReloadsPage? {
        let owner = self.owners[Int(partition.rawValue)]
        // Effects that are decided and not committed yet are published with their commit.
        guard let through = try? await owner.checkpoint().through else { return nil }
        var found: [ReloadEffect] = []
        var next: InstanceNumber? = first
        while let from = next, found.count < limit {
            let question = ReloadsQuestion(.undelivered, from: from, through: through, limit: limit - found.count)
            guard let page = try? await owner.ask(question) else { return nil }
            found += page.reloads
            next = page.next
        }
        return ReloadsPage(reloads: found.sorted { $0.id.position < $1.id.position }, next: next, through: through)
    }

    /// Has the owner of a partition take a call-back.
    ///
    /// - Parameter providers: This node's, for a partition that is here.
    package func handOver(
        _ callBack: CallBack,
        to partition: PartitionID,
        _ providers: some NodeProviders
    ) async throws(Problem) -> CallBack.Result {
        try await self.ask(partition, .callBack(callBack)) { _, _ in try await providers.takeCallBack(callBack) }
    }

    /// Asks for the content that a host's widgets show.
    ///
    /// - Parameter here: The answer of this node, if the host's partition is here.
    package func ask<Answer: ByteCoded & Sendable>(
        _ question: ContentsQuestion,
        here: () async throws(Problem) -> Answer
    ) async throws(Problem) -> Answer {
        try await self.ask(self.partition(of: question.host), .contents(question)) { _, _ in try await here() }
    }

    /// How far each owner of this node is.
    package func progress() async -> [OwnerProgress] {
        var all: [OwnerProgress] = []
        for owner in self.owners { if let progress = try? await owner.progress() { all.append(progress) } }
        return all
    }

    /// How far each owner is, in the partitions' order, without those that do not say.
    package func progressOfAll() async -> [OwnerProgress] {
        await self.each { (partition) async throws(Problem) in
            try await self.ask(partition, .progress) { owner, _ in try await owner.progress() }
        }.compactMap { partition, result in try? self.noted(result, of: partition) }
    }
}

// MARK: - Wherever it is

extension CommandLog {
    /// Asks the owner of a partition: here, or by the other nodes, and again where it has moved meanwhile.
    ///
    /// - Parameters:
    ///   - question: The question to other nodes.
    ///   - start: From when on the time counts for which its owner is looked for; nil for now.
    ///   - here: Asks the owner that is here; the limits are those of other nodes, if there are any.
    func ask<Answer: ByteCoded & Sendable>(
        _ partition: PartitionID,
        _ question: @autoclosure () -> OwnerQuestion,
        since start: ContinuousClock.Instant? = nil,
        here: (PartitionOwner, OtherNodes.Limits?) async throws -> Answer
    ) async throws(Problem) -> Answer {
        let owner = self.owners[Int(partition.rawValue)]
        var search: OtherNodes.Search?
        while true {
            if !owner.isAway {
                do {
                    return try await here(owner, self.nodes?.limits)
                } catch {
                    guard self.nodes != nil, OwnerError.isAbsence(error) else { throw Problem(of: error) }
                }
            }
            guard let nodes = self.nodes else { throw Problem(owner.absence) }
            var going = search ?? nodes.search(for: owner, question(), since: start ?? .now)
            let bytes = try await going.next()
            search = going
            guard let bytes else { continue }
            guard let answer = try? Answer(encoded: bytes) else { throw .unreadableAnswer }
            return answer
        }
    }

    /// The results of `body` for some partitions, all at once; in their order.
    package func each<Answer: Sendable>(
        of partitions: [PartitionID],
        _ body: @escaping @Sendable (PartitionID) async throws(Problem) -> Answer
    ) async -> [(partition: PartitionID, result: Result<Answer, Problem>)] {
        @Sendable func result(_ partition: PartitionID) async -> Result<Answer, Problem> {
            do throws(Problem) {
                return .success(try await body(partition))
            } catch {
                return .failure(error)
            }
        }
        guard partitions.count > 1 else {
            // No other is to be waited for at the same time.
            guard let only = partitions.first else { return [] }
            return [(only, await result(only))]
        }
        return await withTaskGroup(of: (Int, Result<Answer, Problem>).self) { group in
            for (index, partition) in partitions.enumerated() { group.addTask { (index, await result(partition)) } }
            var results: [Int: Result<Answer, Problem>] = [:]
            for await (index, result) in group { results[index] = result }
            return partitions.indices.compactMap { index in results[index].map { (partitions[index], $0) } }
        }
    }

    func each<Answer: Sendable>(
        _ body: @escaping @Sendable (PartitionID) async throws(Problem) -> Answer
    ) async -> [(partition: PartitionID, result: Result<Answer, Problem>)] {
        await self.each(of: self.partitionIDs, body)
    }
}
