import Foundation

/// The operating system's figures of a process. From /proc, so on Linux only.
struct ProcessFigures: Hashable, Sendable {
    /// CPU nanoseconds of all threads so far.
    var cpu: Int64
    /// Bytes in memory.
    var resident: Int64

    /// Nil if there is no such process, or no /proc.
    static func of(_ pid: Int32) -> ProcessFigures? {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let fields = stat.split(separator: ")").last?.split(separator: " "), fields.count > 21,
            let user = Int64(fields[11]), let system = Int64(fields[12]), let pages = Int64(fields[21])
        else { return nil }
        let ticks = Int64(sysconf(Int32(_SC_CLK_TCK)))
        return ProcessFigures(
            cpu: (user + system) * (1_000_000_000 / max(1, ticks)),
            resident: pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
        )
    }

    /// CPU nanoseconds of this process.
    static func ownCPU() -> Int64 {
        Int64(clock()) * (1_000_000_000 / Int64(CLOCKS_PER_SEC))
    }
}
