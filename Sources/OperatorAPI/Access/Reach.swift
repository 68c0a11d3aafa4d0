import Engine
import Partitions
package import Serving
package import WidgetModel

/// How much of the gateway a caller may know: everything, or the data of a team's own apps.
///
/// This is the one place that narrows a question. Routes that let a team's key in (``TeamAccess``) are answered by
/// ``OperatorRoutes`` of this reach, which take their apps, lists, pushes and pauses from here.
package struct Reach: Sendable {
    /// An operator's.
    package static let everything = Reach(key: nil)

    /// The key whose team it is; nil for everything.
    package let key: Sender?

    package init(of key: Sender) { self.init(key: key) }

    private init(key: Sender?) { self.key = key }

    package var isEverything: Bool { self.key == nil }

    package func includes(_ app: BundleID) -> Bool { self.key?.may(.reads, app) ?? true }
    package func includes(_ team: TeamID) -> Bool { self.key.map { $0.team == team } ?? true }
    func includes(_ push: PushView) -> Bool { self.key?.mayRead(push) ?? true }

    /// A decision's app is not known once the instance is forgotten.
    func includes(_ decision: PushDecision) -> Bool {
        self.isEverything || decision.instance.map { self.includes($0.app) } ?? false
    }

    func includes(_ scope: OrderScope) -> Bool {
        switch scope {
        case .app(let app), .kind(let app, _): self.includes(app)
        case .sender(let team): self.includes(team)
        case .host(let host): self.includes(host.app)
        case .instance(let address): self.includes(address.app)
        case .push(_, let team, let app):
            self.isEverything || team.map { self.includes($0) } ?? false && app.map { self.includes($0) } ?? false
        }
    }

    func apps(of all: ServedApps) -> ServedApps { self.isEverything ? all : all.filter { self.includes($0.bundle) } }

    /// The lists to give, one behind the other, where a list is of one app or of all: nil is all.
    ///
    /// - Parameter named: The app that is asked for; nil if none is.
    func lists(of named: BundleID?, among all: ServedApps) -> [BundleID?] {
        self.isEverything || named != nil ? [named] : self.apps(of: all).apps.map(\.bundle)
    }
}
