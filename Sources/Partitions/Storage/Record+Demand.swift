import Engine
import Journaling

extension Record {
    /// The purpose of a record: new work, or the end of work that was taken before.
    var demand: StorageBudget.Demand {
        switch self {
        case .push, .register, .appReload, .invalidate, .trace: .traffic
        case .signal(let signal):
            // An acknowledgement with a date. A host can tell its own state later.
            if case .entryShown = signal.event { .report } else { .traffic }
        case .channel(let command):
            if case .delete = command { .report } else { .traffic }
        case .delivery, .timeline, .unregister: .report
        case .order(let order):
            // A sender takes a push back; orders of operators are not asked about at all.
            if case .cancel = order.action { .report } else { .upkeep }
        case .settings, .configure, .tick, .audit: .upkeep
        }
    }
}
