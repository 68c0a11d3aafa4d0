import Engine
import NIOCore
import Ownership
@testable import Partitions

extension PartitionOwner {
    /// A fact about the engine between two entries, for which there is no question.
    func inspect<Answer: Sendable>(_ body: @escaping @Sendable (borrowing Engine) -> Answer) async throws -> Answer {
        while true {
            let found = try await self.loop.submit {
                self.state.value.machine.isBetweenEntries ? body(self.state.value.engine) : nil
            }.get()
            if let found { return found }
        }
    }
}
