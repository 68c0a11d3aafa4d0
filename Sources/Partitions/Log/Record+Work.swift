import Engine
import IntentMatching
import Ownership
import WidgetModel

extension Record {
    /// The team that the record is charged to; nil for reports, which end work, and for the gateway's own records.
    func chargedTeam(among apps: ServedApps) -> TeamWork? {
        if case .order(let order) = self, case .sender(let team) = order.scope {
            return apps.apps.first { $0.work?.team == team }?.work
        }
        return self.chargedApp.flatMap { apps[$0]?.work }
    }

    /// The app whose team that is, where it is the team of one app.
    var chargedApp: BundleID? {
        switch self {
        case .register(let registration): registration.app
        case .signal(let signal): signal.host.app
        case .appReload(let request): request.app
        case .invalidate(let request): request.app
        case .channel(.create(_, let app, _)), .channel(.delete(_, let app)): app
        case .order(let order): order.scope.app
        case .push, .trace, .settings, .unregister, .timeline, .delivery, .audit, .configure, .tick: nil
        }
    }

    /// The most units that applying it takes in a partition.
    func work(in partition: PartitionWork, among apps: ServedApps) -> Int {
        switch self {
        case .register(let registration):
            WorkUnits.record + WorkUnits.instance * registration.instances.count
        case .appReload(let request):
            request.host == nil
                ? Self.audienceWork(in: partition, app: request.app, request.kind, request.pattern) : WorkUnits.record
        case .invalidate(let request):
            request.host == nil
                ? Self.audienceWork(in: partition, app: request.app, request.kind, nil) : WorkUnits.record
        case .order(let order):
            switch order.scope {
            case .app(let app): Self.audienceWork(in: partition, app: app, nil, nil)
            case .kind(let app, let kind): Self.audienceWork(in: partition, app: app, kind, nil)
            case .sender(let team):
                apps.apps.filter { $0.work?.team == team }.reduce(WorkUnits.record) {
                    $0 + partition.audience(of: $1.bundle, nil)
                }
            case .host, .instance, .push: WorkUnits.record
            }
        default: WorkUnits.record
        }
    }

    private static func audienceWork(
        in partition: PartitionWork,
        app: BundleID,
        _ kind: WidgetKind?,
        _ pattern: MatchPattern?
    ) -> Int {
        let audience = partition.audience(of: app, kind)
        return WorkUnits.record + audience + WorkUnits.finding(pattern, among: audience)
    }
}

extension OrderScope {
    /// The app that it is about; nil for a whole team, and for a push whose app is not known.
    fileprivate var app: BundleID? {
        switch self {
        case .app(let app), .kind(let app, _): app
        case .host(let host): host.app
        case .instance(let address): address.host.app
        case .push(_, _, let app): app
        case .sender: nil
        }
    }
}
