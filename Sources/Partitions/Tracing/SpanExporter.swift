import APNSWire
import FoundationEssentials
import HTTPTransport
package import Logging
package import NIOCore
import NIOPosix
package import Settings
import Synchronization
import SystemPackage
import TLS
package import Telemetry
import WidgetModel

/// Brings spans to a collector, to a file or to both: OTLP in JSON.
///
/// Spans that cannot be brought there are counted and dropped: traces are not worth holding anything up for.
package final class SpanExporter: Sendable {
    package struct Counters: Hashable, Sendable {
        /// Spans that were written, and taken by the collector.
        package var exported = 0
        /// Spans that could not be written, or were not taken.
        package var failed = 0
    }

    /// The most spans of one request or line.
    private static let batchMax = 512
    /// The longest wait for the collector.
    private static let timeout = TimeAmount.seconds(10)

    private let queue: SpanQueue
    private let settings: GatewayConfiguration.Tracing
    private let plain: PlainHTTPClient
    private let client: HTTPClient
    private let target: HTTPTarget?
    private let logger: Logger
    private let tally = Mutex(Counters())

    /// - Throws: If the file of authorities cannot be used.
    package init(
        _ queue: SpanQueue,
        _ settings: GatewayConfiguration.Tracing,
        on group: any EventLoopGroup,
        logger: Logger
    ) throws {
        self.queue = queue
        self.settings = settings
        self.logger = logger
        self.plain = PlainHTTPClient(on: group, responseBytesMax: 65_536)
        self.client = HTTPClient(on: group)
        if let url = settings.endpoint, url.isSecure {
            let trust = settings.authorities.map { TLSClientConfiguration.Trust.roots(.file($0)) } ?? .system
            let tls = try TLSContext.client(TLSClientConfiguration(trust: trust, alpn: ["h2"]))
            self.target = HTTPTarget(HTTPOrigin(host: url.host, port: url.port), tls: tls)
        } else {
            self.target = nil
        }
    }

    package var counters: Counters { self.tally.withLock { $0 } }

    /// Exports until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            let isOver = (try? await Task.sleep(for: .milliseconds(self.settings.exportInterval.milliseconds))) == nil
            if !isOver { await self.flush() }
        }
    }

    /// Exports the remaining spans, once no more spans end.
    package func close() async {
        await self.flush()
        await self.client.close()
    }

    /// Exports everything that waits.
    package func flush() async {
        while true {
            let spans = self.queue.take(max: Self.batchMax)
            guard !spans.isEmpty else { return }
            let text = OTLPText.request(spans).jsonText
            do {
                if !self.settings.file.isEmpty { try await self.write(text) }
                if let endpoint = self.settings.endpoint { try await self.post(text, to: endpoint) }
                self.tally.withLock { $0.exported += spans.count }
            } catch {
                self.tally.withLock { $0.failed += spans.count }
                self.logger.warning("spans were not exported", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Appends a line; a file that is full goes aside first.
    private func write(_ text: [UInt8]) async throws {
        let (path, bytesMax) = (self.settings.file, Int64(self.settings.fileBytesMax))
        try await NIOThreadPool.singleton.runIfActive {
            let file = try FileDescriptor.open(
                FilePath(path),
                .writeOnly,
                options: [.append, .create],
                permissions: .ownerReadWrite
            )
            let size = try file.closeAfter {
                try file.writeAll(text + [0x0A])
                return try file.seek(offset: 0, from: .end)
            }
            guard size >= bytesMax else { return }
            if FileManager.default.fileExists(atPath: "\(path).1") {
                try FileManager.default.removeItem(atPath: "\(path).1")
            }
            try FileManager.default.moveItem(atPath: path, toPath: "\(path).1")
        }
    }

    private func post(_ text: [UInt8], to endpoint: ProviderURL) async throws {
        let request = HTTPClientRequest(
            method: "POST",
            path: endpoint.path,
            headers: ["content-type": "application/json"],
            body: text,
            timeout: Self.timeout
        )
        let response =
            if let target { try await self.client.send(request, to: target) } else {
                try await self.plain.send(request, host: endpoint.host, port: endpoint.port)
            }
        guard (200...299).contains(response.status) else { throw ExportError(status: response.status) }
    }

    private struct ExportError: Error, CustomStringConvertible {
        let status: Int
        var description: String { "the collector answered \(self.status)" }
    }
}
