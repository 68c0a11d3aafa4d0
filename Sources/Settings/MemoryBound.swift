/// How much memory the process may take.
package enum MemoryBound: Hashable, Sendable {
    case bytes(Int)
    /// Hundredths of what the machine has, or the process's control group where that is less.
    case percent(Int)
}
