import Engine
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// A gateway's deliverer, and the failures of its surroundings.
extension FaultRun {
    /// Within so many milliseconds a reload that is still out was sent once, however much trouble there is.
    private static let patience: Int64 = 2_400_000

    func deliverer(_ start: Int) -> SimulatedDeliverer? { self.deliverers.first { $0.start == start } }

    /// Reloads were committed that a start of the gateway has to deliver.
    ///
    /// - Parameter since: The entry that it knew.
    mutating func expectDelivery(of reloads: [ReloadEffect], start: Int, since: LogPosition) {
        let due = self.now + Self.patience
        for reload in reloads { self.checker.expect(reload, from: .start(start), by: due, since: since) }
    }

    /// Expects the delivery of reloads that were committed before a start, and are still out.
    mutating func expectOutstanding(of owner: SimulatedOwner) {
        let page = ReloadsQuestion(.undelivered).answer(from: owner.engine)
        let reloads = page.reloads.filter { !owner.unpublished.contains($0.id) }
        self.expectDelivery(of: reloads, start: owner.start, since: owner.applied)
    }

    /// Performs a machine's actions until it has none. Returns whether it had any.
    mutating func follow(_ deliverer: SimulatedDeliverer) -> Bool {
        var isBusy = false
        while !self.isDown, let action = deliverer.machine.next(now: self.clock.now) {
            isBusy = true
            self.perform(action, deliverer)
            if !self.isDown { _ = self.dies(share: 0.2) }
        }
        if !self.isDown { self.planWake(of: deliverer) }
        return isBusy
    }

    /// When a machine is to be called that is due at an instant, in milliseconds, within a day; nil if it is never due, or its call is
    /// planned.
    func wakeTime(_ due: Instant?, planned: Int64?) -> Int64? {
        guard let due else { return nil }
        let at = self.now + min(max((due - self.clock.now).milliseconds, 1), Interval.day.milliseconds)
        return planned.map { $0 <= at } ?? false ? nil : at
    }

    private mutating func planWake(of deliverer: SimulatedDeliverer) {
        guard let at = self.wakeTime(deliverer.machine.nextDue, planned: deliverer.wakesAt) else { return }
        deliverer.wakesAt = at
        self.queue.insert(.wakeDeliverer(start: deliverer.start), at: at)
    }

    private mutating func perform(_ action: DeliveryAction, _ deliverer: SimulatedDeliverer) {
        let start = deliverer.start
        switch action {
        case .findUndelivered(let partition, let first, let limit):
            guard let owner = self.owner(partition, start: start) else {
                return deliverer.machine.takeUndelivered(nil, of: partition, now: self.clock.now)
            }
            deliverer.search = (partition, first, limit)
            owner.machine.askForCheckpoint()
        case .findPushes(let number, let host, let ids):
            let at = self.now + Int64(self.dice.below(self.plan.delayMax))
            self.queue.insert(.findPushes(number, host, ids, start: start), at: at)
        case .send(let request): self.send(self.mutated(request), deliverer)
        case .log(let number, let tryNumber, let host, let records):
            self.log(number, try: tryNumber, host, records, start: start)
        case .awaitLog(let number): self.queue.insert(.logAgain(number, start: start), at: self.now + 1000)
        case .renewProviderToken: self.upstream.isTokenExpired = false
        case .tellHealth(.trouble, _, _): self.checker.noteOccurrence(.upstreamTrouble)
        case .tellHealth(.well, _, _), .forget, .tellInvalidToken: return
        }
    }

    private mutating func send(_ request: DeliveryRequest, _ deliverer: SimulatedDeliverer) {
        if request.tryNumber > 1 { self.checker.noteOccurrence(.retriedDelivery) }
        if deliverer.answered[request.number, default: 0] < request.tryNumber - 1 {
            self.checker.fault("\(request.reloads[0].id) is tried again, and nothing has come of the last try")
        }
        deliverer.tries[request.number] = request.tryNumber
        self.checker.noteSent(request)
        self.transmit(.upstream(request, start: deliverer.start))
        let failure = DeliveryFailure(isFinal: false, reason: "no answer in time", detail: "a fault of the simulation")
        let at = self.now + request.timeout.milliseconds
        self.queue.insert(.upstreamAnswer(.failure(failure), request, start: deliverer.start), at: at)
    }

    /// An answer reaches the deliverer that sent the request.
    mutating func takeAnswer(_ answer: DeliveryAnswer, to request: DeliveryRequest, start: Int) {
        guard let deliverer = self.deliverer(start) else { return }
        deliverer.answered[request.number] = max(deliverer.answered[request.number] ?? 0, request.tryNumber)
        let isTakenTwice = self.mutation == .takesVerdictsTwice
        let tryNumber = isTakenTwice ? deliverer.tries[request.number] ?? request.tryNumber : request.tryNumber
        deliverer.machine.takeAnswer(answer, to: request.number, try: tryNumber, now: self.clock.now)
    }

    // MARK: The log

    private mutating func log(
        _ number: DeliveryNumber,
        try tryNumber: Int,
        _ host: HostKey,
        _ records: [Record],
        start: Int
    ) {
        let partition = PartitionID(of: host, among: FaultWorld.partitions)
        var packed = PackedRecords()
        for record in records {
            if case .unregister(let removal) = record { self.checker.noteRemoved(removal) }
            packed.append(record.bytes)
        }
        let inbox = self.inbox
        self.drawWriteFaults()
        self.journal.append(Submission(partition: partition, records: packed)) { result in
            inbox.append(.reported(start: start, number, try: tryNumber, partition, result))
        }
    }

    /// The journal has called back about a deliverer's records: it is told once they are applied.
    mutating func takeReported(
        _ number: DeliveryNumber,
        try tryNumber: Int,
        _ partition: PartitionID,
        _ result: Result<AppendReceipt, JournalError>,
        start: Int
    ) {
        guard let deliverer = self.deliverer(start) else { return }
        guard case .success(let receipt) = result, let owner = self.owner(partition, start: start) else {
            return deliverer.machine.logged(number, try: tryNumber, isLogged: false)
        }
        deliverer.reported.append(
            .init(number: number, tryNumber: tryNumber, partition: partition, position: receipt.position)
        )
        self.tellApplied(by: owner)
    }

    /// An owner has applied its entries: those who waited for that go on.
    mutating func tellApplied(by owner: SimulatedOwner) {
        guard let deliverer = self.deliverer(owner.start) else { return }
        let applied = owner.applied
        let isDone = { (report: SimulatedDeliverer.Report) in
            report.partition == owner.partition && report.position <= applied
        }
        let done = deliverer.reported.filter(isDone)
        deliverer.reported.removeAll(where: isDone)
        for report in done { deliverer.machine.logged(report.number, try: report.tryNumber, isLogged: true) }
    }

    /// An owner has committed the state that it had when it was asked: tells the deliverer the undelivered reloads of
    /// that state.
    mutating func tellUndelivered(of owner: SimulatedOwner, through position: LogPosition) {
        guard let deliverer = self.deliverer(owner.start), let search = deliverer.search,
            search.partition == owner.partition
        else { return }
        deliverer.search = nil
        let question = ReloadsQuestion(.undelivered, from: search.first, through: position, limit: search.limit)
        let page = question.answer(from: owner.engine)
        self.checker.noteOccurrence(.caughtUp, page.reloads.count)
        deliverer.machine.takeUndelivered(page, of: owner.partition, now: self.clock.now)
    }
}
