import APNSWire
import Engine
import Ownership
import Scenarios
import WidgetModel

/// The state of APNs at a time.
struct SimulatedUpstream: Sendable {
    /// It answers 503, or refuses the gateway's credentials, until then; in milliseconds.
    var isDownUntil: Int64 = 0
    var isRefusingUntil: Int64 = 0
    /// Whether it calls the gateway's provider token expired until that is another one.
    var isTokenExpired = false
}

/// The hosts behind APNs, and an APNs that loses, refuses, forgets and is in trouble.
extension FaultRun {
    /// A push has come to APNs, also from a gateway that has died since.
    mutating func arrive(_ request: DeliveryRequest, start: Int) {
        for reload in request.reloads { self.checker.noteReceived(reload) }
        guard let host = self.hosts.firstIndex(where: { $0.id == request.reloads[0].host }) else { return }
        let answer = self.answer(to: request, host)
        if answer.status == 200, self.dice.chance(0.3) {
            // A phone knows which instance it reloaded, and not for which reload.
            let instance = self.dice.pick(request.reloads).address
            let now = Instant(milliseconds: self.now)
            self.ask(.host(host), FaultWorld.timeline(of: instance, nil, at: now, &self.dice))
        }
        self.transmit(.upstreamAnswer(.response(answer), request, start: start))
    }

    private mutating func answer(to request: DeliveryRequest, _ host: Int) -> DeliveryResponse {
        if let trouble = self.trouble() { return trouble }
        if !request.push.isControl {
            // The app was installed anew, and its host has not said so yet.
            if request.token == self.hosts[host].token, self.dice.chance(self.plan.refusals * 0.2) {
                self.hosts[host].tokens += 1
            }
            guard request.token == self.hosts[host].token else {
                self.checker.noteGone(request.push.token)
                // Without another token that is a refusal.
                for reload in request.reloads { self.checker.noteRefused(reload) }
                return Self.response(410, .unregistered)
            }
        }
        guard self.dice.chance(self.plan.refusals) else { return DeliveryResponse(status: 200) }
        self.checker.noteOccurrence(.refusedToken)
        for reload in request.reloads { self.checker.noteRefused(reload) }
        return Self.response(403, .topicDisallowed)
    }

    /// The answer of APNs while it is in trouble, or thinks that the gateway is; nil if all is well.
    private mutating func trouble() -> DeliveryResponse? {
        if self.dice.chance(self.plan.troubles * 0.4) {
            let until = self.now + Int64(self.dice.below(120_000))
            switch self.dice.below(3) {
            case 0: self.upstream.isDownUntil = until
            case 1: self.upstream.isRefusingUntil = until
            default: self.upstream.isTokenExpired = true
            }
        }
        if self.now < self.upstream.isDownUntil {
            return Self.response(503, .serviceUnavailable, retryAfter: self.dice.chance(0.5) ? .seconds(5) : nil)
        }
        if self.now < self.upstream.isRefusingUntil {
            self.checker.noteOccurrence(.heldDestination)
            return Self.response(403, .invalidProviderToken)
        }
        if self.upstream.isTokenExpired { return Self.response(403, .expiredProviderToken) }
        return self.dice.chance(self.plan.troubles) ? Self.response(500, .internalServerError) : nil
    }

    private static func response(_ status: Int, _ reason: Rejection, retryAfter: Interval? = nil) -> DeliveryResponse {
        let body = #"{"reason":"\#(reason.rawValue)"}"#
        return DeliveryResponse(status: status, retryAfter: retryAfter, body: Array(body.utf8))
    }
}
