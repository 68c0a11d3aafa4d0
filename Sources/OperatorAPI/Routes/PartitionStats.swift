import Engine
import WidgetModel

/// The totals of each partition that is this node's, for metrics: every line has the partition as a label.
///
/// Engines count from the first record of the log. Where a partition moves to another node, that node's line is a new one. So no rate
/// takes the partition's history for growth, and none sees the old node's counters fall.
struct PartitionStats {
    private let all: [(label: (String, String), stats: EngineStats)]

    init(of answers: [(partition: PartitionID, answer: EngineStats)]) {
        self.all = answers.map { (("partition", "\($0.partition.rawValue)"), $0.answer) }
    }

    /// A row for each partition and each of its numbers.
    func rows(
        _ numbers: (EngineStats) -> [(labels: [(String, String)], value: Int)]
    ) -> [(labels: [(String, String)], value: Double)] {
        self.all.flatMap { partition, stats in
            numbers(stats).map { (labels: [partition] + $0.labels, value: Double($0.value)) }
        }
    }

    /// For each partition its label and some lengths of time.
    func lengths(_ read: (EngineStats) -> Freshness) -> [(label: (String, String), lengths: Freshness)] {
        self.all.map { ($0.label, read($0.stats)) }
    }
}

extension PrometheusText {
    /// The bounds of lengths of time between a push, its reload and a screen, in seconds.
    private static let bounds: [Double] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

    /// A number of each partition.
    mutating func add(
        _ name: String,
        _ kind: Kind,
        _ help: String,
        _ stats: PartitionStats,
        _ number: (EngineStats) -> Int
    ) {
        self.add(name, kind, help, stats.rows { [(labels: [], value: number($0))] })
    }

    /// Numbers of each partition by one more label.
    mutating func add(
        _ name: String,
        _ kind: Kind,
        _ help: String,
        by label: String,
        _ stats: PartitionStats,
        _ numbers: (EngineStats) -> [(String, Int)]
    ) {
        self.add(name, kind, help, stats.rows { numbers($0).map { (labels: [(label, $0.0)], value: $0.1) } })
    }

    /// Lengths of time as a histogram of each partition, in seconds.
    mutating func histogram(
        _ name: String,
        _ help: String,
        _ stats: PartitionStats,
        _ lengths: (EngineStats) -> Freshness
    ) {
        self.histograms(
            name,
            help,
            stats.lengths(lengths).map { label, lengths in
                Histogram(
                    labels: [label],
                    buckets: Self.bounds.map { ($0, lengths.count(upTo: .milliseconds(Int64($0 * 1000)))) },
                    count: lengths.count,
                    sum: Double(lengths.sum.milliseconds) / 1000
                )
            }
        )
    }

    /// Adds every number that is declared with a metric.
    mutating func add(_ stats: PartitionStats) {
        let declared = EngineStat.all.compactMap { stat in stat.metric.map { (metric: $0, stat: stat) } }
        for (index, row) in declared.enumerated() where index == 0 || declared[index - 1].metric.name != row.metric.name
        {
            let members = declared[index...].prefix { $0.metric.name == row.metric.name }
            self.add(
                row.metric.name,
                row.metric.isCounter ? .counter : .gauge,
                row.metric.help,
                stats.rows { totals in
                    members.map { metric, stat in
                        (labels: metric.label.map { [($0.name, $0.value)] } ?? [], value: totals[keyPath: stat.member])
                    }
                }
            )
        }
    }
}
