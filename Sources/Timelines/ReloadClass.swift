/// How eagerly a reload may use the budget.
package enum ReloadClass: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    /// Priority 10, `appRequest`, `becameVisible` and `policy`: may use the burst.
    case urgent = 0
    /// Priority 5: when the pace allows it.
    case paced = 1
    /// Priority 1: never by itself, only along with another reload.
    case whenever = 2

    /// More urgent first.
    package static func < (left: ReloadClass, right: ReloadClass) -> Bool {
        left.rawValue < right.rawValue
    }
}
