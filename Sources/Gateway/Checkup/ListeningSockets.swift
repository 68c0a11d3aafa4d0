/// Sockets that listen, out of the kernel's tables of them (`/proc/net/tcp` and `/proc/net/tcp6`).
package enum ListeningSockets {
    /// The state of a socket that listens (`TCP_LISTEN` in the kernel's `tcp_states.h`).
    private static let listening = "0A"

    /// The inodes of sockets that listen on a port, on any address.
    ///
    /// - Parameter table: The text of such a table; unreadable lines are left out.
    package static func inodes(port: Int, in table: String) -> [Int] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count > 9, words[3] == Self.listening, let digits = words[1].split(separator: ":").last,
                Int(digits, radix: 16) == port
            else { return nil }
            return Int(words[9])
        }
    }
}
