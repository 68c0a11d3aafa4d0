package import WidgetModel

/// Spreads the requests of many hosts for one date, so that `after(18:00)` from all of them does not arrive at
/// 18:00:00.
package enum Smoothing {
    /// How long after the date this host's reloads of that date run: in `0..<slot`, never before the date.
    ///
    /// All instances of a host share the offset, so that the host wakes once; another date gives another offset, so
    /// that no host is always the last. Zero for an empty slot.
    ///
    /// - Parameter slot: A policy's ``BudgetPolicy/smoothing``.
    package static func offset(host: HostKey, date: Instant, slot: Interval) -> Interval {
        guard slot > .zero else { return .zero }
        var hash = StableHash()
        // The word keeps the offset independent of the partition, which is a hash of the same host.
        hash.combine("smoothing")
        hash.combine(host)
        hash.combine(UInt64(bitPattern: date.milliseconds))
        let offset = StableHash.reduce(hash.value, below: UInt64(slot.milliseconds))
        return Interval(milliseconds: Int64(offset))
    }
}
