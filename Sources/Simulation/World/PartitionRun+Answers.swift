import Engine
import Scenarios
import Timelines
import WidgetModel

extension PartitionRun {
    /// A reload reached the world: its host asks the timeline provider, now or when it is in reach again.
    mutating func follow(_ reload: ReloadEffect) {
        let number = self.crowd.place(of: reload.address)
        self.noteReload(reload, of: number, collateral: nil)
        let askedAt = self.reach(self.crowd.instances[number].host)
        self.ask(number, isPolicy: reload.causes.contains(.policy), .reload(reload.id), at: askedAt)
    }

    /// A push went to APNs, which takes it: that is the evidence. Its phone reloads everything that shares the token.
    mutating func follow(_ push: TokenPush) {
        let trigger = self.crowd.place(of: push.members[0].reload.address)
        let receipt = Flight(instance: trigger, errand: .receipt(push.id), readAt: 0, isRefused: false)
        self.launch(receipt, landing: self.elapsed + 1)
        let askedAt = self.reach(self.crowd.instances[trigger].host)
        self.measures.tokenPushes += 1
        for member in push.members {
            let number = self.crowd.place(of: member.reload.address)
            self.noteReload(member.reload, of: number, collateral: member.collateral)
            self.ask(number, isPolicy: false, .phone, at: askedAt)
        }
    }

    /// A phone reloads a widget by itself.
    mutating func reloadByItself(_ number: Int, isPolicy: Bool) {
        self.measures.ownReloads += 1
        self.ask(number, isPolicy: isPolicy, .phone, at: self.elapsed)
    }

    private mutating func noteReload(_ reload: ReloadEffect, of number: Int, collateral: Collateral?) {
        let place = self.crowd.instances[number].host
        let source = ReloadSource(reload, collateral)
        self.measures.noteReload(source, hour: self.elapsed / 3600, localHour: self.localHour(of: place))
        if let collateral {
            self.measures.populations[self.crowd.hosts[place].population].noteCollateral(collateral)
        }
        guard reload.isCharged, collateral != .over, self.samples.isSampled(number),
            let view = self.engine.instance(reload.address)
        else { return }
        self.samples.noteBudget(number, view.budget, at: reload.issuedAt, into: &self.measures.budget)
    }

    /// When a host hears of a reload: now, or when it is in reach again.
    private mutating func reach(_ place: Int) -> Int {
        let population = self.crowd.hosts[place].population
        guard self.crowd.hosts[place].dice.chance(self.world.habits[population].offlineShare) else {
            return self.elapsed
        }
        self.measures.offline += 1
        return self.elapsed + 1 + self.crowd.hosts[place].dice.below(self.world.habits[population].offlineSeconds)
    }

    private func localHour(of place: Int) -> Int {
        let (population, zone) = (self.crowd.hosts[place].population, self.crowd.hosts[place].zone)
        return self.world.clocks[population][zone].local(self.now) % 86_400 / 3600
    }

    /// The host asks its provider for a timeline.
    private mutating func ask(_ number: Int, isPolicy: Bool, _ errand: Flight.Errand, at askedAt: Int) {
        let (kind, place) = (self.crowd.instances[number].kind, self.crowd.instances[number].host)
        self.measures.load.noteRequest(at: askedAt)
        if isPolicy {
            let wantedAt = Int(self.crowd.instances[number].wantedAt)
            // Smoothing does not hold a request back for longer.
            let slot = Int(self.world.scenario.kinds[kind].budget.smoothing.milliseconds / 1000)
            let isSmoothed = wantedAt >= 0 && (0...slot + 1).contains(askedAt - wantedAt)
            self.measures.load.noteDueRequest(smoothed: askedAt, unsmoothed: isSmoothed ? wantedAt : askedAt)
        }
        self.crowd.instances[number].wantedAt = -1
        var latency = self.crowd.hosts[place].dice.among(self.world.providers[kind].latency)
        var readAt = askedAt
        var isRefused = false
        if self.world.providers[kind].hasFaults {
            for fault in self.world.scenario.kinds[kind].provider.faults {
                let begin = Int(fault.at.milliseconds / 1000)
                guard askedAt >= begin, askedAt < begin + Int(fault.length.milliseconds / 1000),
                    self.crowd.hosts[place].dice.chance(fault.share)
                else { continue }
                switch fault.kind {
                case .slow(let times): latency *= times
                case .failing: isRefused = true
                case .stuck: readAt = min(readAt, begin)
                }
            }
        }
        let flight = Flight(instance: number, errand: errand, readAt: readAt, isRefused: isRefused)
        self.launch(flight, landing: max(self.elapsed + 1, askedAt + latency))
    }

    /// - Parameter landing: In seconds after the start.
    private mutating func launch(_ flight: Flight, landing: Int) {
        let slot = self.freeFlights.popLast() ?? self.flights.count
        if slot == self.flights.count { self.flights.append(flight) } else { self.flights[slot] = flight }
        self.answerTimers.arm(UInt32(slot), at: Instant(seconds: Int64(self.world.scenario.start + landing)))
    }

    /// A flight lands: mostly the provider's answer, which the host shows and reports.
    mutating func land(_ slot: Int) {
        let flight = self.flights[slot]
        self.freeFlights.append(slot)
        let number = flight.instance
        let address = InstanceAddress(
            host: self.crowd.hosts[self.crowd.instances[number].host].id,
            instance: self.crowd.instances[number].id
        )
        var id: ReloadID?
        switch flight.errand {
        case .reload(let reload): id = reload
        case .phone: break
        case .receipt(let taken):
            return self.write(.delivery(DeliveryReport(host: address.host, reload: taken, result: .acknowledged)))
        }
        guard !flight.isRefused else {
            self.measures.refused += 1
            guard let id else { return self.armPhone(number, wanted: self.now) }
            return self.write(
                .delivery(DeliveryReport(host: address.host, reload: id, result: .refused(reason: "no timeline")))
            )
        }
        let (timeline, wanted) = self.timeline(for: number, readAt: flight.readAt)
        self.crowd.instances[number].wantedAt =
            wanted.map { $0 > self.now ? Int32($0 - self.world.scenario.start) : -1 } ?? -1
        self.write(
            .timeline(
                TimelineReport(host: address.host, instance: address.instance, reload: id, timeline: timeline)
            )
        )
        if id == nil { self.armPhone(number, wanted: wanted) }
        self.measures.timelines += 1
        self.show(number, upTo: flight.readAt)
    }

    /// A phone asks again at the date that its timeline names, or at its own pace if that has come already.
    private mutating func armPhone(_ number: Int, wanted: Int?) {
        guard let wanted else { return self.phoneTimers.disarm(UInt32(number)) }
        let patience = self.world.providers[self.crowd.instances[number].kind].patience
        let at = wanted > self.now ? wanted : self.now + patience
        self.phoneTimers.arm(UInt32(number), at: Instant(seconds: Int64(at)))
    }

    /// The timeline that a provider makes of its data, and when that asks for the next one, in seconds after the epoch.
    private func timeline(for number: Int, readAt: Int) -> (timeline: Timeline, wanted: Int?) {
        let (kind, value) = (self.crowd.instances[number].kind, self.crowd.instances[number].value)
        let traits = self.world.providers[kind]
        let known = self.world.schedule.changes[kind][value].count(upTo: Int32(readAt))
        let start = self.world.scenario.start
        let made = start + readAt
        var (count, every, policy) = (traits.entries, traits.every, traits.policy)
        var wanted: Int?
        if traits.hasOpening, let opening = self.world.scenario.kinds[kind].timeline.opening,
            !opening.contains(made, self.world.openingClocks[kind])
        {
            count = 1
            wanted = opening.nextOpening(after: made, self.world.openingClocks[kind])
        }
        if let climb = traits.climb {
            let changedAt = known == 0 ? nil : Int(self.world.schedule.changes[kind][value][known - 1])
            let steps = changedAt.map { climb.stepsLeft(after: readAt - $0) } ?? 0
            count = steps + 1
            every = Int(climb.every.milliseconds / 1000)
            policy = steps == 0 ? .never : .atEnd
        }
        if traits.foresight > 0, known < self.world.schedule.changes[kind][value].count {
            let next = Int(self.world.schedule.changes[kind][value][known])
            if next - readAt <= traits.foresight { wanted = min(wanted ?? .max, start + next) }
        }
        let reload: ReloadPolicy
        switch (wanted, policy) {
        case (let date?, _): reload = .after(Instant(seconds: Int64(date)))
        case (nil, .never): reload = .never
        case (nil, .atEnd):
            reload = .atEnd
            wanted = made + (count - 1) * every
        case (nil, .after(let length)):
            wanted = made + Int(length.milliseconds / 1000)
            reload = .after(Instant(seconds: Int64(made)) + length)
        }
        var entries: [TimelineEntry] = []
        entries.reserveCapacity(count)
        for index in 0..<count { entries.append(TimelineEntry(date: Instant(seconds: Int64(made + index * every)))) }
        return (Timeline(entries: entries, policy: reload, digest: Self.digest(known)), wanted)
    }

    // MARK: Staleness

    /// A change from before an instance was there is not news to it.
    mutating func beginStaleness(of number: Int) {
        let instance = self.crowd.instances[number]
        let changes = self.world.changes(instance.kind, instance.value)
        self.crowd.instances[number].seen = changes.count(upTo: Int32(self.elapsed))
    }

    /// An instance shows the data as it was at an instant; every change up to then was stale until now.
    mutating func show(_ number: Int, upTo readAt: Int) {
        let (kind, value) = (self.crowd.instances[number].kind, self.crowd.instances[number].value)
        var seen = self.crowd.instances[number].seen
        let count = self.world.schedule.changes[kind][value].count
        guard seen < count, Int(self.world.schedule.changes[kind][value][seen]) <= readAt else { return }
        let changes = self.world.changes(kind, value)
        let population = self.crowd.hosts[self.crowd.instances[number].host].population
        self.measures.noteStale(from: Int(changes[seen]), until: self.elapsed)
        let starvedAfter = Int(self.world.scenario.starvedAfter.milliseconds / 1000)
        if self.elapsed - Int(changes[seen]) > starvedAfter { self.crowd.instances[number].isStarved = true }
        while seen < count, Int(changes[seen]) <= readAt {
            self.measures.populations[population].staleness.noteWait(self.elapsed - Int(changes[seen]))
            seen += 1
        }
        self.crowd.instances[number].seen = seen
    }

    /// A person looks at an instance: notes whether it shows the newest data.
    mutating func noteLook(at number: Int) {
        let (kind, value) = (self.crowd.instances[number].kind, self.crowd.instances[number].value)
        let seen = self.crowd.instances[number].seen
        let population = self.crowd.hosts[self.crowd.instances[number].host].population
        self.measures.populations[population].looks += 1
        guard seen < self.world.schedule.changes[kind][value].count else { return }
        let changedAt = Int(self.world.schedule.changes[kind][value][seen])
        if changedAt <= self.elapsed {
            self.measures.populations[population].staleLooks.noteWait(self.elapsed - changedAt)
        }
    }

    /// The run is over: content that an instance has not shown by now, it never showed.
    mutating func closeStaleness(of number: Int) {
        let instance = self.crowd.instances[number]
        let changes = self.world.changes(instance.kind, instance.value)
        let population = self.crowd.hosts[instance.host].population
        var isStarved = instance.isStarved
        let unseen = changes.count - instance.seen
        if unseen > 0 {
            let age = self.elapsed - Int(changes[instance.seen])
            self.measures.noteStale(from: Int(changes[instance.seen]), until: self.elapsed)
            self.measures.populations[population].neverShown += unseen
            if age > Int(self.world.scenario.starvedAfter.milliseconds / 1000) { isStarved = true }
        }
        self.measures.populations[population].instances += 1
        if isStarved { self.measures.populations[population].starved += 1 }
    }
}
