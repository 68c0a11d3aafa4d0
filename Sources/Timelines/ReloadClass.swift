/// How eagerly a reload may use the budget. Priority 1 uses none: it only goes along with another reload.
package enum ReloadClass: Hashable, Sendable {
    /// Priority 10, `appRequest`, `becameVisible` and `policy`: may use the burst.
    case urgent
    /// Priority 5: when the pace allows it.
    case paced
}
