import Foundation
import HTTP2
import HTTPTransport
import Logging
import NIOCore
import NIOPosix
import TLS

/// The HTTP layer alone, for `make bench`: TLS and HTTP/2 as the gateway has them, and a handler that answers every request with
/// 200 and an `apns-id`. `BenchmarkTransport CERTIFICATE KEY` prints its port.
@main struct BenchmarkTransport {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { return print("usage: BenchmarkTransport CERTIFICATE KEY") }
        let tls = try TLSContext.server(
            TLSServerConfiguration(
                identity: TLSIdentity(certificateChain: .file(arguments[1]), privateKey: .file(arguments[2])),
                alpn: ["h2"]
            )
        )
        // One loop, as nghttpd has one thread by default.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let configuration = HTTPListenerConfiguration(name: "benchmark", port: 0, tls: tls)
        var logger = Logger(label: "benchmark")
        logger.logLevel = .error
        let server = try await HTTPServer.start(configuration, on: group, logger: logger) { _ in FixedAnswer() }
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        try await Task.sleep(for: .seconds(3600))
    }
}

/// Answers 200 with an `apns-id` of its own to each request.
private final class FixedAnswer: RequestBatchHandler {
    private var fields = ResponseFields()
    private var id = Array("00000000-bc9f-f410-a127-43f212597a9c".utf8)
    private var count: UInt64 = 0

    init() {
        self.fields.append(name: "apns-id", value: self.id.span, indexed: false)
    }

    func receive(_ batch: borrowing RequestBatch, from connection: HTTPConnection) {
        for index in batch.requests.indices {
            self.count &+= 1
            var digits = self.count
            for place in 0..<8 {
                self.id[place] = UInt8(ascii: "0") + UInt8(digits % 10)
                digits /= 10
            }
            self.fields.replaceLastValue(self.id.span)
            connection.respond(batch.requests[index].streamID, status: 200, fields: self.fields)
        }
        connection.flush()
    }

    func connectionClosed(_ connection: HTTPConnection) {}
}
