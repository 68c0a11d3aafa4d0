import Engine
import Scenarios
import WidgetModel

/// What a push token stands for.
struct FaultToken: Hashable, Sendable {
    let host: HostKey
    /// The control that it is of; nil for the host's widgets.
    let instance: InstanceID?
}

/// What APNs says of a push.
enum UpstreamVerdict: Hashable, Sendable {
    case delivered
    case refused
    /// The token is not valid.
    case gone
}

/// The hosts behind APNs: a deliverer as the gateway has one, and an APNs that loses, refuses and forgets.
extension FaultRun {
    /// The least milliseconds until a push of whose end nothing is known is sent again.
    private static let patience = 8000

    // MARK: The deliverer

    /// Sends a push, and looks after it.
    mutating func dispatch(_ push: TokenPush) {
        self.checker.settle(push.id)
        self.transmit(.upstream(push, start: self.start))
        let again = Int64(Self.patience + self.plan.delayMax + self.dice.below(8000))
        self.queue.put(.sendAgain(push, start: self.start), at: self.now + again)
    }

    /// What was committed before a gateway's start, and of whose end nothing is known.
    mutating func sendOutstanding(of owner: SimulatedOwner) {
        for push in owner.engine.outstandingTokenPushes() where !owner.unpublished.contains(push.id) {
            self.dispatch(push)
        }
    }

    mutating func sendAgain(_ push: TokenPush) {
        let owner = self.owners[Int(push.id.partition.rawValue)]
        // Its token may be another one by now, or some of its widgets gone.
        guard let known = owner.engine.outstandingTokenPushes().first(where: { $0.id == push.id }) else { return }
        self.dispatch(known)
    }

    mutating func take(_ verdict: UpstreamVerdict, of push: TokenPush) {
        switch verdict {
        case .delivered: self.report(.acknowledged, of: push)
        case .refused: self.report(.refused(reason: "TopicDisallowed"), of: push)
        case .gone:
            let removal = HostRemoval(
                host: push.host,
                token: push.token,
                notRegisteredSince: Instant(milliseconds: self.now)
            )
            // The push is sent again if there is another token; else its host is gone, and it with it.
            self.append(.unregister(removal), to: [push.id.partition], request: nil)
        }
    }

    private mutating func report(_ result: DeliveryReport.Result, of push: TokenPush) {
        let report = DeliveryReport(host: push.host, reload: push.id, result: result)
        self.append(.delivery(report), to: [push.id.partition], request: nil)
    }

    /// Takes in what the log says of tokens.
    mutating func learnTokens(_ changes: [DirectoryChange]) {
        for change in changes {
            switch change {
            case .bound(let token, let host, let instance):
                self.directory[token] = FaultToken(host: host, instance: instance)
            case .removed(let token, _, _, _): self.directory[token] = .some(nil)
            case .forgotten(let token): self.directory[token] = nil
            }
        }
    }

    /// Takes in the tokens that a state holds.
    mutating func learnTokens(of owner: SimulatedOwner) {
        for number in 0..<FaultWorld.hosts {
            guard let view = owner.engine.host(FaultWorld.host(number)) else { continue }
            for token in view.tokens { self.directory[token] = FaultToken(host: view.host, instance: nil) }
            for instance in view.instances {
                guard let token = instance.controlToken else { continue }
                self.directory[token] = FaultToken(host: view.host, instance: instance.id)
            }
        }
        var removed: [DirectoryChange] = []
        owner.engine.removedTokens { removed += $0 }
        self.learnTokens(removed)
    }

    // MARK: APNs and the phones

    /// A push has come to APNs, also from a gateway that has died since.
    mutating func arrive(_ push: TokenPush, start: Int) {
        for member in push.members { self.checker.noteReceived(member.reload) }
        guard let host = self.hosts.firstIndex(where: { $0.id == push.host }) else { return }
        let verdict = self.verdict(on: push, host)
        if verdict == .delivered, self.dice.chance(0.3) {
            // A phone knows what it reloaded, and not for whom.
            let instance = self.dice.pick(push.members).reload.address
            let now = Instant(milliseconds: self.now)
            self.ask(.host(host), FaultWorld.timeline(of: instance, nil, at: now, &self.dice))
        }
        self.transmit(.verdict(push, verdict, start: start))
    }

    private mutating func verdict(on push: TokenPush, _ host: Int) -> UpstreamVerdict {
        if !push.isControl {
            // The app was installed anew, and its host has not said so yet.
            if push.token == self.hosts[host].token, self.dice.chance(self.plan.refusals * 0.2) {
                self.hosts[host].tokens += 1
            }
            guard push.token == self.hosts[host].token else {
                self.checker.note(.goneToken)
                return .gone
            }
        }
        guard self.dice.chance(self.plan.refusals) else { return .delivered }
        self.checker.note(.refusedToken)
        self.checker.noteRefused(push.members[0].reload)
        return .refused
    }
}
