package import WidgetModel

/// Where deliveries go, and the health of those destinations.
extension DeliveryMachine {
    /// How each target does. Those with one destination share its health.
    package func views(now: Instant) -> [DeliveryTarget: TargetView] {
        let queues = self.schedule.queues()
        return self.destinations.mapValues { destination in
            TargetView(
                health: self.healths[destination] ?? TargetHealth(),
                heldUntil: self.schedule.heldUntil(destination, now: now),
                waiting: queues[destination]?.count ?? 0,
                oldest: queues[destination]?.oldest
            )
        }
    }

    /// Tries waiting deliveries of some targets at once, and ends their holds.
    package mutating func tryNow(_ targets: Set<DeliveryTarget>, now: Instant) {
        for destination in Set(targets.compactMap { self.destinations[$0] }) {
            self.schedule.tryNow(destination, now: now)
        }
    }

    /// Tries waiting deliveries of all targets that failed last at once.
    package mutating func tryFailing(now: Instant) {
        for (destination, health) in self.healths where health.isFailing {
            self.schedule.tryNow(destination, now: now)
        }
    }

    /// The targets have changed: waiting deliveries use the new ones, at once if their place or credentials are new.
    ///
    /// - Parameter changed: The destinations with a new place or new credentials.
    package mutating func setDestinations(
        _ destinations: [DeliveryTarget: Destination],
        changed: Set<Destination>,
        now: Instant
    ) {
        self.destinations = destinations
        for (number, delivery) in self.deliveries {
            self.schedule.move(number, to: destinations[delivery.target], now: now)
        }
        for destination in changed { self.schedule.tryNow(destination, now: now) }
        let known = Set(destinations.values)
        self.healths = self.healths.filter { known.contains($0.key) }
        self.failing.removeAll { !known.contains($0) }
    }

    /// Notes the health of the other side by the answer to a try.
    mutating func noteHealth(_ answer: TargetHealth.Answer, of destination: Destination) {
        let heldUntil = self.schedule.heldUntil(destination, now: answer.at)
        var health = self.healths[destination] ?? TargetHealth()
        let change = health.takeAnswer(answer, heldUntil: heldUntil)
        self.healths[destination] = health
        self.failing.removeAll { $0 == destination }
        if health.looksAt != nil { self.failing.append(destination) }
        if let change { self.actions.append(.tellHealth(change, destination, heldUntil: heldUntil)) }
    }

    /// Tells of those that have failed for too long by now.
    mutating func lookAtHealth(_ now: Instant) {
        for destination in self.failing {
            guard let change = self.healths[destination]?.look(at: now) else { continue }
            self.failing.removeAll { $0 == destination }
            let heldUntil = self.schedule.heldUntil(destination, now: now)
            self.actions.append(.tellHealth(change, destination, heldUntil: heldUntil))
        }
    }
}
