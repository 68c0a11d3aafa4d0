package import Settings
import WidgetModel

/// What memory there is, and what the process takes of it, in bytes.
package struct MemorySizes: Hashable, Sendable {
    /// What the process has in memory.
    package var resident: Int
    /// What the machine has, or the process's control group where that is less; nil if the kernel does not tell.
    package var available: Int?

    package init(resident: Int, available: Int?) {
        self.resident = resident
        self.available = available
    }
}

/// Whether the registry may grow: a decision, from sizes.
package struct MemoryBudget: Hashable, Sendable {
    /// How full the memory is.
    package enum Level: String, Hashable, Sendable, Comparable, CaseIterable {
        case ample
        /// Four fifths of what may be taken are used.
        case filling
        /// All of it: nothing is added to the registry.
        case full

        package static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// What is used, what the registry has free again excepted.
    package let used: Int
    /// What may be used; nil for a share of an unknown size.
    package let limit: Int?

    /// - Parameters:
    ///   - bound: What an operator says.
    ///   - sizes: What there is.
    ///   - registryGrowth: By how much the registry is larger, in bytes, than it was at its largest when the sizes were
    ///     measured; below zero if it is smaller. Its tables keep their memory when hosts go, and use it again.
    package init(_ bound: MemoryBound, _ sizes: MemorySizes, registryGrowth: Int) {
        self.used = max(0, max(0, sizes.resident).addingSaturating(registryGrowth))
        self.limit =
            switch bound {
            case .bytes(let bytes): bytes
            case .percent(let percent): sizes.available.map { max(0, $0) / 100 * percent }
            }
    }

    /// Whether hosts and instances may be added.
    package var hasRoom: Bool { self.limit.map { self.used < $0 } ?? true }

    package var level: Level {
        guard let limit = self.limit else { return .ample }
        if self.used >= limit { return .full }
        return self.used >= limit - limit / 5 ? .filling : .ample
    }

    /// How much of what may be used is, in percent: below 100 as long as there is room. 0 if there is no bound.
    package var usedPercent: Int {
        guard let limit = self.limit else { return 0 }
        let hundredth = limit / 100
        guard hundredth > 0 else { return self.hasRoom ? 0 : 100 }
        let percent = self.used / hundredth
        return self.hasRoom ? min(99, percent) : max(100, percent)
    }
}
