import FoundationEssentials
package import HTTPTransport
import IntentMatching
package import NIOCore
package import Serving
package import Settings
import Synchronization
import TLS
package import TimelineProviding
import WidgetModel

/// The connections to all timeline providers that a configuration names; replaced while the gateway runs.
package final class ProviderConnections: Sendable {
    /// One kind's.
    package struct Item: Sendable {
        package let key: KindKey
        package let connection: ProviderConnection
        package let limits: FetchLimits
        /// The longest answer that is taken, in bytes.
        package let answerBytesMax: Int
        fileprivate let provider: GatewayConfiguration.TimelineProvider

        /// Where the token is read that the provider is shown; nil if it is shown none.
        fileprivate var tokenFile: String? { self.provider.tokenFile }
    }

    /// The clients that send requests.
    private struct Senders {
        let answerBytesMax: Int
        /// To this machine.
        let plain: PlainHTTPClient
        let client: HTTPClient
    }

    private struct State {
        var items: [Item]
        var senders: Senders
    }

    private let state: Mutex<State>
    private let group: any EventLoopGroup

    /// Reads files of tokens and authorities.
    ///
    /// - Throws: The fault of a file.
    package init(_ configuration: GatewayConfiguration, on group: any EventLoopGroup) throws {
        let senders = Self.senders(configuration, on: group)
        self.group = group
        self.state = Mutex(State(items: try Self.items(configuration, senders, before: []).all, senders: senders))
    }

    package var all: [Item] { self.state.withLock { $0.items } }

    /// The files of the providers' tokens.
    package var tokenFiles: [String] { self.all.compactMap(\.tokenFile) }

    /// Makes connections to the providers of another configuration; those that have not changed are kept.
    ///
    /// - Returns: The kinds whose provider is another one than before, or has another setting.
    /// - Throws: The fault of a file; nothing changes then.
    package func applyConfiguration(_ configuration: GatewayConfiguration) throws -> Set<KindKey> {
        let before = self.state.withLock { $0 }
        let isSame = before.senders.answerBytesMax == configuration.timelines.answerBytesMax
        let senders = isSame ? before.senders : Self.senders(configuration, on: self.group)
        let items = try Self.items(configuration, senders, before: isSame ? before.items : [])
        self.state.withLock { $0 = State(items: items.all, senders: senders) }
        // Requests in work fail, and are sent again by the new one.
        if !isSame { Task { await before.senders.client.close() } }
        return items.fresh
    }

    /// Reads the tokens again: all of them or, if one cannot be read, none.
    ///
    /// - Returns: The kinds whose provider is shown another one now.
    @discardableResult
    package func readTokens() throws -> Set<KindKey> {
        var tokens: [(item: Item, token: String)] = []
        for item in self.all {
            if let file = item.tokenFile { tokens.append((item, try Self.token(in: file))) }
        }
        return Set(tokens.filter { $0.item.connection.replace(token: $0.token) }.map(\.item.key))
    }

    package func close() async { await self.state.withLock { $0.senders.client }.close() }

    // MARK: Parts

    private static func senders(_ configuration: GatewayConfiguration, on group: any EventLoopGroup) -> Senders {
        let answerBytesMax = configuration.timelines.answerBytesMax
        var settings = HTTPClientConfiguration()
        settings.connection.responseBodyBytesMax = answerBytesMax
        return Senders(
            answerBytesMax: answerBytesMax,
            plain: PlainHTTPClient(on: group, responseBytesMax: answerBytesMax),
            client: HTTPClient(settings, on: group)
        )
    }

    /// The connections that a configuration asks for: one of `before` where nothing differs. `fresh` are the kinds with
    /// a new one.
    private static func items(
        _ configuration: GatewayConfiguration,
        _ senders: Senders,
        before: [Item]
    ) throws -> (all: [Item], fresh: Set<KindKey>) {
        var (items, fresh): ([Item], Set<KindKey>) = ([], [])
        for app in configuration.apps {
            for kind in app.kinds {
                guard let provider = kind.timelineProvider else { continue }
                let key = KindKey(app: app.bundleID, kind: kind.schema.kind)
                let limits = provider.limits(waitingMax: configuration.timelines.waitingMax)
                let known = before.first { $0.key == key && $0.provider == provider && $0.limits == limits }
                items.append(try known ?? Self.item(key, provider, limits, senders))
                if known == nil { fresh.insert(key) }
            }
        }
        return (items, fresh)
    }

    private static func item(
        _ key: KindKey,
        _ provider: GatewayConfiguration.TimelineProvider,
        _ limits: FetchLimits,
        _ senders: Senders
    ) throws -> Item {
        let target = try Self.target(provider)
        let connection = ProviderConnection(
            url: provider.url,
            token: try provider.tokenFile.map { try Self.token(in: $0) },
            timeout: provider.timeout,
            send: { request, url in
                if let target { return try await senders.client.send(request, to: target) }
                return try await senders.plain.send(request, host: url.host, port: url.port)
            }
        )
        return Item(
            key: key,
            connection: connection,
            limits: limits,
            answerBytesMax: senders.answerBytesMax,
            provider: provider
        )
    }

    /// Where a provider is reached over TLS; nil for one on this machine.
    package static func target(_ provider: GatewayConfiguration.TimelineProvider) throws -> HTTPTarget? {
        guard provider.url.isSecure else { return nil }
        let trust = provider.authorities.map { TLSClientConfiguration.Trust.roots(.file($0)) } ?? .system
        let tls = try TLSContext.client(TLSClientConfiguration(trust: trust, alpn: ["h2"]))
        return HTTPTarget(HTTPOrigin(host: provider.url.host, port: provider.url.port), tls: tls)
    }

    private static func token(in file: String) throws -> String {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        guard let token = GatewayConfiguration.TimelineProvider.token(in: text) else {
            throw TokenFileError(file: file)
        }
        return token
    }

    private struct TokenFileError: Error, CustomStringConvertible {
        let file: String
        var description: String { "\(self.file): the first line must be a token: printable ASCII without spaces" }
    }
}
