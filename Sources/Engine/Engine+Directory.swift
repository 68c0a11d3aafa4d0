import WidgetModel

extension Engine {
    /// How many changes ``directory(_:)`` gives at once.
    private static let directoryBatch = 4096

    /// What stands for what now, as the changes that led there would have said it: the removed tokens that are still
    /// answered, then the bound ones. For a process that begins with a snapshot. O(tokens).
    package func directory(_ body: ([DirectoryChange]) -> Void) {
        self.hostDirectory(body)
        self.controlDirectory(of: self.instances.usedSlots(), body)
    }

    /// How many tokens ``directory(_:)`` speaks of. O(1).
    package var tokenCount: Int { self.tokens.boundCount + self.tokens.removedCount }

    /// What ``directory(_:)`` says of removed tokens and of those of hosts; known before the instances are.
    package func hostDirectory(_ body: ([DirectoryChange]) -> Void) {
        var changes: [DirectoryChange] = []
        for removal in self.tokens.removalsInOrder where self.tokens.isLast(removal) {
            let app = self.apps.apps[Int(removal.app)].id
            Self.add(.removed(removal.token, app: app, removal.reason, at: removal.at), to: &changes, body)
        }
        for host in self.hosts.usedSlots() {
            let app = self.apps.apps[Int(self.hosts[host].app)].id
            let id = self.hosts[host].id
            self.tokens.forEach(from: self.hosts[host].firstToken) { token in
                Self.add(.bound(token, host: id, app: app, instance: nil), to: &changes, body)
            }
        }
        if !changes.isEmpty { body(changes) }
    }

    /// What ``directory(_:)`` says of controls' own tokens.
    ///
    /// - Parameter instances: Those among which the controls are.
    package func controlDirectory(of instances: [UInt32], _ body: ([DirectoryChange]) -> Void) {
        var changes: [DirectoryChange] = []
        for instance in instances {
            guard self.instances[instance].isLive, let token = self.instances[particulars: instance].controlToken else {
                continue
            }
            let host = self.instances[instance].host
            let app = self.apps.apps[Int(self.hosts[host].app)].id
            let id = self.instances[details: instance].id
            Self.add(.bound(token, host: self.hosts[host].id, app: app, instance: id), to: &changes, body)
        }
        if !changes.isEmpty { body(changes) }
    }

    /// Adds a change, and hands over so many at once.
    private static func add(
        _ change: consuming DirectoryChange,
        to changes: inout [DirectoryChange],
        _ body: ([DirectoryChange]) -> Void
    ) {
        if changes.isEmpty { changes.reserveCapacity(Self.directoryBatch) }
        changes.append(change)
        guard changes.count == Self.directoryBatch else { return }
        body(changes)
        changes.removeAll(keepingCapacity: true)
    }
}
