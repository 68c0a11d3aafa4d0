import Partitions
import Serving
import WidgetModel

/// A route's access for a key that reads (`teams[].keys[].reads`).
enum TeamAccess: Sendable {
    /// Nothing: 403.
    case none
    /// The whole answer, which is the same for every caller and tells nothing of apps.
    case whole
    /// The data of the key's own apps; the named parameters are for operators alone.
    case own(except: [String])

    static let own = TeamAccess.own(except: [])
}

extension Reach {
    /// Refuses a question that this caller may not ask: on a route for operators, with a parameter for operators, or about an app beyond its
    /// reach. The latter is answered like one that does not exist.
    ///
    /// - Throws: `forbidden` or `not-found`.
    func check(_ call: OperatorCall, _ access: TeamAccess) throws(Problem) {
        guard let key = self.key else { return }
        switch access {
        case .none:
            throw Problem(
                .forbidden,
                "this route is for operators; a key that reads may only read data of its team, \(key.team)"
            )
        case .whole: return
        case .own(let except):
            if let name = except.first(where: { call.query($0) != nil }) {
                throw Problem(.forbidden, "this parameter is for operators", path: name)
            }
        }
        // A filter's names are checked for every caller, see ``OperatorRoutes/checkNames(_:)``.
        if let app = call.pathParameter("app"), !self.includes(BundleID(app)) {
            throw Problem(.notFound, "there is no app \"\(app)\"; GET /v1/apps lists the apps")
        }
    }
}
