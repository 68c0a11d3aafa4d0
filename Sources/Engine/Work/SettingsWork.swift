import WidgetModel

/// Changed settings on their way through all instances, live and removed.
struct SettingsWork: Sendable {
    /// The kinds as they were, by number.
    fileprivate var before: [Catalogue.Kind]
    /// By number.
    private let instances: [InstanceNumber]
    private var next = 0
    /// Decided only when all were adopted: a decision can depend on the other instances of the host.
    fileprivate private(set) var isDeciding = false
    fileprivate var orphaned = 0

    init(before: [Catalogue.Kind], _ instances: [InstanceNumber]) {
        self.before = before
        self.instances = instances
    }

    var isDone: Bool { self.isDeciding && self.next == self.instances.count }
    var result: RecordAnswer.Result { .settings(orphaned: self.orphaned) }

    fileprivate mutating func popNext() -> InstanceNumber? {
        guard self.next < self.instances.count else { return nil }
        defer { self.next += 1 }
        return self.instances[self.next]
    }

    fileprivate mutating func beginDeciding() { (self.isDeciding, self.next) = (true, 0) }
}

extension Engine {
    /// Adopts changed settings for some instances, or decides them anew. A unit is an instance in either.
    mutating func advance(_ work: inout SettingsWork, _ units: inout Int) {
        while units > 0, !work.isDeciding {
            guard let instance = work.popNext() else {
                work.beginDeciding()
                break
            }
            self.adopt(instance, &work.before)
            if self.registry[instance].isOrphaned { work.orphaned += 1 }
            units -= 1
        }
        while units > 0, work.isDeciding, let instance = work.popNext() {
            let before = self.output.effects.count
            if self.registry[instance].isLive { self.decide(instance) }
            units -= 1 + self.output.effects.count - before
        }
    }
}
