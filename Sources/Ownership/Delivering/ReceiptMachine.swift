package import Engine
package import WidgetModel

/// Sends receipts, as a value: it chooses the partition to ask, each request and its time, and the place to go on from.
///
/// It takes events, and ``next(now:)`` gives one ``ReceiptAction`` after the other, as a ``DeliveryMachine`` does. The engines have the
/// completed pushes, in the order of their completion. This value has a place in each partition up to which each app's receiver was told,
/// and one request for each receiver.
///
/// Its rules:
/// - A receiver has one request under way at most, and the next begins where it was told to.
/// - A request that was not taken is sent again, later each time and never otherwise, until it is.
/// - Places move on once a request was taken, and are stored before the next is sent. After a crash, receipts behind the stored places are
///   sent again; those before them are not.
/// - A push for an app is in every partition. It is told where it is found last, so that all have completed it.
package struct ReceiptMachine: Sendable {
    /// Its settings; each may change at any time.
    package struct Settings: Hashable, Sendable {
        /// Receipts in one request. Default 500.
        package var batchMax = 500
        /// From one look for completed pushes to the next, so that receipts come in batches. Default 1 s.
        package var interval = Interval.seconds(1)
        package var retries = DeliveryRetries()
        /// How long a request may take. Default 30 s.
        package var requestTimeout = Interval.seconds(30)

        package init() {}
    }

    /// How far an app's receiver is.
    ///
    /// ```
    ///   resting ──▶ finding ──▶ joining ──▶ sending ──▶ storing ──▶ resting
    ///                  ▲           │         │    ▲
    ///                  └───────────┘         ▼    │
    ///                                       waiting
    /// ```
    private enum Stage: Sendable {
        case resting
        /// A partition is asked for completed pushes.
        case finding(PartitionID)
        /// All partitions are asked about the pushes for the app among these. The place is the one before.
        case joining(CompletedPushesPage, PartitionID, CompletionPlace)
        case sending
        case waiting(until: Instant)
        case storing
    }

    private struct Receiver: Sendable {
        /// How far each partition's pushes were looked at; nil before the first look.
        var places: [CompletionPlace?]
        /// The places that are stored, or are to be: nothing behind them was told.
        var told: [CompletionPlace?]
        var stage = Stage.resting
        var batch: [PushReceipt] = []
        var mayMiss = false
        /// Whether something may have completed since the last look.
        var isWanted = true
        /// When the next look is at the earliest.
        var looksAt = Instant.epoch
        var storedAt = Instant.epoch
        var tries = 0
        var health = TargetHealth()
        var counters = ReceiptCounters()

        init(_ places: [CompletionPlace?]) { (self.places, self.told) = (places, places) }
    }

    /// How often places are stored that have only moved past pushes of other apps.
    private static let storingMin = Interval.minutes(1)

    package var settings: Settings
    private let partitions: Int
    private var receivers: [BundleID: Receiver] = [:]
    /// Those that the store under way is for; empty if there is none.
    private var storing: Set<BundleID> = []
    private var isStopped = false
    private var actions: ArraySlice<ReceiptAction> = []

    /// - Parameter partitions: How many partitions have pushes.
    package init(partitions: Int, _ settings: Settings = Settings()) {
        (self.partitions, self.settings) = (partitions, settings)
    }

    /// The apps whose senders are told.
    package var apps: [BundleID] { self.receivers.keys.sorted() }
}

// MARK: - Actions

extension ReceiptMachine {
    /// The next action; nil if there is none before ``nextDue``, or before another event.
    package mutating func next(now: Instant) -> ReceiptAction? {
        if let action = self.actions.popFirst() { return action }
        guard !self.isStopped else { return nil }
        for app in self.apps { self.step(app, now) }
        self.store()
        return self.actions.popFirst()
    }

    /// Stores the places of all who wait for that, in one go: one store at a time.
    private mutating func store() {
        guard self.storing.isEmpty else { return }
        for (app, receiver) in self.receivers {
            if case .storing = receiver.stage { self.storing.insert(app) }
        }
        if !self.storing.isEmpty { self.actions.append(.store(self.receivers.mapValues(\.told))) }
    }

    private mutating func step(_ app: BundleID, _ now: Instant) {
        guard let receiver = self.receivers[app] else { return }
        if let change = self.receivers[app]?.health.look(at: now) { self.actions.append(.tellHealth(change, app)) }
        switch receiver.stage {
        case .resting where receiver.isWanted && receiver.looksAt <= now:
            self.receivers[app]?.isWanted = false
            self.receivers[app]?.looksAt = now + self.settings.interval
            self.find(app, PartitionID(0))
        case .waiting(let until) where until <= now: self.send(app, now)
        case .resting, .finding, .joining, .sending, .waiting, .storing: break
        }
    }

    /// When there is something to do without anything else happening; nil if never.
    package var nextDue: Instant? {
        guard !self.isStopped else { return nil }
        return self.receivers.values.flatMap { receiver -> [Instant] in
            let due: Instant? =
                switch receiver.stage {
                case .resting: receiver.isWanted ? receiver.looksAt : nil
                case .waiting(let until): until
                case .finding, .joining, .sending, .storing: nil
                }
            return [due, receiver.health.looksAt].compactMap(\.self)
        }.min()
    }

    /// Starts nothing any more. The requests in work are given up; their receipts are told after the next start.
    package mutating func stop() {
        self.isStopped = true
        self.actions = []
    }
}

// MARK: - Events

extension ReceiptMachine {
    /// From now on the senders of these apps are told, and no others: of pushes that complete after the first look, or after the stored
    /// places.
    ///
    /// - Parameter stored: The places that were stored last. They count for apps that are not known yet.
    package mutating func setApps(_ apps: Set<BundleID>, stored: [BundleID: [CompletionPlace?]] = [:]) {
        self.receivers = self.receivers.filter { apps.contains($0.key) }
        for app in apps where self.receivers[app] == nil {
            let places = stored[app].flatMap { $0.count == self.partitions ? $0 : nil }
            self.receivers[app] = Receiver(places ?? Array(repeating: nil, count: self.partitions))
        }
    }

    /// Something was applied: a push may have completed.
    package mutating func noteApplied() {
        for app in self.receivers.keys { self.receivers[app]?.isWanted = true }
    }

    /// Tries at once the requests that wait for some receivers.
    package mutating func tryNow(_ apps: Set<BundleID>, now: Instant) {
        for app in apps {
            guard case .waiting? = self.receivers[app]?.stage else { continue }
            self.receivers[app]?.stage = .waiting(until: now)
        }
    }

    /// Tries at once the requests that wait for the receivers that failed last.
    package mutating func tryFailing(now: Instant) {
        self.tryNow(Set(self.receivers.filter { $0.value.health.isFailing }.keys), now: now)
    }

    /// The health of each receiver. The waiting receipts are those of the request under way.
    package func views(now: Instant) -> [BundleID: ReceiptView] {
        self.receivers.mapValues { receiver in
            var heldUntil: Instant?
            if case .waiting(let until) = receiver.stage, until > now { heldUntil = until }
            let target = TargetView(
                health: receiver.health,
                heldUntil: heldUntil,
                waiting: receiver.batch.count,
                oldest: receiver.batch.map(\.completedAt).min()
            )
            return ReceiptView(target: target, counters: receiver.counters)
        }
    }
}

// MARK: - Looking for completed pushes

extension ReceiptMachine {
    private mutating func find(_ app: BundleID, _ partition: PartitionID) {
        guard let receiver = self.receivers[app] else { return }
        let room = max(1, self.settings.batchMax - receiver.batch.count)
        self.receivers[app]?.stage = .finding(partition)
        self.actions.append(.find(app, partition, after: receiver.places[Int(partition.rawValue)], limit: room))
    }

    /// Takes the page that ``ReceiptAction/find(_:_:after:limit:)`` has found; nil if the partition does not answer.
    package mutating func takePage(
        _ page: CompletedPushesPage?,
        of partition: PartitionID,
        for app: BundleID,
        now: Instant
    ) {
        guard case .finding(partition)? = self.receivers[app]?.stage else { return }
        guard let page else { return self.goOn(app, behind: partition, isLast: true, again: true, now: now) }
        let index = Int(partition.rawValue)
        let before = self.receivers[app]?.places[index]
        self.receivers[app]?.places[index] = page.next
        if page.mayMiss {
            self.receivers[app]?.mayMiss = true
            self.receivers[app]?.counters.gaps += 1
            self.actions.append(.tellGap(app, partition))
        }
        let ids = page.pushes.filter(\.isForApp).map(\.id)
        guard ids.isEmpty else {
            self.receivers[app]?.stage = .joining(page, partition, before.flatMap(\.self) ?? page.next)
            self.actions.append(.findParts(app, ids))
            return
        }
        self.receivers[app]?.batch += page.pushes.map { PushReceipt([$0]) }
        self.goOn(app, behind: partition, isLast: page.isLast, now: now)
    }

    /// Takes the parts that ``ReceiptAction/findParts(_:_:)`` has found, by partition; nil if one does not answer.
    package mutating func takeParts(_ parts: [[PushView]]?, for app: BundleID, now: Instant) {
        guard let receiver = self.receivers[app], case .joining(let page, let partition, let before) = receiver.stage
        else { return }
        guard let parts, parts.count == self.partitions else {
            // They are found again.
            self.receivers[app]?.places[Int(partition.rawValue)] = before
            return self.goOn(app, behind: partition, isLast: true, again: true, now: now)
        }
        for push in page.pushes {
            guard push.isForApp else {
                self.receivers[app]?.batch.append(PushReceipt([push]))
                continue
            }
            let all = parts.map { views in views.first { $0.isPart(of: push) } }
            let isLast = all.indices.allSatisfy { index in
                index == Int(partition.rawValue) || Self.isPassed(all[index], receiver.places[index], push)
            }
            if isLast { self.receivers[app]?.batch.append(PushReceipt(all.compactMap(\.self))) }
        }
        self.goOn(app, behind: partition, isLast: page.isLast, now: now)
    }

    /// Whether another partition's part of a push for an app is complete and before that partition's place: else it will be
    /// found there, later than here. A part that completed there at the very instant of the place may not be passed yet: such a push may be
    /// told twice, but is always told.
    private static func isPassed(_ part: PushView?, _ place: CompletionPlace?, _ push: PushView) -> Bool {
        guard let place else { return part?.isComplete ?? true }
        guard let part else {
            // It is forgotten there, unless it has not come there yet.
            return place.asOf > push.acceptedAt
        }
        return part.completedAt.map { $0 <= place.completedAt } ?? false
    }

    /// - Parameter again: Whether this partition could not be asked.
    private mutating func goOn(
        _ app: BundleID,
        behind partition: PartitionID,
        isLast: Bool,
        again: Bool = false,
        now: Instant
    ) {
        guard let receiver = self.receivers[app] else { return }
        if again { self.receivers[app]?.isWanted = true }
        if receiver.batch.count >= self.settings.batchMax {
            // There may be more at once.
            self.receivers[app]?.isWanted = true
            self.receivers[app]?.looksAt = now
            return self.send(app, now)
        }
        if !isLast { return self.find(app, partition) }
        let following = Int(partition.rawValue) + 1
        if following < self.partitions { return self.find(app, PartitionID(UInt16(following))) }
        if !receiver.batch.isEmpty || receiver.mayMiss { return self.send(app, now) }
        let isFirst = receiver.told.contains { $0 == nil }
        self.receivers[app]?.told = receiver.places
        let isDue = isFirst || receiver.storedAt + Self.storingMin <= now
        self.receivers[app]?.stage = isDue ? .storing : .resting
    }
}

// MARK: - Telling

extension ReceiptMachine {
    private mutating func send(_ app: BundleID, _ now: Instant) {
        guard let receiver = self.receivers[app] else { return }
        self.receivers[app]?.tries += 1
        self.receivers[app]?.stage = .sending
        self.actions.append(
            .send(
                ReceiptRequest(
                    app: app,
                    tryNumber: receiver.tries + 1,
                    receipts: receiver.batch,
                    mayMiss: receiver.mayMiss,
                    timeout: self.settings.requestTimeout
                )
            )
        )
    }

    /// Takes the answer to a request. An answer to a request that is not under way any more does not count, as after a while without its
    /// app.
    package mutating func takeAnswer(_ answer: DeliveryAnswer, to request: ReceiptRequest, now: Instant) {
        let (app, tryNumber) = (request.app, request.tryNumber)
        guard let receiver = self.receivers[app], case .sending = receiver.stage, receiver.tries == tryNumber,
            receiver.batch == request.receipts
        else { return }
        let seed = StableHash.of(app.rawValue)
        let verdict = DeliveryVerdict(ofWebhook: answer, tries: tryNumber, seed: seed, retries: self.settings.retries)
        if let change = self.receivers[app]?.health.takeAnswer(verdict.health(of: answer, at: now)) {
            self.actions.append(.tellHealth(change, app))
        }
        guard verdict != .delivered else {
            self.receivers[app]?.counters.told += receiver.batch.count
            self.receivers[app]?.told = receiver.places
            self.receivers[app]?.batch = []
            self.receivers[app]?.mayMiss = false
            self.receivers[app]?.tries = 0
            self.receivers[app]?.stage = .storing
            return
        }
        let wait =
            if case .again(let wait, _) = verdict { wait } else {
                // Whatever it says, the outcomes that it was not told yet are not thrown away.
                self.settings.retries.wait(after: tryNumber, seed: seed)
            }
        self.receivers[app]?.stage = .waiting(until: now + wait)
    }

    /// Places are stored, or could not be: then more is told again after a crash.
    package mutating func stored(now: Instant) {
        for app in self.storing {
            guard case .storing? = self.receivers[app]?.stage else { continue }
            self.receivers[app]?.storedAt = now
            self.receivers[app]?.stage = .resting
        }
        self.storing = []
    }
}

extension PushView {
    /// Whether it is the part of the same push for an app in another partition.
    fileprivate func isPart(of push: PushView) -> Bool {
        self.isForApp && self.id == push.id && self.contentHash == push.contentHash && self.team == push.team
            && self.app == push.app
    }
}
