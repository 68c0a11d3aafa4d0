import AsyncHTTPClient
import NIOCore
import NIOSSL

/// Sends widget pushes with async-http-client over one HTTP/2 connection, as APNSwift does: so many at once, then so many a
/// second. Prints their outcome as one JSON object.
@main
struct AsyncHTTPClientSender {
    let options: [String: String]
    let client: HTTPClient

    static func main() async throws {
        var options: [String: String] = [:]
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.drop { $0 == "-" }.split(separator: "=", maxSplits: 1)
            options[String(parts[0])] = String(parts[1])
        }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(options["ca"]!)
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            // Pushes wait for their turn on the one connection.
            configuration: HTTPClient.Configuration(tlsConfiguration: tls, timeout: .init(connect: .minutes(10)))
        )
        let sender = AsyncHTTPClientSender(options: options, client: client)
        let burst = await sender.sendAtOnce(Int(options["burst"]!)!)
        let steady = await sender.send(perSecond: Int(options["rate"]!)!, seconds: Int(options["seconds"]!)!)
        print("{\"burst\": \(burst.json), \"steady\": \(steady.json)}")
        try await client.shutdown()
    }

    /// The outcome of pushes: how many were sent, and the faults of those that were not answered 200.
    struct Tally {
        var sent = 0
        var lost: [String: Int] = [:]

        mutating func add(_ fault: String?) {
            self.sent += 1
            if let fault { self.lost[fault, default: 0] += 1 }
        }

        var json: String {
            let lost = self.lost.map { "\"\($0.filter { $0 != "\"" && $0 != "\\" && !$0.isNewline })\": \($1)" }
            return "{\"sent\": \(self.sent), \"lost\": {\(lost.joined(separator: ", "))}}"
        }
    }

    func sendAtOnce(_ count: Int) async -> Tally {
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<count { group.addTask { await self.push() } }
            return await group.reduce(into: Tally()) { $0.add($1) }
        }
    }

    /// A client that cannot keep up is not waited for: pushes that are late are left out.
    func send(perSecond: Int, seconds: Int) async -> Tally {
        let clock = ContinuousClock()
        let start = clock.now
        let end = start + .seconds(seconds)
        return await withTaskGroup(of: String?.self) { group in
            var tally = Tally()
            var open = 0
            for number in 0..<perSecond * seconds {
                try? await clock.sleep(until: start + .seconds(1) * number / perSecond)
                while open >= perSecond, let fault = await group.next() {
                    tally.add(fault)
                    open -= 1
                }
                guard clock.now < end else { break }
                group.addTask { await self.push() }
                open += 1
            }
            for await fault in group { tally.add(fault) }
            return tally
        }
    }

    /// Nil for a push that was answered 200, else what it was.
    private func push() async -> String? {
        var request = HTTPClientRequest(
            url: "https://localhost:\(self.options["port"]!)/3/device/\(self.options["token"]!)"
        )
        request.method = .POST
        request.headers.add(name: "authorization", value: "bearer \(self.options["bearer"]!)")
        request.headers.add(name: "apns-topic", value: self.options["topic"]!)
        request.headers.add(name: "apns-push-type", value: "widgets")
        request.body = .bytes(ByteBuffer(string: #"{"aps":{"content-changed":true}}"#))
        do {
            let response = try await self.client.execute(request, timeout: .hours(1))
            _ = try await response.body.collect(upTo: 4096)
            return response.status == .ok ? nil : "\(response.status.code)"
        } catch {
            return "\(error)"
        }
    }
}
