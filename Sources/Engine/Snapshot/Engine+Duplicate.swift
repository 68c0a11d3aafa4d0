extension Engine {
    /// Another engine in the same state, read back from this one's snapshot. For comparisons of two futures and for tests: O(state), some
    /// seconds for a million instances. Precondition: the last record was applied whole.
    package func duplicate() -> Engine {
        var encoder = EngineSnapshotEncoder()
        var decoder = EngineSnapshotDecoder(partition: self.partition, partitions: self.partitions, rules: self.rules)
        do throws(SnapshotError) {
            while let frame = encoder.next(self) { try decoder.takeFrame(frame) }
            return try decoder.finish()
        } catch {
            preconditionFailure("a state that was just written is read back: \(error)")
        }
    }
}
