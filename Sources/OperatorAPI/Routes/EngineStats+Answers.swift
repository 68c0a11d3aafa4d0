import Engine
import WidgetModel

/// An engine's totals as operators' answers and metrics have them.
extension EngineStats {
    /// Reloads issued, by cause; one with several causes counts for each.
    var byCause: [(String, Int)] {
        ReloadCause.allCases.map { ($0.name, self.reloadsByCause[Int($0.rawValue)]) }
    }

    /// Reloads not charged, by exemption.
    var byExemption: [(String, Int)] {
        Exemption.allCases.map { ($0.name, self.reloadsExempt[Int($0.rawValue)]) }
    }

    /// The numbers of a group by name.
    func members(of group: EngineStat.Group) -> [(String, JSONValue?)] {
        EngineStat.all.filter { $0.group == group }.map { ($0.name, .count(self[keyPath: $0.member])) }
    }
}
