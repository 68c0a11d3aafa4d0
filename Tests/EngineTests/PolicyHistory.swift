import IntentMatching
import Timelines
import WidgetModel

@testable import Engine

/// Which policy a kind had when, in a schedule that changes them.
struct PolicyHistory {
    /// A policy of a kind, from a position of the log on.
    struct Change {
        let policy: BudgetPolicy
        let position: LogPosition
        let at: Instant
        /// The tuned windows of the hosts at that instant.
        let tuned: [HostKey: BudgetWindow]
        /// The instances that had a budget then, also removed ones, and in which window each was first added: one that was
        /// forgotten since begins anew.
        let known: [InstanceAddress: Instant]
    }

    private(set) var changes: [WidgetKind: [Change]] = [:]

    /// Notes the policies in force after a scene's last record.
    mutating func note(_ scene: Scene) {
        let engine = scene.engine.duplicate()
        var tuned: [HostKey: BudgetWindow] = [:]
        var known: [InstanceAddress: Instant] = [:]
        for instance in engine.registry.usedInstances() {
            let number = engine.registry[instance].host
            let host = engine.hostKey(of: number)
            tuned[host] = engine.registry[number].windows.window
            let address = InstanceAddress(host: host, instance: engine.registry.id(of: instance))
            known[address] = engine.schedule[cold: instance].firstWindow
        }
        for kind in engine.settings?.apps.first?.kinds ?? []
        where self.changes[kind.schema.kind]?.last?.policy != kind.budget {
            self.changes[kind.schema.kind, default: []].append(
                Change(policy: kind.budget, position: scene.position, at: scene.now, tuned: tuned, known: known)
            )
        }
    }

    /// The policy of a kind after the record at a position, and those that were replaced in a window that lasts until
    /// after the instant: the policies that must hold all at once.
    func inForce(_ kind: WidgetKind, on host: HostKey, at instant: Instant, _ position: LogPosition) -> [BudgetPolicy] {
        let changes = (self.changes[kind] ?? []).prefix { $0.position <= position }
        guard let present = changes.last else { return [] }
        let binding = zip(changes, changes.dropFirst()).filter { old, new in
            if old.policy.window == .tuned {
                // A host that was forgotten since has other windows.
                let isForgotten = changes.contains { $0.position > new.position && $0.tuned[host] == nil }
                return !isForgotten && new.tuned[host]?.contains(instant) ?? false
            }
            let anchor = old.policy.anchor(of: host)
            return old.policy.window(containing: new.at, anchoredAt: anchor).contains(instant)
        }
        return [present.policy] + binding.map(\.0.policy)
    }

    /// The policies that a kind had at any time after one position, up to another.
    func between(_ kind: WidgetKind, _ from: LogPosition, _ to: LogPosition) -> [BudgetPolicy] {
        (self.changes[kind] ?? []).filter { $0.position > from && $0.position <= to }.map(\.policy)
    }

    /// From which position on a kind has last had the strict rule without a break.
    func rolling(_ kind: WidgetKind, at position: LogPosition) -> LogPosition {
        let changes = (self.changes[kind] ?? []).filter { $0.position <= position }
        let last = changes.lastIndex { $0.policy.isRolling } ?? 0
        let broken = changes[..<last].lastIndex { !$0.policy.isRolling } ?? -1
        return changes[broken + 1].position
    }
}
