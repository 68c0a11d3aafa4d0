package import Engine
package import Partitions
import Serving
package import WidgetModel

/// The body of `POST /v1/orders`: an action and its scope.
package enum OrderBody {
    /// The order that a body states.
    package static func order(_ value: JSONValue) throws(Problem) -> OperatorOrder {
        var object = try RequestObject(value)
        let name = try object.requiredString("action")
        let action: OperatorOrder.Action
        switch name {
        case "pause": action = .pause(until: try object.instant("until"))
        case "resume": action = .resume
        case "cancel": action = .cancel
        case "reload": action = .reload
        case "grant":
            guard let count = try object.int("count", in: 1...Int64(OperatorOrder.grantMax)) else {
                throw object.problem("count", "is required: how many more reloads, 1 to \(OperatorOrder.grantMax)")
            }
            action = .grant(Int(count))
        default:
            throw object.problem("action", "expected \"pause\", \"resume\", \"cancel\", \"grant\" or \"reload\"")
        }
        let isMissing = object.problem("of", "\(name) needs \(Self.places(of: action))")
        guard var place = try object.object("of"), let scope = try Self.scope(&place) else { throw isMissing }
        try place.finish()
        try object.finish()
        let order = OperatorOrder(action, scope)
        guard order.isPossible else { throw isMissing }
        return order
    }

    /// The scopes of an action, as its member `of` names them.
    private static func places(of action: OperatorOrder.Action) -> String {
        switch action {
        case .pause, .resume: "an app, an app with a kind, or a sender"
        case .grant, .reload: "an app, an app with a kind or a host, or an instance"
        case .cancel: "an app, an app with a kind or a host, an instance, a sender or a push"
        }
    }

    /// - Returns: Nil if it names nothing.
    private static func scope(_ object: inout RequestObject) throws(Problem) -> OrderScope? {
        let app = try object.string("app").map { BundleID($0) }
        if let text = try object.string("instance") {
            guard let address = InstanceAddress(text, of: app) else {
                let sentence =
                    "give the instance as <app>/<host>:<instance>, or with an app as <host>:<instance>"
                throw object.problem("instance", sentence)
            }
            return .instance(address)
        }
        if let app {
            if let kind = try object.string("kind") { return .kind(app, WidgetKind(kind)) }
            if let host = try object.string("host") { return .host(HostKey(app: app, id: HostID(host))) }
            return .app(app)
        }
        if let text = try object.string("push") {
            guard let push = PushID(text) else { throw object.problem("push", "an apns-id is a UUID") }
            return .push(push, try object.string("sender").map { TeamID($0) })
        }
        if let team = try object.string("sender") { return .sender(TeamID(team)) }
        return nil
    }
}
