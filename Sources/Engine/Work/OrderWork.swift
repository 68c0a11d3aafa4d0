import WidgetModel

/// An order on its way through the instances that it is about; one for reloads is an ``AppReloadWork``.
struct OrderWork: Sendable {
    /// The live instances that an order is about.
    enum Audience: Sendable {
        case app(AppNumber)
        case kind(KindNumber)
        /// Those for which pushes wait.
        case waiting
        case these([InstanceNumber])
    }

    let order: OperatorOrder
    let audience: Audience
    /// The rows that are still to be scanned for instances that it is about.
    fileprivate var scan: TableScan<NumberTag.Instance>
    /// Those that were found, by number.
    fileprivate var touched: [InstanceNumber]
    /// For how many of them it was carried out.
    fileprivate var next = 0
    /// How many pushes it has cancelled.
    fileprivate var cancelled = 0

    init(_ order: OperatorOrder, _ audience: Audience, instancesBelow end: Int) {
        self.order = order
        self.audience = audience
        if case .these(let instances) = audience {
            (self.touched, self.scan) = (instances, TableScan<NumberTag.Instance>(below: 0))
        } else {
            (self.touched, self.scan) = ([], TableScan<NumberTag.Instance>(below: end))
        }
    }

    var isDone: Bool { self.scan.isDone && self.next == self.touched.count }

    var result: RecordAnswer.Result {
        if case .cancel = self.order.action { return .order(matched: self.cancelled) }
        return .order(matched: self.touched.count)
    }
}

extension Engine {
    /// Carries an order out for some of the instances that it is about, all of which are found first: carrying it out for one instance can
    /// change another.
    mutating func advance(_ work: inout OrderWork, _ units: inout Int) {
        while units > 0, !work.scan.isDone {
            for instance in work.scan.takeNext() where self.isIn(work.audience, instance) {
                work.touched.append(instance)
            }
            units -= 1
        }
        while units > 0, work.next < work.touched.count {
            let instance = work.touched[work.next]
            let before = self.output.effects.count
            switch work.order.action {
            case .pause, .resume: self.decideIfWaiting(instance)
            case .cancel: work.cancelled += self.cancel(work.order.scope, instance)
            case .grant(let count): self.grant(count, instance)
            case .reload: break
            }
            work.next += 1
            units -= 1 + self.output.effects.count - before
        }
    }
}
