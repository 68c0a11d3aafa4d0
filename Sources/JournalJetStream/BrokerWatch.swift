#if JetStream
import Clustering
import FoundationEssentials
import JournalStreams
import Journaling
import Synchronization

/// Looks now and then which brokers there are and which of them leads which stream, so that questions about it wait for none.
final class BrokerWatch: Sendable {
    private static let spacingMilliseconds = 10_000
    /// A broker asks the streams' leaders, and waits for those that are away.
    private static let answerMilliseconds = 5000
    private static let brokersMilliseconds = 1000

    /// A page of a broker's list of streams.
    private struct Page: Decodable {
        struct Stream: Decodable {
            struct Config: Decodable {
                let name: String
                let num_replicas: Int
            }
            struct Group: Decodable {
                struct Replica: Decodable {
                    let current: Bool?
                    let offline: Bool?
                }
                let leader: String?
                let replicas: [Replica]?
            }
            let config: Config
            let cluster: Group?
        }
        let total: Int?
        let streams: [Stream]?
        /// Those that no leader told of.
        let missing: [String]?
    }

    private let core: OpenLog
    private let view = Mutex<BrokersView?>(nil)

    init(_ core: OpenLog) { self.core = core }

    /// As they were when they were looked at last; nil before that, and after they did not answer.
    var latest: BrokersView? { self.view.withLock { $0 } }

    /// Looks until it is over.
    func run(until isOver: () -> Bool) {
        var system: Broker?
        while !isOver() {
            if system == nil { system = try? Broker(self.core.configuration.systemAccess) }
            let brokers = system.map { BrokerCheck.brokers($0, waitMilliseconds: Self.brokersMilliseconds) } ?? []
            let streams = self.streams(alone: brokers.count == 1 ? brokers[0].name : nil, until: isOver)
            self.view.withLock { view in
                view = streams.map { streams in
                    BrokersView(
                        brokers: brokers,
                        connected: self.core.broker.connectedURL,
                        servers: self.core.broker.servers,
                        streams: streams
                    )
                }
            }
            let pause = Patience(milliseconds: Self.spacingMilliseconds)
            while !isOver(), !pause.isOver { pause.pause() }
        }
    }

    /// The log's streams, by name; nil if a broker did not say.
    ///
    /// - Parameter broker: The name of the only one there is.
    private func streams(alone broker: String?, until isOver: () -> Bool) -> [BrokersView.Stream]? {
        let prefix = "freshet-\(self.core.names.cluster)-"
        var (all, offset) = ([BrokersView.Stream](), 0)
        while !isOver() {
            let answer = self.core.broker.ask(
                "$JS.API.STREAM.LIST",
                Array(#"{"offset":\#(offset)}"#.utf8),
                waitMilliseconds: Self.answerMilliseconds
            )
            guard let answer, let page = try? JSONDecoder().decode(Page.self, from: Data(answer)) else { return nil }
            let (streams, missing) = (page.streams ?? [], page.missing ?? [])
            all += streams.map { Self.view(of: $0, alone: broker) }
            all += missing.map { BrokersView.Stream(name: $0, leader: nil, replicas: 0, current: 0) }
            offset += streams.count + missing.count
            if streams.isEmpty || offset >= page.total ?? 0 { break }
        }
        return all.filter { $0.name.hasPrefix(prefix) }.sorted { $0.name < $1.name }
    }

    private static func view(of stream: Page.Stream, alone broker: String?) -> BrokersView.Stream {
        let named = stream.cluster?.leader.flatMap { $0.isEmpty ? nil : $0 }
        // A broker that is none of several leads, and does not say so.
        let leader = named ?? (stream.config.num_replicas == 1 ? broker : nil)
        let followers = (stream.cluster?.replicas ?? []).count { $0.current == true && $0.offline != true }
        return BrokersView.Stream(
            name: stream.config.name,
            leader: leader,
            replicas: stream.config.num_replicas,
            current: leader == nil ? 0 : followers + 1
        )
    }
}
#endif
