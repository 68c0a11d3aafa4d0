/// How much memory the process may take.
package enum MemoryBound: Hashable, Sendable {
    case bytes(Int)
    /// Hundredths of the machine's memory, or the process's control group where that is less.
    case percent(Int)
}
