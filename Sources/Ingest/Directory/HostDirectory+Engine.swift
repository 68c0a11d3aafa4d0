package import Engine
import Serving
package import WidgetModel

/// The engines' news about tokens.
extension HostDirectory {
    /// Takes over the changes. O(changes).
    package func apply(_ changes: [DirectoryChange], _ partition: PartitionID) {
        for change in changes {
            switch change {
            case .bound(let token, let host, let instance):
                self.bind(token, to: TokenBinding(host: host, instance: instance, partition: partition))
            case .removed(let token, let app, let reason, let at):
                self.markRemoved(token, app: app, reason, at: at, in: partition)
            case .forgotten(let token):
                self.forget(token, in: partition)
            }
        }
    }

    /// Takes over the tokens of all hosts. O(hosts + tokens).
    package func takeTokens(_ engine: borrowing Engine, _ partition: PartitionID) {
        var filling = HostDirectoryFilling(self, of: engine.appIDs, in: partition)
        engine.forEachHostToken { filling.bind($0, to: $1, of: $2) }
        filling.finish()
    }
}
