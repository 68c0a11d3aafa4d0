import Storage
package import WidgetModel

/// The hosts and controls behind tokens now, in the form of the changes that led there. For a process that begins with
/// a snapshot.
extension Engine {
    /// How many changes are given at once.
    private static let directoryBatch = 4096

    /// The number of tokens that belong to a host or control, or are answered as removed. O(1).
    package var tokenCount: Int { self.registry.boundTokenCount + self.registry.removedTokenCount }

    /// The apps, by number.
    package var appIDs: [BundleID] { self.catalogue.apps.map(\.id) }

    /// Gives each token of a host to `body`: its bytes, those of the host's id in UTF-8, and the number of the app. Nothing
    /// is made for it: such tokens are by far the most. Known before the instances are. O(hosts + tokens).
    package func forEachHostToken(_ body: (_ token: Span<UInt8>, _ host: Span<UInt8>, _ app: Int) -> Void) {
        // A number that is free has no token.
        for host in self.registry.hostNumbers {
            let row = self.registry[host]
            guard !row.firstToken.isNone else { continue }
            self.registry.withID(of: host) { name in
                self.registry.forEachToken(of: host) { body($0, name, row.app.index) }
            }
        }
    }

    /// Gives the removed tokens that are still answered to `body`. Known before the instances are. O(removals).
    package func removedTokens(_ body: ([DirectoryChange]) -> Void) {
        var changes: [DirectoryChange] = []
        for removal in self.registry.removedTokens {
            let app = self.catalogue[removal.app].id
            Self.add(.removed(removal.token, app: app, removal.reason, at: removal.at), to: &changes, body)
        }
        if !changes.isEmpty { body(changes) }
    }

    /// The host or control behind a token, in the form of the last change of it; nil for an unknown token.
    func standing(of token: DeviceToken) -> DirectoryChange? {
        if let binding = self.registry.binding(of: token) {
            let instance = binding.instance.isNone ? nil : self.registry.id(of: binding.instance)
            return .bound(token, host: self.hostKey(of: binding.host), instance: instance)
        }
        return self.registry.removal(of: token).map { removal in
            .removed(token, app: self.catalogue[removal.app].id, removal.reason, at: removal.at)
        }
    }

    /// The tokens of a host and of its controls. O(tokens + instances of the host).
    func tokens(of host: HostNumber) -> [DeviceToken] {
        self.registry.tokens(of: host).map(\.token)
            + self.registry.instances(of: host).compactMap { self.registry[coldFields: $0].controlToken }
    }

    /// Gives all controls' own tokens to `body`. O(instances).
    package func controlTokens(_ body: ([DirectoryChange]) -> Void) {
        self.controlTokens(of: self.registry.instanceNumbers, body)
    }

    /// Gives controls' own tokens to `body`. O(instances).
    ///
    /// - Parameter instances: Those among which the controls are.
    package func controlTokens(of instances: some Sequence<InstanceNumber>, _ body: ([DirectoryChange]) -> Void) {
        var changes: [DirectoryChange] = []
        for instance in instances {
            guard self.registry[instance].isLive, let token = self.registry[coldFields: instance].controlToken else {
                continue
            }
            let host = self.registry[instance].host
            let id = self.registry.id(of: instance)
            Self.add(.bound(token, host: self.hostKey(of: host), instance: id), to: &changes, body)
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
