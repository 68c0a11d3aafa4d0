import HTTPTransport
import IntentMatching
import Partitions
import Serving
import WidgetModel

/// The asker of a host's route: the host itself, or its back end.
struct HostAsker: Sendable {
    /// The push token of the path.
    let token: DeviceToken
    let caller: Caller
}

/// An app's own back end.
struct AppAsker: Sendable {
    let app: ServedApps.App
    let caller: Caller
}

/// A caller of an app, with a kind of that app.
struct KindAsker: Sendable {
    let app: ServedApps.App
    let schema: KindSchema

    var key: KindKey { KindKey(app: self.app.bundle, kind: self.schema.kind) }
}

/// The handler of a route of the host listener, by the right that the route needs: the handler is given the proof of that right.
enum HostEndpoint: Sendable {
    typealias Handler<Asker: Sendable> =
        @Sendable (HostRoutes) -> (Call<Asker>) async throws(Problem) -> HTTPResponse

    /// A host, or its app's back end.
    case host(Handler<HostAsker>)
    /// The back end of an app.
    case app(Handler<AppAsker>)
    /// A host of an app, or its back end, about one of the app's kinds.
    case kind(Handler<KindAsker>)
    /// The back end of an app, about one of the app's kinds.
    case provider(Handler<KindAsker>)
    /// A sender, about its pushes.
    case sender(Handler<Caller>)

    /// The right in a word.
    var right: String {
        switch self {
        case .host, .kind: "host or back end"
        case .app, .provider: "back end"
        case .sender: "sender"
        }
    }
}
