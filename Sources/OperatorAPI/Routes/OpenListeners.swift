package import HTTPTransport
import Synchronization

/// The listeners that are open, for those who ask for their counts.
package final class OpenListeners: Sendable {
    private let servers = Mutex<[(name: String, server: HTTPServer)]>([])

    package init() {}

    package func add(_ name: String, _ server: HTTPServer) {
        self.servers.withLock { $0.append((name, server)) }
    }

    /// The one of that name, if it is open.
    package subscript(name: String) -> HTTPServer? { self.servers.withLock { $0.first { $0.name == name }?.server } }

    /// The counts of each, in the order in which they were opened.
    package func counters() async -> [(name: String, counters: HTTPListenerCounters)] {
        let servers = self.servers.withLock { $0 }
        var all: [(name: String, counters: HTTPListenerCounters)] = []
        for (name, server) in servers {
            all.append((name, await server.counters()))
        }
        return all
    }
}
