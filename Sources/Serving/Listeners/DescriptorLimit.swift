import FoundationEssentials
package import HTTPTransport
package import Settings

/// How many files and connections the process may have open, as the kernel tells it.
package struct DescriptorLimit: Hashable, Sendable {
    /// Without one, as many as the system has.
    package let max: Int?

    /// The descriptors that a gateway opens beside its listeners' connections: the log, event loops, files that are
    /// read again.
    package static let reserve = 256

    /// How many connections the listeners for senders and hosts may have open together: all descriptors but the
    /// reserve, or half of the unopened ones where that is more. The operators' listener is not among them, so that
    /// operators always get in.
    ///
    /// - Parameter open: How many descriptors there are already.
    package func allowance(open: Int) -> ConnectionAllowance {
        ConnectionAllowance(max: self.max.map { Swift.max($0 - Self.reserve, ($0 - open) / 2) })
    }

    /// How many descriptors the process has; 0 where the kernel does not tell.
    package static var open: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }

    /// The limit of this process; nil where the kernel does not tell.
    package static var current: DescriptorLimit? {
        guard let text = try? Data(contentsOf: URL(filePath: "/proc/self/limits")) else { return nil }
        return DescriptorLimit(limits: String(decoding: text, as: UTF8.self))
    }

    /// Reads the soft limit out of the text of `/proc/self/limits`; nil if it is not there.
    package init?(limits text: String) {
        let name = "Max open files"
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let word = line.dropFirst(name.count).split(separator: " ").first
        else { return nil }
        guard word != "unlimited" else {
            self.max = nil
            return
        }
        guard let max = Int(word) else { return nil }
        self.max = max
    }

    /// The warning about a configuration that allows more connections than the process may have; nil if all fit.
    package func warning(of configuration: GatewayConfiguration) -> String? {
        let listeners = configuration.listeners.opened
        let open = [listeners.push, listeners.manage, listeners.host, listeners.ops, listeners.health]
        let needed = open.count { $0.isEnabled } * configuration.limits.connectionsMax + Self.reserve
        guard let max, max < needed else { return nil }
        return "the process may open \(max) files, and \(needed) would be needed with limits.maxConnections at every "
            + "listener: connections beyond that wait until others close; raise the limit (LimitNOFILE, ulimit -n) or "
            + "lower limits.maxConnections"
    }
}
