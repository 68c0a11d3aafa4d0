import WidgetModel

/// An invalidation of relevance on its way through the hosts of an app.
struct InvalidationWork: Sendable {
    let app: AppNumber
    /// The kinds that it is about, by name.
    let kinds: [KindNumber]
    fileprivate var scan: TableScan<NumberTag.Host>
    /// How many were told.
    fileprivate var count = 0

    init(app: AppNumber, kinds: [KindNumber], hostsBelow end: Int) {
        self.app = app
        self.kinds = kinds
        self.scan = TableScan<NumberTag.Host>(below: end)
    }

    var isDone: Bool { self.scan.isDone }
}

extension Engine {
    /// Tells some of the hosts. A unit is a host, or some that the invalidation is not for.
    mutating func advance(_ work: inout InvalidationWork, _ units: inout Int) {
        while units > 0, !work.scan.isDone {
            units -= 1
            for host in work.scan.takeNext() {
                let told = self.invalidateRelevance(of: work.kinds, app: work.app, host: host)
                work.count += told
                units -= told
            }
        }
    }

    mutating func close(_ work: InvalidationWork) -> RecordAnswer.Result { self.countInvalidations(work.count) }
}
