import Journaling
import Partitions
import WidgetModel

/// The counters of snapshots since the start.
extension OperatorRoutes {
    /// For `GET /v1/stats`; nil where none are made.
    func snapshotCounters() -> JSONValue? {
        guard let counters = self.store.snapshots() else { return nil }
        let now = self.clock.now()
        return JSONValue.object(of: [
            ("written", .count(counters.written)),
            ("failed", .count(counters.failed)),
            ("trimmedFiles", .count(counters.trimmedFiles)),
            ("shortened", .count(counters.shortened)),
            (
                "newest",
                .array(
                    counters.newest.map { snapshot in
                        JSONValue.object(of: [
                            ("partition", .count(Int(snapshot.partition.rawValue))),
                            ("position", .unsigned(snapshot.position.rawValue)),
                            ("at", .instant(snapshot.logTime)),
                            ("ageSeconds", .int(max(.zero, now - snapshot.logTime).milliseconds / 1000)),
                        ])
                    }
                )
            ),
            (
                "overdue",
                .array(
                    counters.overdue.map { one in
                        JSONValue.object(of: [
                            ("partition", .count(Int(one.partition.rawValue))), ("since", .instant(one.since)),
                        ])
                    }
                )
            ),
        ])
    }

    func addSnapshots(_ text: inout PrometheusText) {
        guard let counters = self.store.snapshots() else { return }
        text.add(
            "freshet_snapshots_total",
            .counter,
            "Snapshots of partitions, made or failed.",
            by: "result",
            [("written", counters.written), ("failed", counters.failed)]
        )
        text.add(
            "freshet_log_files_trimmed_total",
            .counter,
            "Files of the log that were removed, since snapshots replace them.",
            counters.trimmedFiles
        )
        text.add(
            "freshet_log_shortened_total",
            .counter,
            "How often history was removed early, since the disk was nearly full.",
            counters.shortened
        )
        text.add(
            "freshet_snapshot_timestamp_seconds",
            .gauge,
            "The log time of each partition's newest snapshot since the start.",
            counters.newest.map { snapshot in
                (
                    labels: [("partition", "\(snapshot.partition.rawValue)")],
                    value: Double(snapshot.logTime.milliseconds) / 1000
                )
            }
        )
        text.add(
            "freshet_snapshots_overdue",
            .gauge,
            "Partitions with entries that no snapshot has held for \(Snapshotter.overdueIntervals) intervals.",
            counters.overdue.count
        )
    }
}
