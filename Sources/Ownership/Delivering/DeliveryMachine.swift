import APNSWire
package import Engine
package import WidgetModel

/// Brings reloads to upstreams and webhooks, as a value: it chooses each request and its time, and judges the answer.
///
/// Its driver reports events, and asks ``next(now:)`` for the next step, one ``DeliveryAction`` after the other. It has
/// no clock, no connections and no log: the gateway's deliverer runs it beside an HTTP client, and the fault simulator
/// in virtual time.
///
/// Its rules:
/// - Only committed reloads come in, and each is in one delivery: those of one host, one log position and one token.
/// - Before every try the engine decides whether a reload is still outstanding and to which token it goes.
/// - A delivery has one request under way at most, and the same id for every try.
/// - Its result is logged before it is over. Until then none of its reloads is taken up a second time.
/// - Reloads without room in memory stay in the engine's tables, and are fetched when there is room.
package struct DeliveryMachine: ~Copyable {
    /// The limits; each may change at any time.
    package struct Settings: Hashable, Sendable {
        package var limits = DeliverySchedule.Limits()
        package var retries = DeliveryRetries()
        /// How long a request may take. Default 30 s.
        package var requestTimeout = Interval.seconds(30)

        package init() {}
    }

    struct Delivery {
        /// At least one; those of which it is known that they are over have left.
        var reloads: [ReloadEffect]
        let target: DeliveryTarget
        var tries = 0
        /// How often records about it went to the log.
        var logTries = 0
        var stage = Stage.waiting

        var host: HostKey { self.reloads[0].host }
        var way: HostDelivery { self.reloads[0].delivery }
    }

    /// How far a delivery is.
    ///
    /// ```
    ///   waiting ──▶ asking ──▶ sending ──▶ logging ──▶ over
    ///      ▲          │           │           │
    ///      ├──────────┴───────────┘           ▼
    ///      └────────────────────────────── askingForToken
    /// ```
    enum Stage {
        case waiting
        /// The engine is asked which reloads are still outstanding.
        case asking
        case sending(DeliveryRequest)
        case logging([Record], then: Continuation)
        /// The log did not take them.
        case awaitingLog([Record], then: Continuation)
        /// The token is not valid. The engine is asked whether there is another by now.
        case askingForToken(DeliveryRequest, reason: String)
    }

    /// The next step once records are logged.
    enum Continuation {
        case end
        case askForToken(DeliveryRequest, reason: String)
    }

    /// The properties that reloads of one delivery have in common.
    private struct Shared: Hashable {
        let host: HostKey
        let position: LogPosition
        let way: HostDelivery
    }

    /// The question for outstanding reloads: one at a time.
    private enum Question {
        case answered, asked
        /// The partition has gone since it was asked: its answer is of no use.
        case withdrawn
    }

    package var settings: Settings {
        didSet { self.schedule.limits = self.settings.limits }
    }
    /// The counters, by the way of delivering.
    package private(set) var counters: [HostDelivery: DeliveryCounters] = [:]

    var destinations: [DeliveryTarget: Destination]
    var schedule: DeliverySchedule
    private(set) var deliveries: [DeliveryNumber: Delivery] = [:]
    private var lastNumber = DeliveryNumber(0)
    /// The reloads that are in deliveries.
    private var known: Set<ReloadID> = []
    var healths: [Destination: TargetHealth] = [:]
    /// Those that have begun to fail, and that time alone may put in trouble.
    var failing: [Destination] = []
    private let partitions: Int
    /// The partitions that may hold reloads which are not known here, each with the first instance that may have one.
    private var behind: [PartitionID: InstanceNumber] = [:]
    /// The partition that is asked for such reloads now, or was last.
    private var searched = PartitionID(0)
    private var question = Question.answered
    /// Reloads that were found while more are searched for, and could not be delivered: found again, they would keep out the others.
    private var passed: Set<ReloadID> = []
    private var isStopped = false
    var actions: ArraySlice<DeliveryAction> = []
    private let reader = JSONReader()

    /// - Parameters:
    ///   - destinations: Where each target's deliveries go.
    ///   - partitions: How many partitions give reloads.
    package init(
        _ destinations: [DeliveryTarget: Destination],
        partitions: Int,
        _ settings: Settings = Settings()
    ) {
        self.partitions = partitions
        self.destinations = destinations
        self.settings = settings
        self.schedule = DeliverySchedule(settings.limits)
    }

    /// Deliveries that wait, and those that are worked on.
    package var counts: (waiting: Int, inWork: Int) {
        (self.schedule.count - self.schedule.inWork, self.schedule.inWork)
    }
}

// MARK: - Actions

extension DeliveryMachine {
    /// The next step; nil if there is none before ``nextDue``, or before another event.
    package mutating func next(now: Instant) -> DeliveryAction? {
        if let action = self.actions.popFirst() { return action }
        guard !self.isStopped else { return nil }
        self.lookAtHealth(now)
        for step in self.schedule.steps(now: now) {
            switch step {
            case .start(let number): self.askForPushes(number)
            case .expired(let number):
                guard let delivery = self.deliveries.removeValue(forKey: number) else { continue }
                self.passBy(delivery.reloads)
                self.count(delivery.way) { $0.expired += delivery.reloads.count }
            }
        }
        self.search()
        return self.actions.popFirst()
    }

    /// Asks one partition after the other for reloads that are not known here, when half of the room is free.
    private mutating func search() {
        guard self.question == .answered, self.schedule.count * 2 < self.settings.limits.knownMax,
            let next = self.behind.keys.filter({ $0 > self.searched }).min() ?? self.behind.keys.min(),
            let first = self.behind.removeValue(forKey: next)
        else { return }
        self.searched = next
        self.question = .asked
        self.actions.append(.findUndelivered(next, from: first, limit: self.settings.limits.knownMax))
    }

    /// When there is something to do without anything else happening; nil if never.
    package var nextDue: Instant? {
        guard !self.isStopped else { return nil }
        let looks = self.failing.compactMap { self.healths[$0]?.looksAt }.min()
        return [looks, self.schedule.nextDue].compactMap(\.self).min()
    }

    /// Starts nothing any more. Work in progress is given up; the log has it.
    package mutating func stop() {
        self.isStopped = true
        self.actions = []
    }
}

// MARK: - Reloads

extension DeliveryMachine {
    /// The reloads among committed effects that are not for streams.
    package static func reloads(in effects: [Effect]) -> [ReloadEffect] {
        effects.flatMap { effect -> [ReloadEffect] in
            switch effect {
            case .reload(let reload): reload.delivery == .stream ? [] : [reload]
            case .push(let push): push.members.map(\.reload)
            case .invalidation: []
            }
        }
    }

    /// A start: takes up the reloads that were outstanding before.
    package mutating func catchUp() {
        for partition in 0..<self.partitions { self.takeUp(PartitionID(UInt16(partition))) }
    }

    /// A partition has come to this gateway: takes up the outstanding reloads there.
    package mutating func takeUp(_ partition: PartitionID) { self.behind[partition] = InstanceNumber(raw: 0) }

    /// A partition is another gateway's now, and so are its outstanding reloads.
    package mutating func letGo(_ partition: PartitionID) {
        self.behind[partition] = nil
        if self.searched == partition, self.question == .asked { self.question = .withdrawn }
        for (number, delivery) in self.deliveries where delivery.reloads[0].id.partition == partition {
            self.end(number, of: delivery.reloads)
        }
    }

    /// Takes the reloads of ``reloads(in:)``. Known ones are left out.
    package mutating func takeReloads(_ reloads: [ReloadEffect], now: Instant) {
        var groups: [[ReloadEffect]] = []
        var places: [Shared: Int] = [:]
        for reload in reloads where reload.delivery != .stream && self.known.insert(reload.id).inserted {
            let shared = Shared(host: reload.host, position: reload.id.position, way: reload.delivery)
            if let place = places[shared] {
                groups[place].append(reload)
            } else {
                places[shared] = groups.count
                groups.append([reload])
            }
        }
        for group in groups { self.add(group, now: now) }
    }

    /// Takes the result of ``DeliveryAction/findUndelivered(_:from:limit:)``; nil if the partition does not answer.
    package mutating func takeUndelivered(_ page: ReloadsPage?, of partition: PartitionID, now: Instant) {
        guard self.question != .answered, partition == self.searched else { return }
        let isWithdrawn = self.question == .withdrawn
        self.question = .answered
        // One that has stopped delivers nothing; its log has everything.
        guard let page, !isWithdrawn else { return }
        // Reloads that found no room meanwhile may be before that.
        if let next = page.next { self.noteBehind(partition, from: next) }
        self.takeReloads(page.reloads.filter { !self.passed.contains($0.id) }, now: now)
        if self.behind.isEmpty { self.passed = [] }
    }

    private mutating func noteBehind(_ partition: PartitionID, from instance: InstanceNumber) {
        let first = min(self.behind[partition]?.raw ?? instance.raw, instance.raw)
        self.behind[partition] = InstanceNumber(raw: first)
    }

    private mutating func add(_ reloads: [ReloadEffect], now: Instant) {
        let number = self.lastNumber.next
        self.lastNumber = number
        let target = DeliveryTarget(kind: reloads[0].delivery == .webhook ? .webhook : .upstream, app: reloads[0].app)
        let isTaken = self.schedule.add(
            number,
            to: self.destinations[target],
            since: reloads.map(\.issuedAt).min(),
            expiresAt: reloads.map(\.expiresAt).max() ?? reloads[0].expiresAt,
            now: now
        )
        guard isTaken else {
            self.forget(reloads)
            for reload in reloads { self.noteBehind(reload.id.partition, from: reload.id.instance) }
            return self.count(reloads[0].delivery) { $0.deferred += reloads.count }
        }
        self.deliveries[number] = Delivery(reloads: reloads, target: target)
    }
}

// MARK: - A try

extension DeliveryMachine {
    private mutating func askForPushes(_ number: DeliveryNumber) {
        guard let delivery = self.deliveries[number] else { return }
        self.deliveries[number]?.stage = .asking
        self.actions.append(.findPushes(number, delivery.host, delivery.reloads.map(\.id)))
    }

    /// Takes the result of ``DeliveryAction/findPushes(_:_:_:)``, in the order of the question; nil if the engine did
    /// not answer.
    package mutating func takePushes(_ pushes: [OutgoingPush?]?, for number: DeliveryNumber, now: Instant) {
        guard let delivery = self.deliveries[number] else { return }
        switch (delivery.stage, pushes) {
        case (.waiting, _), (.sending, _), (.logging, _), (.awaitingLog, _): return
        case (_, nil): self.again(number, at: now + .seconds(1))
        case (.asking, let pushes?): self.begin(number, delivery, pushes, now: now)
        case (.askingForToken(let request, let reason), let pushes?):
            let isOther = pushes.compactMap(\.self).contains { $0.token != request.token }
            if isOther { self.again(number, at: now) } else { self.report(.refused(reason: reason), of: request) }
        }
    }

    private mutating func begin(_ number: DeliveryNumber, _ asked: Delivery, _ pushes: [OutgoingPush?], now: Instant) {
        var live: [ReloadEffect] = []
        // Those whose token has become another one than the others'.
        var others: [ReloadEffect] = []
        var merged: OutgoingPush?
        for (reload, found) in zip(asked.reloads, pushes) {
            guard let found, found.expiresAt > now else { continue }
            guard var push = merged else {
                (merged, live) = (found, [reload])
                continue
            }
            guard asked.way != .apns || found.token == push.token else {
                others.append(reload)
                continue
            }
            // One of them that may wait is enough.
            push.mayWait = push.mayWait || found.mayWait
            merged = push
            live.append(reload)
        }
        self.drop(asked.reloads.filter { !live.contains($0) && !others.contains($0) }, of: asked)
        guard let push = merged, let expiresAt = live.map(\.expiresAt).min() else { return self.end(number, of: []) }
        if !others.isEmpty { self.add(others, now: now) }
        self.deliveries[number]?.reloads = live
        let request = DeliveryRequest(
            number: number,
            tryNumber: asked.tries + 1,
            id: Self.id(of: live[0], token: asked.way == .apns ? push.token : nil),
            target: asked.target,
            reloads: live,
            push: push,
            begunAt: now,
            expiresAt: expiresAt,
            timeout: min(self.settings.requestTimeout, expiresAt - now)
        )
        guard self.destinations[asked.target] != nil else {
            self.count(asked.way) {
                $0.refused += 1
                $0.lastRefusal = .init("no \(asked.target.kind.rawValue)", at: now)
            }
            return self.report(.refused(reason: "the app has no \(asked.target.kind.rawValue) any more"), of: request)
        }
        self.count(asked.way) { $0.tries += 1 }
        self.deliveries[number]?.tries += 1
        self.deliveries[number]?.stage = .sending(request)
        self.actions.append(.send(request))
    }

    /// Some reloads of a delivery were not wanted any more when their turn came.
    private mutating func drop(_ reloads: [ReloadEffect], of delivery: Delivery) {
        guard !reloads.isEmpty else { return }
        self.count(delivery.way) { $0.dropped += reloads.count }
        self.passBy(reloads)
    }

    /// Forgets reloads that cannot be delivered, although the engine may still have them.
    private mutating func passBy(_ reloads: [ReloadEffect]) {
        if !self.behind.isEmpty || self.question != .answered { self.passed.formUnion(reloads.map(\.id)) }
        self.forget(reloads)
    }

    /// The id of a delivery: a pure function of its decision and its destination, so that a repeat after a restart has
    /// the same, whatever is left of it by then. A webhook may get its reloads in several deliveries, so there it is
    /// the first reload's.
    package static func id(of reload: ReloadEffect, token: DeviceToken?) -> PushID {
        var hash = StableHash()
        hash.combine(UInt64(reload.id.partition.rawValue))
        hash.combine(reload.id.position.rawValue)
        hash.combine(reload.host)
        if let token {
            hash.combine(token.bytes.span)
        } else {
            hash.combine(UInt64(reload.id.instance.raw) << 32 | UInt64(reload.id.check))
        }
        return PushID(of: hash)
    }
}

// MARK: - Answers

extension DeliveryMachine {
    /// Takes the result of a request.
    ///
    /// - Parameter tryNumber: The number of the request's try: the result of an earlier try no longer counts.
    package mutating func takeAnswer(
        _ answer: DeliveryAnswer,
        to number: DeliveryNumber,
        try tryNumber: Int,
        now: Instant
    ) {
        guard let delivery = self.deliveries[number], case .sending(let request) = delivery.stage,
            request.tryNumber == tryNumber
        else { return }
        let verdict = DeliveryVerdict(answer, to: request, self.settings.retries, self.reader)
        guard !self.schedule.isOutdated(number) else {
            // It says nothing of the next try's place, or of the credentials that are shown there.
            switch verdict {
            case .again, .destinationInTrouble: return self.again(number, at: now)
            case .delivered, .refused, .gone: return self.takeVerdict(verdict, of: request, now: now)
            }
        }
        if let destination = self.destinations[request.target] {
            if case .destinationInTrouble(let wait, _, _) = verdict {
                self.schedule.hold(destination, until: now + wait)
            }
            self.noteHealth(verdict.health(of: answer, at: now), of: destination)
        }
        self.takeVerdict(verdict, of: request, now: now)
    }

    private mutating func takeVerdict(_ verdict: DeliveryVerdict, of request: DeliveryRequest, now: Instant) {
        let way = request.reloads[0].delivery
        switch verdict {
        case .delivered:
            self.count(way) { $0.delivered += 1 }
            self.report(.acknowledged, of: request)
        case .refused(let reason):
            self.count(way) {
                $0.refused += 1
                $0.lastRefusal = .init(reason, at: now)
            }
            self.report(.refused(reason: reason), of: request)
        case .gone(let reason, let since):
            self.count(way) {
                $0.gone += 1
                $0.lastRefusal = .init(reason, at: now)
            }
            self.removeToken(of: request, reason, since)
        case .again(let wait, _):
            self.count(way) { $0.again += 1 }
            self.again(request.number, at: now + wait)
        case .destinationInTrouble(let wait, let reason, let renewsToken):
            self.count(way) {
                $0.troubles += 1
                $0.lastTrouble = .init(reason, at: now)
            }
            if renewsToken { self.actions.append(.renewProviderToken(request.app)) }
            self.again(request.number, at: now + wait)
        }
    }

    /// Takes away the token that the upstream calls invalid, unless it was registered later than that, and tries again if
    /// the host has another.
    private mutating func removeToken(of request: DeliveryRequest, _ reason: String, _ since: Instant?) {
        guard let token = request.token else { return self.report(.refused(reason: reason), of: request) }
        self.actions.append(.tellInvalidToken(request.app, token, reason: reason))
        let removal = HostRemoval(
            host: request.reloads[0].host,
            token: token,
            notRegisteredSince: since ?? request.begunAt
        )
        self.log([.unregister(removal)], of: request.number, then: .askForToken(request, reason: reason))
    }

    private mutating func report(_ result: DeliveryReport.Result, of request: DeliveryRequest) {
        let reports = request.reloads.map { reload in
            Record.delivery(DeliveryReport(host: reload.host, reload: reload.id, result: result))
        }
        self.log(reports, of: request.number, then: .end)
    }

    private mutating func log(_ records: [Record], of number: DeliveryNumber, then next: Continuation) {
        guard var delivery = self.deliveries[number] else { return }
        delivery.stage = .logging(records, then: next)
        delivery.logTries += 1
        self.deliveries[number] = delivery
        self.actions.append(.log(number, try: delivery.logTries, delivery.host, records))
    }

    /// Records are applied, or were not taken: they are logged however long that takes, since sending the request again instead
    /// would deliver it twice.
    ///
    /// - Parameter tryNumber: As ``DeliveryAction/log(_:try:_:_:)`` names it: the result of each try counts once.
    package mutating func logged(_ number: DeliveryNumber, try tryNumber: Int, isLogged: Bool) {
        guard let delivery = self.deliveries[number], case .logging(let records, let next) = delivery.stage,
            delivery.logTries == tryNumber
        else { return }
        guard isLogged else {
            self.deliveries[number]?.stage = .awaitingLog(records, then: next)
            if !self.isStopped { self.actions.append(.awaitLog(number)) }
            return
        }
        switch next {
        case .end: self.end(number, of: delivery.reloads)
        case .askForToken(let request, let reason):
            self.deliveries[number]?.stage = .askingForToken(request, reason: reason)
            self.actions.append(.findPushes(number, delivery.host, delivery.reloads.map(\.id)))
        }
    }

    /// The time to wait for the log is over.
    package mutating func retryLog(_ number: DeliveryNumber) {
        guard case .awaitingLog(let records, let next)? = self.deliveries[number]?.stage else { return }
        self.log(records, of: number, then: next)
    }

    private mutating func again(_ number: DeliveryNumber, at instant: Instant) {
        self.deliveries[number]?.stage = .waiting
        self.schedule.again(number, at: instant)
    }

    private mutating func end(_ number: DeliveryNumber, of reloads: [ReloadEffect]) {
        self.schedule.end(number)
        self.deliveries[number] = nil
        self.forget(reloads)
    }

    private mutating func forget(_ reloads: [ReloadEffect]) {
        guard !reloads.isEmpty else { return }
        for reload in reloads { self.known.remove(reload.id) }
        self.actions.append(.forget(reloads.map(\.id)))
    }

    private mutating func count(_ way: HostDelivery, _ change: (inout DeliveryCounters) -> Void) {
        change(&self.counters[way, default: DeliveryCounters()])
    }
}
