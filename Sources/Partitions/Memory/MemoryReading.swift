import FoundationEssentials
import WidgetModel

/// Reads from the kernel how much memory there is, and how much of it the process takes.
package enum MemoryReading {
    /// Why there is nothing to read.
    package struct ReadError: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads all of it. Blocks, some ten microseconds.
    ///
    /// - Parameters:
    ///   - root: The folder in which `proc` and `sys` are, without a slash at its end.
    ///   - machine: The machine's memory in bytes; nil if that is not known.
    /// - Throws: If the kernel does not tell the process's memory.
    package static func sizes(
        under root: String = "",
        machine: Int? = Self.machineBytes
    ) throws(ReadError) -> MemorySizes {
        // proc(5): what `statm` says in pages.
        guard let resident = Self.size("VmRSS:", in: "\(root)/proc/self/status") else {
            throw ReadError(description: "/proc/self/status has no size")
        }
        let limits = [machine] + Self.groups(under: root)
        return MemorySizes(resident: resident, available: limits.compactMap(\.self).min())
    }

    /// The machine's memory, from the system and not from `/proc/meminfo`: a service with `ProcSubset=pid` has no such file.
    package static var machineBytes: Int? {
        let bytes = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        return bytes > 0 ? bytes : nil
    }

    /// The size in a file, in KiB on the line with a name.
    private static func size(_ name: String, in file: String) -> Int? {
        let lines = Self.text(of: file)?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
        let fields = line.split { $0 == " " || $0 == "\t" }
        guard fields.count > 1, let count = Int(fields[1]), count >= 0 else { return nil }
        return count.multipliedSaturating(by: 1024)
    }

    /// The memory that the process's control groups may take, each of them and those around them.
    private static func groups(under root: String) -> [Int?] {
        let lines = Self.text(of: "\(root)/proc/self/cgroup")?.split(separator: "\n") ?? []
        return lines.flatMap { line -> [Int?] in
            // cgroups(7): number, controllers, path; version 2 has no controllers.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            if fields[1].isEmpty {
                return Self.limits("\(root)/sys/fs/cgroup", fields[2], "memory.max")
            }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return Self.limits("\(root)/sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes")
        }
    }

    /// The limits along a path. In a container the path can be the machine's and not be there: then those that are count.
    private static func limits(_ mount: String, _ path: Substring, _ file: String) -> [Int?] {
        var folder = mount
        var folders = [folder]
        for part in path.split(separator: "/") where part != ".." {
            folder += "/\(part)"
            folders.append(folder)
        }
        // A group without a limit says "max", or as many bytes as no machine has.
        return folders.map { folder in
            Self.text(of: "\(folder)/\(file)").flatMap { Int($0.filter { !$0.isWhitespace }) }
        }
    }

    private static func text(of file: String) -> String? {
        guard let data = try? Data(contentsOf: URL(filePath: file)) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
