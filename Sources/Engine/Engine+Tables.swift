extension Engine {
    /// The memory of each table. O(tables), however many rows they have: tables know the blocks that they hold.
    package var tables: TableBytes {
        var bytes = TableBytes()
        self.registry.measure(&bytes)
        self.schedule.measure(&bytes)
        self.reloads.measure(&bytes)
        self.ledger.measure(&bytes)
        return bytes
    }
}
