import HTTPTransport
import IntentMatching
import Ownership
import Partitions
import Serving
import WidgetModel

/// `POST /v1/try-now`: waiting requests to an upstream, a webhook, a receiver of receipts or a timeline provider are tried at once.
extension OperatorRoutes {
    /// Which targets a request is about.
    private enum Wanted {
        /// All that failed last.
        case failing
        /// All of an app.
        case app(BundleID)
        /// The timeline provider of a kind.
        case kind(KindKey)

        func includes(_ app: BundleID, _ kind: WidgetKind?, _ view: TargetView) -> Bool {
            switch self {
            case .failing: view.health.isFailing
            case .app(let wanted): wanted == app
            case .kind(let wanted): wanted.app == app && wanted.kind == kind
            }
        }
    }

    func tryNow(_ call: OperatorCall) throws(Problem) -> Change {
        var object = try call.object()
        let app = try object.string("app").map { BundleID($0) }
        let kind = try object.string("kind").map { WidgetKind($0) }
        if app == nil, kind != nil { throw object.problem("app", "is required with a kind") }
        try object.finish()
        let wanted: Wanted = app.map { app in kind.map { .kind(KindKey(app: app, kind: $0)) } ?? .app(app) } ?? .failing
        return Change { () async throws(Problem) in
            let tried = await self.tryNow(wanted)
            if tried.isEmpty {
                switch wanted {
                case .failing: break
                case .app(let app):
                    throw Problem(
                        .notFound,
                        "\(app) is not an app, or has no upstream, webhook, receipts or timeline provider"
                    )
                case .kind(let key):
                    throw Problem(
                        .notFound,
                        "\(key) is not a kind, or has no timeline provider; GET /v1/providers lists them"
                    )
                }
            }
            return HTTPResponse(json: JSONValue.object(of: [("tried", .array(tried))]))
        }
    }

    /// Tries them; the answer names each.
    private func tryNow(_ wanted: Wanted) async -> [JSONValue] {
        var tried: [JSONValue] = []
        if let deliverer = self.targets.outgoing {
            let targets = await deliverer.targets().filter { wanted.includes($0.key.app, nil, $0.value) }
            await deliverer.tryNow(Set(targets.keys))
            for app in self.apps.apps {
                for kind in DeliveryTarget.Kind.allCases {
                    guard let view = targets[.init(kind: kind, app: app.bundle)] else { continue }
                    tried.append(Self.tried(kind.rawValue, app.bundle, nil, view))
                }
            }
        }
        if let deliverer = self.targets.outgoing {
            let views = await deliverer.receivers().filter { wanted.includes($0.key, nil, $0.value.target) }
            await deliverer.tryReceiversNow(Set(views.keys))
            for app in self.apps.apps {
                guard let view = views[app.bundle] else { continue }
                tried.append(Self.tried("receipts", app.bundle, nil, view.target))
            }
        }
        for app in self.apps.apps {
            for schema in app.schemas {
                let key = KindKey(app: app.bundle, kind: schema.kind)
                guard let view = await self.targets.providers?.view(of: key)?.target,
                    wanted.includes(app.bundle, schema.kind, view)
                else { continue }
                await self.targets.providers?.tryNow([key])
                tried.append(Self.tried("provider", app.bundle, schema.kind, view))
            }
        }
        return tried
    }

    private static func tried(_ target: String, _ app: BundleID, _ kind: WidgetKind?, _ view: TargetView) -> JSONValue {
        JSONValue.object(of: [
            ("target", .string(target)),
            ("app", .string(app.rawValue)),
            ("kind", kind.map { .string($0.rawValue) }),
            ("waiting", .count(view.waiting)),
        ])
    }
}
