import Engine
import Logging
import WidgetModel

extension ReloadDeliverer {
    func settle(
        _ number: UInt64,
        _ delivery: Delivery,
        _ attempt: Attempt,
        _ outcome: Outcome
    ) async {
        if self.isAsItWas(attempt, delivery), !self.schedule.isOutdated(number) {
            if case .laneInTrouble(let wait, _, _) = outcome.verdict {
                self.schedule.pause(attempt.lane, until: self.clock() + wait)
            }
            if let answer = outcome.answer { self.note(answer, of: attempt.lane) }
        } else {
            // It says nothing of where the next try goes, or of what is shown there.
            switch outcome.verdict {
            case .again, .laneInTrouble: return self.again(number, after: .zero)
            case .delivered, .refused, .gone: break
            }
        }
        switch outcome.verdict {
        case .delivered:
            self.count(delivery.way) { $0.delivered += 1 }
            await self.report(attempt.reloads, .acknowledged)
            self.end(number)
        case .refused(let reason):
            self.count(delivery.way) {
                $0.refused += 1
                $0.lastRefusal = reason
            }
            await self.report(attempt.reloads, .refused(reason: reason))
            self.end(number)
        case .gone(let reason, let since):
            await self.unregister(number, delivery, attempt, reason, since)
        case .again(let wait, _):
            self.count(delivery.way) { $0.again += 1 }
            self.again(number, after: wait)
        case .laneInTrouble(let wait, let reason, let renewsToken):
            self.count(delivery.way) {
                $0.troubles += 1
                $0.lastTrouble = reason
            }
            if renewsToken { self.plans.upstreams[delivery.app]?.tokens?.expire(now: LogClock.wallTime()) }
            self.again(number, after: wait)
        }
    }

    /// Whether a try would go the same way now, with the same credentials.
    private func isAsItWas(_ attempt: Attempt, _ delivery: Delivery) -> Bool {
        attempt.lane == self.lane(of: attempt.reloads[0])
            && attempt.tokens === self.plans.upstreams[delivery.app]?.tokens
    }

    /// Takes away the token that the upstream calls invalid, unless it was registered later than that, and tries again if
    /// the host has another.
    private func unregister(
        _ number: UInt64,
        _ delivery: Delivery,
        _ attempt: Attempt,
        _ reason: String,
        _ since: Instant?
    ) async {
        guard let token = attempt.token else { return self.end(number) }
        self.count(delivery.way) {
            $0.gone += 1
            $0.lastRefusal = reason
        }
        self.logger.notice(
            "the upstream calls a push token invalid",
            metadata: ["app": "\(delivery.app)", "token": "\(token)", "reason": "\(reason)"]
        )
        let removal = HostRemoval(host: delivery.host, token: token, notRegisteredSince: since ?? attempt.begunAt)
        await self.append([(.unregister(removal), delivery.host)])
        let ids = attempt.reloads.map(\.id)
        let pushes = try? await self.log.ask(delivery.host, { $0.outgoingPushes(for: ids) })
        if let other = pushes?.compactMap({ $0 }).first, other.token != token {
            return self.again(number, after: .zero)
        }
        await self.report(attempt.reloads, .refused(reason: reason))
        self.end(number)
    }

    private func report(_ reloads: [ReloadEffect], _ result: DeliveryReport.Result) async {
        await self.append(
            reloads.map { (.delivery(DeliveryReport(host: $0.host, reload: $0.id, result: result)), $0.host) }
        )
    }

    /// Logs what became of a delivery, however long that takes: sending it again instead would deliver it twice.
    private func append(_ records: [(record: Record, host: HostKey)]) async {
        while !self.isStopped {
            if (try? await self.log.append(records)) != nil { return }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    func again(_ number: UInt64, after wait: Interval) {
        self.schedule.again(number, at: self.clock() + wait)
        self.pump()
    }

    func end(_ number: UInt64) {
        self.schedule.end(number)
        if let delivery = self.deliveries.removeValue(forKey: number) { self.forget(delivery.reloads) }
        self.pump()
    }
}
