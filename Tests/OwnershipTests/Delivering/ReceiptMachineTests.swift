import Ownership
import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// Receipts in virtual time, over partitions that are lists: told in order, again until they are taken, and again after a crash.
@Suite struct ReceiptMachineTests {
    private static func answer(_ status: Int) -> DeliveryAnswer { .response(DeliveryResponse(status: status)) }

    @Test func `what completes is told in one request after a while, and then the place is stored`() {
        var desk = ReceiptDesk(partitions: 2)
        #expect(desk.run() == [], "nothing has completed since the first look")
        #expect(
            desk.stored[ReceiptDesk.app]?.allSatisfy { $0 != nil } == true,
            "what completes now is told after a crash, too"
        )
        for number in 1...3 { desk.complete(UInt64(number), in: number % 2) }
        #expect(desk.run() == [], "they are gathered")
        desk.now = desk.now + .seconds(1)
        let requests = desk.run(answering: Self.answer(204))
        #expect(requests.map { $0.receipts.map(\.id) } == [[2, 1, 3]], "by partition, each in its order")
        #expect(desk.machine.views(now: desk.now)[ReceiptDesk.app]?.counters.told == 3)
        desk.now = desk.now + .hours(1)
        #expect(desk.run() == [])
    }

    @Test func `a request has so many receipts at most, and the next follows at once`() {
        for count in [4, 5, 6] {
            var desk = ReceiptDesk(partitions: 1) { $0.batchMax = 5 }
            desk.run()
            for number in 1...count { desk.complete(UInt64(number), in: 0) }
            desk.now = desk.now + .seconds(1)
            let sizes = desk.run(answering: Self.answer(200)).map(\.receipts.count)
            #expect(sizes == (count > 5 ? [5, 1] : [count]))
        }
    }

    @Test(arguments: [400, 404, 301, 429, 500, 503])
    func `what is not taken is sent again with the same id, later each time, whatever the receiver says`(status: Int) {
        var desk = ReceiptDesk(partitions: 1)
        desk.run()
        desk.complete(1, in: 0)
        desk.now = desk.now + .seconds(1)
        var (requests, times) = ([ReceiptRequest](), [Instant]())
        while requests.count < 12 {
            let sent = desk.run(answering: Self.answer(status))
            requests += sent
            times += sent.map { _ in desk.now }
            desk.complete(UInt64(requests.count + 1), in: 0)
            _ = desk.pass()
        }
        #expect(Set(requests.map(\.id)).count == 1 && requests.map(\.tryNumber) == Array(1...12))
        #expect(requests.allSatisfy { $0.receipts.map(\.id) == [1] }, "what comes later waits, so that the order stays")
        let waits = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(waits[0] <= .seconds(1) && waits[10] >= .minutes(7) && waits[10] <= .minutes(15), "\(waits)")
        let view = desk.machine.views(now: desk.now)[ReceiptDesk.app]?.target
        #expect(view?.health.isInTrouble == true && view?.waiting == 1)
        #expect(desk.told.count == 1, "people are told once")
        let rest = desk.run(answering: Self.answer(200)).flatMap { $0.receipts.map(\.id) }
        #expect(rest.first == 1 && Set(rest) == Set(1...13))
        desk.now = desk.now + TargetHealth.relief
        desk.run()
        #expect(desk.machine.views(now: desk.now)[ReceiptDesk.app]?.target.health.isInTrouble == false)
    }

    @Test func `what waits is tried now, if somebody says so`() {
        var desk = ReceiptDesk(partitions: 1)
        desk.run()
        desk.complete(1, in: 0)
        desk.now = desk.now + .seconds(1)
        for _ in 0..<5 {
            desk.run(answering: Self.answer(500))
            _ = desk.pass()
        }
        desk.run(answering: Self.answer(500))
        #expect(desk.run() == [])
        desk.machine.tryFailing(now: desk.now)
        #expect(desk.run(answering: Self.answer(200)).count == 1)
    }

    @Test func `a push for an app is told once, when the last partition has completed it`() throws {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            var desk = ReceiptDesk(partitions: 3)
            desk.run()
            var told: [ReceiptRequest] = []
            for partition in order {
                #expect(told.isEmpty)
                desk.complete(1, in: partition, isForApp: true, matched: partition)
                desk.now = desk.now + .seconds(1)
                told += desk.run(answering: Self.answer(200))
            }
            #expect(told.count == 1)
            let receipt = try #require(told.first?.receipts.first)
            #expect(receipt.parts.map(\.matched) == [0, 1, 2] && receipt.completedAt == desk.now - .seconds(1))
            desk.now = desk.now + .seconds(10)
            #expect(desk.run() == [])
        }
    }

    @Test func `one that completes everywhere at one instant is told once, too`() {
        var desk = ReceiptDesk(partitions: 3)
        desk.run()
        for partition in 0..<3 { desk.complete(1, in: partition, isForApp: true) }
        desk.now = desk.now + .seconds(1)
        #expect(desk.run(answering: Self.answer(200)).map(\.receipts.count) == [1])
    }

    @Test func `what was forgotten before it was told is said with the next request`() {
        var desk = ReceiptDesk(partitions: 1)
        desk.run()
        desk.complete(1, in: 0)
        desk.forgetAll(in: 0)
        desk.now = desk.now + .seconds(1)
        let requests = desk.run(answering: Self.answer(200))
        #expect(requests.map(\.mayMiss) == [true] && requests[0].receipts.isEmpty)
        #expect(desk.machine.views(now: desk.now)[ReceiptDesk.app]?.counters.gaps == 1)
        desk.complete(2, in: 0)
        desk.now = desk.now + .seconds(1)
        #expect(desk.run(answering: Self.answer(200)).map(\.mayMiss) == [false])
    }

    @Test func `an app that is no longer told costs nothing, and begins anew if it comes back`() {
        var desk = ReceiptDesk(partitions: 1)
        desk.run()
        desk.machine.setApps([])
        desk.complete(1, in: 0)
        desk.now = desk.now + .seconds(1)
        #expect(desk.run() == [] && desk.machine.nextDue == nil)
        desk.machine.setApps([ReceiptDesk.app])
        #expect(desk.run() == [])
        desk.complete(2, in: 0)
        desk.now = desk.now + .seconds(1)
        #expect(desk.run(answering: Self.answer(200)).flatMap { $0.receipts.map(\.id) } == [2])
    }

    @Test func `the answer to a request from before an app was taken out says nothing of a later one`() throws {
        var desk = ReceiptDesk(partitions: 1)
        desk.run()
        desk.complete(1, in: 0)
        desk.now = desk.now + .seconds(1)
        let old = try #require(desk.run().first)
        desk.machine.setApps([])
        desk.machine.setApps([ReceiptDesk.app])
        desk.run()
        desk.complete(2, in: 0)
        desk.now = desk.now + .seconds(1)
        let new = try #require(desk.run().first)
        desk.machine.takeAnswer(Self.answer(200), to: old, now: desk.now)
        #expect(desk.machine.views(now: desk.now)[ReceiptDesk.app]?.target.waiting == 1)
        desk.machine.takeAnswer(Self.answer(200), to: new, now: desk.now)
        #expect(desk.machine.views(now: desk.now)[ReceiptDesk.app]?.target.waiting == 0)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `whatever fails, and whenever it crashes, each push is told, whole and in order`(seed: UInt64) {
        var run = ReceiptRun(seed: seed)
        run.play()
        #expect(run.faults == [], "seed \(seed)")
    }
}
