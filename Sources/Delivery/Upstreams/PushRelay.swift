package import APNSWire
package import HTTPTransport
import NIOCore
import Partitions
package import Serving
import Settings
import Synchronization
package import WidgetModel

/// Passes pushes of other types on to their app's upstream and hands its answers back as they are.
///
/// A relayed push is judged first like any other, so that none pushes through here that may not. It is neither
/// logged nor repeated: whether it was accepted is for the upstream to say, and the sender hears it.
package struct PushRelay: UpstreamRelay {
    private let outgoing: Outgoing

    package init(_ outgoing: Outgoing) {
        self.outgoing = outgoing
    }

    package func send(
        path: String,
        headers: HTTPFields,
        body: [UInt8],
        from sender: Sender,
        app: BundleID,
        whenDone: @escaping @Sendable (Result<HTTPClientResponse, RejectionAnswer>) -> Void
    ) {
        guard let upstream = self.outgoing.plans.upstreams[app] else {
            return whenDone(.failure(RejectionAnswer(.invalidPushType)))
        }
        guard self.outgoing.delivers else {
            self.outgoing.relayed.unanswered.add(1, ordering: .relaxed)
            let answer = RejectionAnswer(.serviceUnavailable, retryAfter: Problem.retryAfterSeconds)
            return whenDone(.failure(answer))
        }
        var headers = headers
        var target = upstream.target
        switch upstream.relay {
        case .none:
            return whenDone(.failure(RejectionAnswer(.invalidPushType)))
        case .sender:
            // APNs takes the pushes of one key on each connection.
            target = HTTPTarget(
                target.origin,
                tls: target.tls,
                serverName: target.serverName,
                addresses: target.addresses,
                lane: "\(target.lane) relay \(sender.keyID?.rawValue ?? "")"
            )
        case .gateway:
            headers["authorization"] = nil
            do {
                if let token = try upstream.tokens?.token(now: LogClock.wallTime()) {
                    headers["authorization"] = "bearer \(token)"
                }
            } catch {
                return whenDone(.failure(RejectionAnswer(.internalServerError)))
            }
        }
        let request = HTTPClientRequest(
            method: "POST",
            path: path,
            headers: headers,
            body: body,
            timeout: .milliseconds(self.outgoing.timeout.value.milliseconds)
        )
        let counters = self.outgoing.relayed
        self.outgoing.client.send(request, to: target) { result in
            switch result {
            case .success(let response):
                counters.answered.add(1, ordering: .relaxed)
                whenDone(.success(response))
            case .failure:
                counters.unanswered.add(1, ordering: .relaxed)
                // The sender repeats it with its id; the upstream recognises that if it had come after all.
                let answer = RejectionAnswer(.serviceUnavailable, retryAfter: Problem.retryAfterSeconds)
                whenDone(.failure(answer))
            }
        }
    }
}
