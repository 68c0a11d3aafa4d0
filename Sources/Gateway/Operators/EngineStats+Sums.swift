import Engine
import WidgetModel

/// What all partitions have counted together.
extension [EngineStats] {
    func sum(_ member: KeyPath<EngineStats, Int>) -> Int { self.reduce(0) { $0 + $1[keyPath: member] } }

    var outcomes: OutcomeCounts { self.reduce(into: OutcomeCounts()) { $0 += $1.outcomes } }

    var freshness: Freshness { self.reduce(into: Freshness()) { $0 += $1.freshness } }

    /// Reloads issued; one with several causes counts for each.
    func reloads(of cause: ReloadCause) -> Int { self.reduce(0) { $0 + $1.reloadsByCause[Int(cause.rawValue)] } }

    var reloadsByCause: [(String, Int)] { ReloadCause.allCases.map { ($0.name, self.reloads(of: $0)) } }

    /// Reloads not charged.
    var reloadsByExemption: [(String, Int)] {
        Exemption.allCases.map { exemption in
            (exemption.name, self.reduce(0) { $0 + $1.reloadsExempt[Int(exemption.rawValue)] })
        }
    }
}
