import WidgetModel

extension Engine {
    /// A hash of the whole state, as in a snapshot, but for the rules that led to it. Two engines that applied the same records have
    /// the same hash, in any process. O(state). Precondition: the last record was applied whole.
    package func stateDigest() -> UInt64 {
        var encoder = EngineSnapshotEncoder(namesRules: false)
        var hash = StableHash()
        while let frame = encoder.next(self) { hash.combine(frame.span) }
        return hash.value
    }
}
