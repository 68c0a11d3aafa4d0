import FoundationEssentials
import HTTPTransport
import IntentMatching
package import NIOCore
import TLS
package import TimelineProviding
import WidgetModel

/// The connections to all timeline providers that a configuration names.
package struct ProviderConnections: Sendable {
    /// One kind's.
    package struct Item: Sendable {
        package let key: KindKey
        package let connection: ProviderConnection
        package let limits: FetchLimits
        /// Where the token is read that the provider is shown; nil if it is shown none.
        package let tokenFile: String?
    }

    package let all: [Item]
    /// Sends what is not for this machine.
    private let client: HTTPClient

    /// Reads files of tokens and authorities.
    ///
    /// - Throws: What is wrong with a file.
    package init(_ configuration: GatewayConfiguration, on group: any EventLoopGroup) throws {
        let answerBytesMax = configuration.timelines.answerBytesMax
        let plain = PlainHTTPClient(on: group, responseBytesMax: answerBytesMax)
        var clientConfiguration = HTTPClientConfiguration()
        clientConfiguration.connection.responseBodyBytesMax = answerBytesMax
        let client = HTTPClient(clientConfiguration, on: group)
        var all: [Item] = []
        for app in configuration.apps {
            for kind in app.kinds {
                guard let provider = kind.timelineProvider else { continue }
                let target = try Self.target(provider)
                let connection = ProviderConnection(
                    url: provider.url,
                    token: try provider.tokenFile.map { try Self.token(in: $0) },
                    timeout: provider.timeout,
                    send: { request, url in
                        if let target { return try await client.send(request, to: target) }
                        return try await plain.send(request, host: url.host, port: url.port)
                    }
                )
                all.append(
                    Item(
                        key: KindKey(app: app.bundleID, kind: kind.schema.kind),
                        connection: connection,
                        limits: provider.limits(waitingMax: configuration.timelines.waitingMax),
                        tokenFile: provider.tokenFile
                    )
                )
            }
        }
        self.all = all
        self.client = client
    }

    /// The files of the providers' tokens.
    package var tokenFiles: [String] { self.all.compactMap(\.tokenFile) }

    /// Reads the tokens again: all of them or, if one cannot be read, none.
    package func readTokens() throws {
        var tokens: [(connection: ProviderConnection, token: String)] = []
        for item in self.all {
            if let file = item.tokenFile { tokens.append((item.connection, try Self.token(in: file))) }
        }
        for each in tokens { each.connection.use(token: each.token) }
    }

    package func close() async { await self.client.close() }

    /// Where a provider is reached over TLS; nil for one on this machine.
    private static func target(_ provider: GatewayConfiguration.TimelineProvider) throws -> HTTPTarget? {
        guard provider.url.isSecure else { return nil }
        let trust = provider.authorities.map { TLSClientConfiguration.Trust.roots(.file($0)) } ?? .system
        let tls = try TLSContext.client(TLSClientConfiguration(trust: trust, alpn: ["h2"]))
        return HTTPTarget(HTTPOrigin(host: provider.url.host, port: provider.url.port), tls: tls)
    }

    private static func token(in file: String) throws -> String {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        guard let token = GatewayConfiguration.TimelineProvider.token(in: text) else {
            throw TokenFileFault(file: file)
        }
        return token
    }

    private struct TokenFileFault: Error, CustomStringConvertible {
        let file: String
        var description: String { "\(self.file): the first line is to be a token: printable ASCII without spaces" }
    }
}
