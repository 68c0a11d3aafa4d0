import FoundationEssentials
import Serving

/// The process as the kernel sees it, by the names that Prometheus' client libraries use. Nothing where there is no
/// `/proc`.
enum ProcessMetrics {
    /// The clock ticks of `/proc/self/stat` in a second: a constant of Linux' user space interface.
    private static let ticksPerSecond = 100.0
    private static let pageBytes = 4096

    static func add(_ text: inout PrometheusText) {
        if let stat = self.read("/proc/self/stat"), let end = stat.lastIndex(of: ")") {
            // proc(5): after the name in parentheses, fields are numbered from 3.
            let fields = stat[stat.index(after: end)...].split(separator: " ")
            if fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
                let pages = Int(fields[21])
            {
                text.add(
                    "process_cpu_seconds_total",
                    .counter,
                    "Processor time used, in seconds.",
                    (user + system) / Self.ticksPerSecond
                )
                text.add(
                    "process_resident_memory_bytes",
                    .gauge,
                    "Resident memory, in bytes.",
                    pages * Self.pageBytes
                )
            }
        }
        let limit = DescriptorLimit.current?.max
        // The list takes a descriptor: where there is none for it, all are open.
        if let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? limit {
            text.add("process_open_fds", .gauge, "Open file descriptors.", open)
        }
        if let limit {
            text.add("process_max_fds", .gauge, "The most open file descriptors.", limit)
        }
    }

    private static func read(_ path: String) -> String? {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
