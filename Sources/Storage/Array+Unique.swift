extension [UInt32] {
    /// Sorts the numbers, and keeps each once.
    package mutating func sortAndUnique() {
        self.sort()
        var kept = 0
        for index in self.indices where kept == 0 || self[index] != self[kept - 1] {
            self[kept] = self[index]
            kept += 1
        }
        self.removeSubrange(kept...)
    }
}
