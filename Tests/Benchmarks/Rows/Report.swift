import Foundation

/// The measurements, one JSON object a line on standard output.
enum Report {
    static func line(_ row: String, _ values: KeyValuePairs<String, Double>) {
        let members = values.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
        Self.write("{\"row\": \"\(row)\", \(members)}\n")
    }

    /// Not buffered: the reader waits for the line.
    private static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    /// Bytes of memory that the process holds, as the kernel counts them.
    static func residentBytes() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (kibibytes ?? 0) * 1024
    }
}
