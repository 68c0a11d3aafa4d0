import Engine
import History
import WidgetModel

extension LogStatistics {
    /// The lines of `freshet log stats`.
    ///
    /// - Parameter fileBytes: The size of the log's files.
    func text(fileBytes: Int) -> String {
        func time(_ instant: Instant?) -> String { instant.map { RFC3339.nearestText(to: $0) } ?? "-" }
        func content(_ records: Int, _ bytes: Int) -> String {
            NumberText.counted(records, "record") + ", " + NumberText.counted(bytes, "byte")
        }
        var lines = [
            NumberText.counted(self.entries, "entry", "entries") + ", " + content(self.records, self.bytes)
                + " (\(NumberText.grouped(fileBytes)) in files)",
            "from \(time(self.from)) to \(time(self.to))",
        ]
        lines += self.byKind.map { kind, count in "  \(kind.name): " + content(count.records, count.bytes) }
        lines += self.byApp.map { app, count in "  app \(app): " + content(count.records, count.bytes) }
        lines += self.partitions.enumerated().map { index, partition in
            "  partition \(index): " + NumberText.counted(partition.entries, "entry", "entries") + ", "
                + content(partition.records, partition.bytes) + ", " + NumberText.counted(partition.outputs, "output")
                + " with " + NumberText.counted(partition.effects, "effect")
        }
        if self.unreadable > 0 { lines.append("  \(NumberText.counted(self.unreadable, "record")) cannot be read") }
        return lines.joined(separator: "\n") + "\n"
    }
}
