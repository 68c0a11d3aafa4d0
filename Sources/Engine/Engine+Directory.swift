import WidgetModel

extension Engine {
    /// How many changes ``directory(_:)`` gives at once.
    private static let directoryBatch = 4096

    /// What stands for what now, as the changes that led there would have said it: the removed tokens that are still
    /// answered, then the bound ones. For a process that begins with a snapshot. O(tokens).
    package func directory(_ body: ([DirectoryChange]) -> Void) {
        var changes: [DirectoryChange] = []
        changes.reserveCapacity(Self.directoryBatch)
        func add(_ change: DirectoryChange) {
            changes.append(change)
            guard changes.count == Self.directoryBatch else { return }
            body(changes)
            changes.removeAll(keepingCapacity: true)
        }
        for removal in self.tokens.removalsInOrder where self.tokens.isLast(removal) {
            let app = self.apps.apps[Int(removal.app)].id
            add(.removed(removal.token, app: app, removal.reason, at: removal.at))
        }
        for host in self.hosts.usedSlots() {
            let row = self.hosts[host]
            let app = self.apps.apps[Int(row.app)].id
            for token in row.tokens { add(.bound(token.token, host: row.id, app: app, instance: nil)) }
            for instance in self.instances(of: host) {
                let details = self.instances[details: instance]
                guard let token = details.controlToken else { continue }
                add(.bound(token, host: row.id, app: app, instance: details.id))
            }
        }
        if !changes.isEmpty { body(changes) }
    }
}
