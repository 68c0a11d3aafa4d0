import Ownership
import TestSupport
import WidgetModel

@testable import Engine

/// A receipt machine, and a stand-in for the engines: a list of completed pushes for each partition.
struct ReceiptDesk {
    static let app = BundleID("com.example.scores")

    private struct Partition {
        var completed: [PushView] = []
        /// Of these, the ones before it are gone.
        var first = 0
    }

    var machine: ReceiptMachine
    private var partitions: [Partition]
    var now = Instant(seconds: 1_793_638_800)
    /// The places that were stored last.
    private(set) var stored: [BundleID: [CompletionPlace?]] = [:]
    /// The changes of receivers' health that people were told.
    private(set) var told: [TargetHealth.Change] = []
    private let settings: ReceiptMachine.Settings

    init(partitions: Int, _ change: (inout ReceiptMachine.Settings) -> Void = { _ in }) {
        var settings = ReceiptMachine.Settings()
        change(&settings)
        self.settings = settings
        self.machine = ReceiptMachine(partitions: partitions, settings)
        self.machine.setApps([Self.app])
        self.partitions = Array(repeating: Partition(), count: partitions)
    }

    /// The process dies and is started anew.
    mutating func crash() {
        self.machine = ReceiptMachine(partitions: self.partitions.count, self.settings)
        self.machine.setApps([Self.app], stored: self.stored)
    }

    mutating func complete(_ number: UInt64, in partition: Int, isForApp: Bool = false, matched: Int = 1) {
        let view = self.view(number, isForApp: isForApp, matched: matched, completedAt: self.now)
        self.partitions[partition].completed.append(view)
        self.machine.noteApplied()
    }

    private func view(_ number: UInt64, isForApp: Bool, matched: Int, completedAt: Instant?) -> PushView {
        var counts = OutcomeCounts()
        counts[completedAt == nil ? .deferred : .reloaded] = matched
        return PushView(
            id: PushID(high: 0, low: number),
            team: TeamID("ABCDE12345"),
            app: Self.app,
            contentHash: number,
            position: LogPosition(number),
            acceptedAt: self.now - .minutes(1),
            priority: .high,
            expiresAt: self.now,
            notBefore: nil,
            matched: matched,
            counts: counts,
            repeats: 0,
            isForApp: isForApp,
            isApplied: true,
            failure: nil,
            completedAt: completedAt
        )
    }

    mutating func forgetAll(in partition: Int) {
        self.partitions[partition].first = self.partitions[partition].completed.count
    }

    /// Does everything that is to be done now; the requests that were sent, each answered with the same.
    @discardableResult
    mutating func run(answering answer: DeliveryAnswer? = nil) -> [ReceiptRequest] {
        var requests: [ReceiptRequest] = []
        while let action = self.machine.next(now: self.now) {
            if case .send(let request) = action { requests.append(request) }
            self.perform(action, answer)
        }
        return requests
    }

    /// Lets time pass until something is due; how long that was.
    mutating func pass() -> Interval {
        let due = self.machine.nextDue.map { max($0, self.now) } ?? self.now
        defer { self.now = due }
        return due - self.now
    }

    mutating func perform(_ action: ReceiptAction, _ answer: DeliveryAnswer?) {
        switch action {
        case .find(let app, let partition, let place, let limit):
            let page = self.page(of: Int(partition.rawValue), after: place, limit: limit)
            self.machine.takePage(page, of: partition, for: app, now: self.now)
        case .findParts(let app, let ids):
            // Where it has not completed, it waits.
            let parts = self.partitions.map { partition in
                ids.map { id in
                    partition.completed.first { $0.id == id }
                        ?? self.view(id.low, isForApp: true, matched: 1, completedAt: nil)
                }
            }
            self.machine.takeParts(parts, for: app, now: self.now)
        case .send(let request):
            guard let answer else { return }
            self.machine.takeAnswer(answer, to: request, now: self.now)
        case .store(let places):
            self.stored = places
            self.machine.stored(now: self.now)
        case .tellHealth(let change, _): self.told.append(change)
        case .tellGap: break
        }
    }

    private func page(of index: Int, after place: CompletionPlace?, limit: Int) -> CompletedPushesPage {
        let partition = self.partitions[index]
        guard let place else {
            return CompletedPushesPage(next: self.place(index, partition.completed.count), isLast: true)
        }
        let wanted = place.push.isNone ? 0 : place.push.index + 1
        let start = max(wanted, partition.first)
        let end = min(partition.completed.count, start + limit)
        return CompletedPushesPage(
            pushes: Array(partition.completed[start..<end]),
            next: self.place(index, end),
            isLast: end == partition.completed.count,
            mayMiss: wanted < partition.first
        )
    }

    /// The place behind the first `count` that completed.
    private func place(_ index: Int, _ count: Int) -> CompletionPlace {
        let last = count > 0 ? self.partitions[index].completed[count - 1] : nil
        return CompletionPlace(
            push: last == nil ? .none : PushNumber(count - 1),
            id: last?.id ?? PushID(high: 0, low: 0),
            contentHash: last?.contentHash ?? 0,
            position: last?.position ?? .start,
            completedAt: last?.completedAt ?? .epoch,
            asOf: self.now
        )
    }
}

extension PushReceipt {
    /// The number that the push was made with.
    var id: UInt64 { self.parts[0].id.low }
}

/// A random day of receipts: pushes complete in any partition at any time, receivers fail, and the process dies.
struct ReceiptRun {
    private static let partitions = 3

    private var dice: SplitMix64
    private var desk: ReceiptDesk
    /// Those for a host, by partition in their order; and those for an app, with the partitions that have completed them.
    private var ofHosts: [[UInt64]]
    private var ofApps: [UInt64: Set<Int>] = [:]
    private var last: UInt64 = 0
    private var told: [PushReceipt] = []
    private var crashes = 0
    private(set) var faults: [String] = []

    init(seed: UInt64) {
        self.dice = SplitMix64(seed: seed)
        self.desk = ReceiptDesk(partitions: Self.partitions) { $0.batchMax = 4 }
        self.ofHosts = Array(repeating: [], count: Self.partitions)
        self.desk.run()
    }

    mutating func play() {
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &self.dice) {
            case 0...4: self.complete()
            case 5: self.desk.now = self.desk.now + .milliseconds(Int64.random(in: 0..<3000, using: &self.dice))
            case 6: _ = self.desk.pass()
            case 7 where Int.random(in: 0..<4, using: &self.dice) == 0:
                self.desk.crash()
                self.crashes += 1
            default: self.act(isWell: false)
            }
        }
        self.end()
        self.check()
    }

    private mutating func complete() {
        let partition = Int.random(in: 0..<Self.partitions, using: &self.dice)
        // At another instant each time, so that nothing has to be told twice.
        self.desk.now = self.desk.now + .milliseconds(1)
        let open = self.ofApps.filter { !$0.value.contains(partition) }.keys.min()
        if let open, Int.random(in: 0..<2, using: &self.dice) == 0 {
            self.desk.complete(open, in: partition, isForApp: true)
            self.ofApps[open]?.insert(partition)
            return
        }
        self.last += 1
        if Int.random(in: 0..<2, using: &self.dice) == 0 {
            self.desk.complete(self.last, in: partition, isForApp: true)
            self.ofApps[self.last] = [partition]
        } else {
            self.desk.complete(self.last, in: partition)
            self.ofHosts[partition].append(self.last)
        }
    }

    /// Does one thing that is to be done, well or badly.
    private mutating func act(isWell: Bool) {
        guard let action = self.desk.machine.next(now: self.desk.now) else { return }
        guard case .send(let request) = action else { return self.desk.perform(action, nil) }
        let luck = isWell ? 0 : Int.random(in: 0..<4, using: &self.dice)
        // The receiver may have it although its answer is lost.
        if luck < 2 { self.told += request.receipts }
        let status = luck == 0 ? 200 : luck == 1 ? 504 : luck == 2 ? 400 : 503
        self.desk.perform(action, .response(DeliveryResponse(status: status)))
        if luck == 1 || luck == 2 { self.crashes += 1 }
    }

    private mutating func end() {
        for (number, partitions) in self.ofApps.sorted(by: { $0.key < $1.key }) {
            for partition in 0..<Self.partitions where !partitions.contains(partition) {
                self.desk.now = self.desk.now + .milliseconds(1)
                self.desk.complete(number, in: partition, isForApp: true)
            }
        }
        for _ in 0..<10_000 {
            self.act(isWell: true)
            if self.desk.pass() == .zero, self.desk.machine.nextDue == nil { break }
        }
        self.desk.now = self.desk.now + .hours(1)
        for _ in 0..<1000 { self.act(isWell: true) }
    }

    private mutating func check() {
        let ids = self.told.map(\.id)
        let all = Set(self.ofHosts.joined()).union(self.ofApps.keys)
        if Set(ids) != all { self.faults.append("\(all.subtracting(ids).sorted()) were not told") }
        if self.crashes == 0, ids.count != all.count {
            self.faults.append("something was told twice without any reason")
        }
        for receipt in self.told where self.ofApps[receipt.id] != nil && receipt.parts.count != Self.partitions {
            self.faults.append("\(receipt.id) was told by \(receipt.parts.count) partitions")
        }
        for numbers in self.ofHosts {
            var seen: Set<UInt64> = []
            let first = ids.filter { numbers.contains($0) && seen.insert($0).inserted }
            if first != numbers { self.faults.append("\(first) was told, \(numbers) was the order") }
        }
    }
}
