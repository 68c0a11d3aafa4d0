import Foundation

/// A port that a gateway can come back to: below those that the system gives where any will do.
package enum LonePort {
    struct NoneFound: Error {}

    /// Any such port that is free now; nothing listens there, so that a connection is refused.
    package static func find() throws -> Int {
        let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 32_768
        for _ in 0..<100 {
            let port = Int.random(in: first / 2..<first)
            if Self.isFree(port) { return port }
        }
        throw NoneFound()
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // Sound: the address outlives the call, and its size is said.
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        } == 0
    }
}
