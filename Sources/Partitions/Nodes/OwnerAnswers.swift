package import Clustering
import Engine
import Journaling
import Ownership
import WidgetModel

/// Answers other nodes' questions to the owners that are here.
package struct OwnerAnswers: Sendable {
    private let owners: [PartitionOwner]
    private let providers: Shared<(any NodeProviders)?>

    /// - Parameters:
    ///   - owners: The owner of every partition, in the partitions' order.
    ///   - providers: The node's timeline providers; nil as long as none are asked.
    package init(of owners: [PartitionOwner], providers: Shared<(any NodeProviders)?> = Shared(nil)) {
        (self.owners, self.providers) = (owners, providers)
    }

    package func answer(_ question: NodeQuestion) async -> NodeAnswer {
        guard let owner = self.owner(of: question.partition) else { return .away }
        do {
            let asked = try OwnerQuestion(encoded: question.bytes)
            return .answer(OwnerAnswer.found(try await self.ask(owner, asked, question.time)).encoded)
        } catch {
            if OwnerError.isAbsence(error) { return .away }
            return .answer(OwnerAnswer.problem(Self.problem(error)).encoded)
        }
    }

    /// The owner of a partition; nil if the partition is not this node's.
    private func owner(of partition: PartitionID) -> PartitionOwner? {
        let number = Int(partition.rawValue)
        return self.owners.indices.contains(number) && !self.owners[number].isAway ? self.owners[number] : nil
    }

    private func ask(_ owner: PartitionOwner, _ question: OwnerQuestion, _ time: Interval) async throws -> [UInt8] {
        switch question {
        case .progress: return try await owner.progress().encoded
        case .answers(let places): return try await owner.answers(at: places, within: time).encoded
        case .callBack(let callBack): return try await self.providers(at: owner).takeCallBack(callBack).encoded
        case .contents(let question): return try await self.providers(at: owner).contents(question)
        case .engine(let bytes):
            switch try ReceivedQuestion(bytes) {
            case .search(let question): return try await owner.ask(question).encoded
            case .question(let question): return try await Self.ask(owner, question)
            }
        case .engines(let partitions, let bytes):
            guard case .question(let question) = try ReceivedQuestion(bytes) else { throw ByteError.invalid(offset: 0) }
            return try await self.ask(partitions, question).encoded
        }
    }

    private func providers(at owner: PartitionOwner) throws(OwnerError) -> any NodeProviders {
        guard let providers = self.providers.value else { throw .away(partition: owner.partition, owner: nil) }
        return providers
    }

    /// Asks the owners of some partitions at once.
    private func ask(_ partitions: [PartitionID], _ question: any EngineQuestion) async throws -> OwnersAnswers {
        try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for (index, partition) in partitions.enumerated() {
                guard let owner = self.owner(of: partition) else {
                    throw OwnerError.away(partition: partition, owner: nil)
                }
                group.addTask { (index, try await Self.ask(owner, question)) }
            }
            var answers = [[UInt8]](repeating: [], count: partitions.count)
            for try await (index, answer) in group { answers[index] = answer }
            return OwnersAnswers(answers)
        }
    }

    private static func ask(_ owner: PartitionOwner, _ question: some EngineQuestion) async throws -> [UInt8] {
        try await owner.ask(question).encoded
    }

    private static func problem(_ error: any Error) -> Problem {
        guard error is ByteError else { return Problem(of: error) }
        return Problem(
            .unavailable,
            "the gateway that has this request's partition has an older program, which does not know the question; upgrade it"
        )
    }
}
