package import Clustering
import Engine
import Journaling
import Ownership
import WidgetModel

/// Answers what other nodes ask the owners that are here.
package struct OwnerAnswers: Sendable {
    private let owners: [PartitionOwner]

    /// - Parameter owners: The owner of every partition, in the partitions' order.
    package init(of owners: [PartitionOwner]) { self.owners = owners }

    package func answer(_ question: NodeQuestion) async -> NodeAnswer {
        let number = Int(question.partition.rawValue)
        guard self.owners.indices.contains(number), !self.owners[number].isAway else { return .away }
        do {
            let asked = try OwnerQuestion(encoded: question.bytes)
            return .answer(OwnerAnswer.found(try await self.ask(self.owners[number], asked, question.time)).encoded)
        } catch {
            if OwnerError.isAbsence(error) { return .away }
            return .answer(OwnerAnswer.problem(Self.problem(error)).encoded)
        }
    }

    private func ask(_ owner: PartitionOwner, _ question: OwnerQuestion, _ time: Interval) async throws -> [UInt8] {
        switch question {
        case .progress: return try await owner.progress().encoded
        case .answers(let places): return try await owner.answers(at: places, within: time).encoded
        case .engine(let bytes):
            switch try ReceivedQuestion(bytes) {
            case .search(let question): return try await owner.ask(question).encoded
            case .question(let question): return try await Self.ask(owner, question)
            }
        }
    }

    private static func ask(_ owner: PartitionOwner, _ question: some EngineQuestion) async throws -> [UInt8] {
        try await owner.ask(question).encoded
    }

    private static func problem(_ error: any Error) -> Problem {
        guard error is ByteFault else { return Problem(of: error) }
        return Problem(
            .unavailable,
            "the gateway that has this request's partition has an older program, which does not know the question; upgrade it"
        )
    }
}
