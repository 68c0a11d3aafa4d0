package import Settings
import WidgetModel

/// The size of the memory, and the part that the process takes, in bytes.
package struct MemorySizes: Hashable, Sendable {
    /// The memory that the process has.
    package var resident: Int
    /// The memory of the machine, or of the process's control group where that is less; nil if the kernel does not
    /// tell.
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
        /// Four fifths of the allowed memory are used.
        case filling
        /// All of it is used: nothing is added to the registry.
        case full

        package static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The used bytes, without those that the registry has free again.
    package let used: Int
    /// The bytes that may be used; nil for a share of an unknown size.
    package let limit: Int?

    /// - Parameters:
    ///   - bound: The bound that the configuration sets.
    ///   - sizes: The measured sizes.
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

    /// The used part of the bytes that may be used, in percent: below 100 as long as there is room. 0 if there is no
    /// bound.
    package var usedPercent: Int {
        guard let limit = self.limit else { return 0 }
        let hundredth = limit / 100
        guard hundredth > 0 else { return self.hasRoom ? 0 : 100 }
        let percent = self.used / hundredth
        return self.hasRoom ? min(99, percent) : max(100, percent)
    }
}
