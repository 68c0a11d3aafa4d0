import Synchronization

/// Which of the senders' limits refused pushes, and how often.
package final class RateCounters: Sendable {
    /// The scope of a limit.
    package enum Scope: Int, Hashable, Sendable, CaseIterable {
        case app = 0
        case key = 1
        case token = 2
    }

    private let apps = Atomic<Int>(0)
    private let keys = Atomic<Int>(0)
    private let tokens = Atomic<Int>(0)
    private let fullBacklogs = Atomic<Int>(0)

    package init() {}

    package func add(_ scope: Scope) {
        switch scope {
        case .app: self.apps.wrappingAdd(1, ordering: .relaxed)
        case .key: self.keys.wrappingAdd(1, ordering: .relaxed)
        case .token: self.tokens.wrappingAdd(1, ordering: .relaxed)
        }
    }

    package func addFullBacklog() { self.fullBacklogs.wrappingAdd(1, ordering: .relaxed) }

    /// Requests answered 503, since too many others waited.
    package var backlogFull: Int { self.fullBacklogs.load(ordering: .relaxed) }

    package subscript(scope: Scope) -> Int {
        switch scope {
        case .app: self.apps.load(ordering: .relaxed)
        case .key: self.keys.load(ordering: .relaxed)
        case .token: self.tokens.load(ordering: .relaxed)
        }
    }
}
