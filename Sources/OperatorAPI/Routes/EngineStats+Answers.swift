import Engine
import Settings
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

extension PrometheusText {
    /// The bounds of lengths of time between a push, its reload and a screen, in seconds.
    private static let bounds: [Double] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

    /// Lengths of time as a histogram, in seconds.
    mutating func histogram(_ name: String, _ help: String, _ lengths: Freshness) {
        self.histogram(
            name,
            help,
            Self.bounds.map { ($0, lengths.count(upTo: .milliseconds(Int64($0 * 1000)))) },
            count: lengths.count,
            sum: Double(lengths.sum.milliseconds) / 1000
        )
    }

    /// Adds every number that is declared with a metric.
    mutating func add(_ stats: EngineStats) {
        let declared = EngineStat.all.compactMap { stat in stat.metric.map { (metric: $0, stat: stat) } }
        for (index, row) in declared.enumerated() where index == 0 || declared[index - 1].metric.name != row.metric.name
        {
            let rows = declared[index...].prefix { $0.metric.name == row.metric.name }.map { metric, stat in
                (
                    labels: metric.label.map { [($0.name, $0.value)] } ?? [],
                    value: Double(stats[keyPath: stat.member])
                )
            }
            self.add(row.metric.name, row.metric.isCounter ? .counter : .gauge, row.metric.help, rows)
        }
    }
}
