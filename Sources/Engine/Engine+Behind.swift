import Storage
package import WidgetModel

/// Which widgets are behind, as they do not show yet the content that they should. See docs/engine.md, "Behind".
extension Engine {
    /// Why an instance is behind; nil if it is not.
    ///
    /// An outstanding reload gives the reason. Causes that wait behind it do not count: they go out when their own time
    /// has come.
    @inline(__always)
    func behindReason(of instance: InstanceNumber) -> BehindReason? {
        let row = self.schedule[active: instance]
        if !row.outstanding.isEmpty {
            return BehindReason(outBy: self.registry[self.registry[instance].host].delivery)
        }
        return row.isWaiting ? row.reason.behind : nil
    }

    /// Ends a transition of an instance, see ``Schedule/settle(_:as:of:at:shownUpTo:)``.
    ///
    /// - Parameter shown: Up to when all that it was to show is shown now; `.distantPast` if that is as it was.
    @inline(__always)
    mutating func settle(_ instance: InstanceNumber, shownUpTo shown: Instant = .distantPast) {
        guard self.schedule[instance].isActive else { return }
        let reason = self.behindReason(of: instance)
        let kind = self.registry[instance].kind
        self.schedule.settle(instance, as: reason, of: kind, at: self.time, shownUpTo: shown)
    }

    /// The number of widgets that are behind, by kind in the order of their numbers, also for kinds that the
    /// configuration no longer has. O(kinds x minutes of 25 hours).
    ///
    /// - Parameters:
    ///   - goal: How long a widget may be behind.
    ///   - now: The wall clock's time, if it is later than the log's: the log may have no entry while all widgets wait.
    package func behind(longerThan goal: Interval, now: Instant? = nil) -> [KindBehind] {
        let second = UInt32(clamping: max(self.time, now ?? self.time).seconds)
        return self.catalogue.kinds.indices.map { number in
            let kind = self.catalogue.kinds[number]
            let counted = self.schedule.countsBehind(
                KindNumber(number),
                now: second,
                goal: Int(goal.milliseconds / 1000)
            )
            return KindBehind(
                app: self.catalogue[kind.app].id,
                kind: kind.name,
                instances: counted.live,
                counts: counted.counts,
                late: counted.late,
                oldest: counted.oldest.map { Instant(seconds: Int64($0)) }
            )
        }
    }

    // MARK: Counting anew

    /// Counts the instances whose rows were read back. O(active instances).
    mutating func countBehind() {
        var active: [InstanceNumber] = []
        _ = self.schedule.forEachActive(from: Number(0), atMost: .max) { instance in
            active.append(instance)
            return true
        }
        for instance in active {
            let reason = self.behindReason(of: instance)
            self.schedule.countRestored(instance, as: reason, of: self.registry[instance].kind, at: self.time)
        }
    }

    /// The faults of the counts, see ``Schedule/checkBehind(_:now:)``.
    func checkBehind() -> [String] {
        let all = self.registry.usedInstances().map { instance in
            Schedule.Counted(
                instance: instance,
                kind: self.registry[instance].kind,
                isLive: self.registry[instance].isLive,
                reason: self.behindReason(of: instance)
            )
        }
        return self.schedule.checkBehind(all, now: self.time)
    }
}
