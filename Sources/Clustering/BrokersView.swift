/// The brokers that have a log, as they told it a moment ago.
package struct BrokersView: Hashable, Sendable {
    package struct Broker: Hashable, Sendable {
        package let name: String
        package let version: String
        /// Why a gateway would not start with it, in words; nil if it would.
        package let fault: String?

        package init(name: String, version: String, fault: String? = nil) {
            self.name = name
            self.version = version
            self.fault = fault
        }
    }

    package struct Stream: Hashable, Sendable {
        package let name: String
        /// The broker that leads it; nil while none does.
        package let leader: String?
        /// How many brokers are to have it, and how many have all of it.
        package let replicas: Int
        package let current: Int

        package init(name: String, leader: String?, replicas: Int, current: Int) {
            self.name = name
            self.leader = leader
            self.replicas = replicas
            self.current = current
        }
    }

    /// Those that answered, by name.
    package let brokers: [Broker]
    /// The address of the one that this node is connected to; empty for none.
    package let connected: String
    /// The addresses of all that are known.
    package let servers: [String]
    /// The log's, by name.
    package let streams: [Stream]

    package init(brokers: [Broker], connected: String, servers: [String], streams: [Stream]) {
        self.brokers = brokers
        self.connected = connected
        self.servers = servers
        self.streams = streams
    }

    /// Streams that have no leader: nothing can be appended to them.
    package var leaderless: [Stream] { self.streams.filter { $0.leader == nil } }
    /// Streams of which a broker lacks something.
    package var lagging: [Stream] { self.streams.filter { $0.current < $0.replicas } }
}
