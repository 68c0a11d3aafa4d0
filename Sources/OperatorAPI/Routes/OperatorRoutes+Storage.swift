import Journaling
import Partitions
import WidgetModel

/// The part of the disk that the data directory takes, and its room.
extension OperatorRoutes {
    /// For `GET /v1/stats`; nil where nothing is written.
    func storageSizes() -> JSONValue? {
        guard let storage = self.store.storage else { return nil }
        let (sizes, budget, refused) = (storage.sizes, storage.budget, storage.refused)
        return JSONValue.object(of: [
            ("level", .string(budget.level.rawValue)),
            ("usedPercent", .count(budget.usedPercent)),
            ("usedBytes", .count(budget.used)),
            ("roomBytes", .count(budget.room(for: .traffic))),
            ("reserveBytes", .count(budget.reserve)),
            ("limitBytes", .count(budget.limit)),
            ("logBytes", .count(sizes.log)),
            ("writeAheadLogBytes", .count(sizes.writeAheadLog)),
            ("snapshotBytes", .count(sizes.snapshots)),
            ("largestSnapshotBytes", .count(sizes.largestSnapshot)),
            ("archiveBytes", .count(sizes.archives)),
            ("otherBytes", .count(sizes.other)),
            ("fileSystemBytes", .count(sizes.fileSystem)),
            ("freeBytes", .count(sizes.free)),
            ("growthPerDayBytes", storage.growthPerDay.map { .count($0) }),
            ("lastBackup", sizes.lastBackup.map { .instant($0) }),
            (
                "refused",
                JSONValue.object(of: [("pushes", .count(refused.pushes)), ("requests", .count(refused.requests))])
            ),
        ])
    }

    func addStorage(_ text: inout PrometheusText) {
        guard let storage = self.store.storage else { return }
        let (sizes, budget, refused) = (storage.sizes, storage.budget, storage.refused)
        text.add(
            "freshet_storage_bytes",
            .gauge,
            "Bytes that the data directory takes, by purpose.",
            by: "what",
            [
                ("log", sizes.log), ("writeAheadLog", sizes.writeAheadLog), ("snapshots", sizes.snapshots),
                ("archives", sizes.archives), ("other", sizes.other),
            ]
        )
        text.add(
            "freshet_storage_room_bytes",
            .gauge,
            "Bytes that the data directory may take before pushes are refused.",
            budget.room(for: .traffic)
        )
        text.add(
            "freshet_storage_reserve_bytes",
            .gauge,
            "Bytes that are reserved for reports and snapshots.",
            budget.reserve
        )
        text.add(
            "freshet_storage_free_bytes",
            .gauge,
            "Free bytes on the file system of the data directory.",
            sizes.free
        )
        text.add(
            "freshet_storage_used_percent",
            .gauge,
            "The used part of the data directory's limit in percent; from 100 on, pushes are refused.",
            budget.usedPercent
        )
        if let growth = storage.growthPerDay {
            text.add(
                "freshet_storage_growth_bytes_per_day",
                .gauge,
                "Bytes by which the log grows in a day, from the last day.",
                growth
            )
        }
        if let copied = sizes.lastBackup {
            text.add(
                "freshet_backup_last_success_timestamp_seconds",
                .gauge,
                "When freshet backup last copied the data directory; absent until the first time.",
                Double(copied.milliseconds) / 1000
            )
        }
        text.add(
            "freshet_storage_refused_total",
            .counter,
            "Pushes, and requests of hosts and apps, refused since the disk was full.",
            by: "what",
            [("pushes", refused.pushes), ("requests", refused.requests)]
        )
    }
}
