import Engine
import Ownership
import Testing
import WidgetModel

@Suite struct DeliveryMachineTests {
    private static let partition = PartitionID(0)

    private static func page(_ reloads: [ReloadEffect], next: UInt32? = nil) -> ReloadsPage {
        ReloadsPage(reloads: reloads, next: next.map { InstanceNumber(raw: $0) }, through: LogPosition(.max))
    }

    private static func report(_ reload: ReloadEffect, _ result: DeliveryReport.Result) -> Record {
        .delivery(DeliveryReport(host: reload.host, reload: reload.id, result: result))
    }

    @Test func `a reload is looked up, sent, logged, and then forgotten`() {
        var desk = DeliveryDesk()
        let reload = desk.reload(1)
        desk.machine.takeReloads([reload, desk.reload(2, .stream)], now: desk.now)
        #expect(desk.actions() == [.findPushes(1, reload.host, [reload.id])])
        desk.machine.takePushes([desk.push()], for: 1, now: desk.now)
        guard case .send(let request)? = desk.machine.next(now: desk.now) else {
            Issue.record("nothing is sent")
            return
        }
        #expect(request.token == DeviceToken(bytes: Array("token".utf8)) && request.reloads == [reload])
        #expect(request.timeout == .seconds(30) && request.expiresAt == reload.expiresAt)
        desk.answer(request, 200)
        #expect(desk.actions() == [.log(1, try: 1, reload.host, [Self.report(reload, .acknowledged)])])
        // Until it is logged it is known.
        desk.machine.takeReloads([reload], now: desk.now)
        #expect(desk.actions() == [])
        desk.machine.logged(1, try: 1, isLogged: true)
        #expect(desk.actions() == [.forget([reload.id])])
        #expect(desk.machine.counts == (0, 0) && desk.machine.counters[.apns]?.delivered == 1)
    }

    @Test func `what another gateway has is let go of, whatever it was doing, and taken up again when it comes back`() {
        var desk = DeliveryDesk()
        let reload = desk.reload(1)
        desk.machine.takeReloads([reload], now: desk.now)
        guard case .findPushes? = desk.machine.next(now: desk.now) else {
            Issue.record("it is not looked up")
            return
        }
        desk.machine.letGo(reload.id.partition)
        #expect(desk.actions() == [.forget([reload.id])] && desk.machine.counts == (0, 0))
        // The answer comes too late.
        desk.machine.takePushes([desk.push()], for: 1, now: desk.now)
        #expect(desk.actions() == [])
        desk.machine.takeUp(reload.id.partition)
        guard case .findUndelivered(let partition, let first, _)? = desk.machine.next(now: desk.now) else {
            Issue.record("it is not searched for")
            return
        }
        #expect(partition == reload.id.partition && first == InstanceNumber(raw: 0))
        desk.machine.takeUndelivered(Self.page([reload]), of: partition, now: desk.now)
        #expect(desk.requests().map(\.reloads) == [[reload]])
    }

    @Test func `an answer about a partition that has gone meanwhile is of no use`() {
        var desk = DeliveryDesk()
        let reload = desk.reload(1)
        let partition = reload.id.partition
        desk.machine.takeUp(partition)
        #expect(desk.searches().count == 1)
        desk.machine.letGo(partition)
        desk.machine.takeUp(partition)
        #expect(desk.searches() == [])
        desk.machine.takeUndelivered(Self.page([reload]), of: partition, now: desk.now)
        #expect(desk.machine.counts == (0, 0))
        #expect(desk.searches().count == 1)
        desk.machine.takeUndelivered(Self.page([reload]), of: partition, now: desk.now)
        #expect(desk.requests().map(\.reloads) == [[reload]])
    }

    @Test func `those of one host, position and token are one request; other hosts and positions are others`() {
        var desk = DeliveryDesk()
        let reloads = [
            desk.reload(1), desk.reload(2), desk.reload(3, at: 8), desk.reload(4, host: "tablet"),
            desk.reload(5, host: "desk", .webhook),
        ]
        desk.machine.takeReloads(reloads, now: desk.now)
        let requests = desk.requests()
        #expect(requests.map { $0.reloads.map(\.id.instance.raw) } == [[1, 2], [3], [4], [5]])
        #expect(requests.map(\.target.kind) == [.upstream, .upstream, .upstream, .webhook])
        #expect(requests.map { $0.token == nil } == [false, false, false, true])
        #expect(Set(requests.map(\.id)).count == 4)
    }

    @Test func `one whose token has become another goes by itself, under an id of its own`() {
        var desk = DeliveryDesk()
        desk.machine.takeReloads([desk.reload(1), desk.reload(2), desk.reload(3)], now: desk.now)
        _ = desk.actions()
        let pushes = [desk.push(to: "old", mayWait: false), desk.push(to: "new"), desk.push(to: "old")]
        desk.machine.takePushes(pushes, for: 1, now: desk.now)
        let requests = desk.requests(desk.push(to: "new"))
        #expect(requests.map { $0.reloads.map(\.id.instance.raw) } == [[1, 3], [2]])
        #expect(requests.map { $0.token?.bytes } == [Array("old".utf8), Array("new".utf8)])
        #expect(requests[0].id != requests[1].id)
        // One that may wait is enough.
        #expect(requests[0].push.mayWait)
    }

    @Test func `every try has the same id, and so has one after a restart, whatever is left of it`() {
        var desk = DeliveryDesk()
        desk.machine.takeReloads([desk.reload(1), desk.reload(2)], now: desk.now)
        let first = desk.requests()
        desk.answer(first[0], 503)
        desk.now = desk.now + .hours(1) - .milliseconds(1)
        let second = desk.requests()
        #expect(second.map(\.tryNumber) == [2] && second.map(\.id) == first.map(\.id))
        var restarted = DeliveryDesk()
        restarted.machine.takeReloads([restarted.reload(2)], now: restarted.now)
        #expect(restarted.requests().map(\.id) == first.map(\.id))
    }

    @Test func `what comes of an earlier try says nothing, nor does what comes twice`() {
        var desk = DeliveryDesk()
        desk.machine.takeReloads([desk.reload(1)], now: desk.now)
        let first = desk.requests()[0]
        desk.answer(first, 503)
        desk.answer(first, 410, "Unregistered")
        desk.now = desk.now + .seconds(5)
        let second = desk.requests()[0]
        desk.answer(first, 410, "Unregistered")
        #expect(desk.actions() == [])
        desk.answer(second, 200)
        desk.answer(second, 410, "Unregistered")
        #expect(
            desk.actions() == [.log(1, try: 1, second.reloads[0].host, [Self.report(second.reloads[0], .acknowledged)])]
        )
    }

    @Test func `what became of it is logged however long that takes`() {
        var desk = DeliveryDesk()
        let reload = desk.reload(1)
        desk.machine.takeReloads([reload], now: desk.now)
        desk.answer(desk.requests()[0], 200)
        let report = Self.report(reload, .acknowledged)
        #expect(desk.actions() == [.log(1, try: 1, reload.host, [report])])
        // Also behind its expiration.
        desk.now = desk.now + .hours(2)
        for tryNumber in 1...3 {
            desk.machine.logged(1, try: tryNumber, isLogged: false)
            #expect(desk.actions() == [.awaitLog(1)])
            desk.machine.retryLog(1)
            #expect(desk.actions() == [.log(1, try: tryNumber + 1, reload.host, [report])])
        }
        desk.machine.logged(1, try: 4, isLogged: true)
        #expect(desk.actions() == [.forget([reload.id])])
        desk.machine.retryLog(1)
        desk.machine.logged(1, try: 4, isLogged: true)
        #expect(desk.actions() == [])
    }

    @Test func `the log's answer counts once, however often and late it comes`() {
        var desk = DeliveryDesk()
        let reload = desk.reload(1)
        desk.machine.takeReloads([reload], now: desk.now)
        desk.answer(desk.requests()[0], 410, "Unregistered")
        _ = desk.actions()
        for _ in 0..<2 { desk.machine.logged(1, try: 1, isLogged: false) }
        #expect(desk.actions() == [.awaitLog(1)])
        for _ in 0..<2 { desk.machine.retryLog(1) }
        #expect(desk.actions().count == 1)
        desk.machine.logged(1, try: 1, isLogged: false)
        #expect(desk.actions() == [])
        for _ in 0..<2 { desk.machine.logged(1, try: 2, isLogged: true) }
        #expect(desk.actions() == [.findPushes(1, reload.host, [reload.id])])
        desk.machine.takePushes([nil], for: 1, now: desk.now)
        #expect(desk.actions().count == 1)
        // That the token is removed says nothing of the refusal.
        desk.machine.logged(1, try: 2, isLogged: true)
        #expect(desk.actions() == [] && desk.machine.counts == (0, 1))
        desk.machine.logged(1, try: 3, isLogged: true)
        #expect(desk.actions() == [.forget([reload.id])])
    }

    @Test(arguments: [true, false])
    func `a token that is not valid is taken away, and another one tried if there is one`(isOther: Bool) {
        var desk = DeliveryDesk()
        let reload = desk.reload(1)
        desk.machine.takeReloads([reload], now: desk.now)
        let request = desk.requests()[0]
        desk.now = desk.now + .seconds(5)
        desk.answer(request, 410, "Unregistered")
        let token = DeviceToken(bytes: Array("token".utf8))
        let removal = HostRemoval(host: reload.host, token: token, notRegisteredSince: request.begunAt)
        #expect(
            desk.actions() == [
                .tellInvalidToken(DeliveryDesk.app, token, reason: "Unregistered"),
                .log(1, try: 1, reload.host, [.unregister(removal)]),
            ]
        )
        desk.machine.logged(1, try: 1, isLogged: true)
        #expect(desk.actions() == [.findPushes(1, reload.host, [reload.id])])
        desk.machine.takePushes([isOther ? desk.push(to: "another") : nil], for: 1, now: desk.now)
        if isOther {
            let next = desk.requests(desk.push(to: "another"))
            #expect(next.map(\.tryNumber) == [2] && next[0].id != request.id)
        } else {
            #expect(
                desk.actions() == [
                    .log(1, try: 2, reload.host, [Self.report(reload, .refused(reason: "Unregistered"))])
                ]
            )
        }
    }

    @Test func `a token that is not valid is not the last one while the engine does not say so`() {
        var desk = DeliveryDesk()
        let reload = desk.reload(1)
        desk.machine.takeReloads([reload], now: desk.now)
        desk.answer(desk.requests()[0], 410, "Unregistered")
        _ = desk.actions()
        desk.machine.logged(1, try: 1, isLogged: true)
        _ = desk.actions()
        desk.machine.takePushes(nil, for: 1, now: desk.now)
        #expect(desk.actions() == [] && desk.machine.nextDue == desk.now + .seconds(1))
        desk.now = desk.now + .seconds(1)
        #expect(desk.requests(desk.push(to: "another")).map(\.tryNumber) == [2])
    }

    @Test func `what is not wanted any more is dropped, and the rest sent`() {
        var desk = DeliveryDesk()
        desk.machine.takeReloads([desk.reload(1), desk.reload(2)], now: desk.now)
        _ = desk.actions()
        desk.machine.takePushes([nil, desk.push()], for: 1, now: desk.now)
        #expect(desk.requests().map { $0.reloads.map(\.id.instance.raw) } == [[2]])
        desk.machine.takeReloads([desk.reload(3, at: 9)], now: desk.now)
        _ = desk.actions()
        desk.machine.takePushes([nil], for: 2, now: desk.now)
        #expect(desk.actions() == [.forget([desk.reload(3, at: 9).id])])
        #expect(desk.machine.counts == (0, 1) && desk.machine.counters[.apns]?.dropped == 2)
    }

    @Test func `an engine that does not answer is asked again`() {
        var desk = DeliveryDesk()
        desk.machine.takeReloads([desk.reload(1)], now: desk.now)
        _ = desk.actions()
        desk.machine.takePushes(nil, for: 1, now: desk.now)
        #expect(desk.actions() == [] && desk.machine.nextDue == desk.now + .seconds(1))
        desk.now = desk.now + .seconds(1)
        #expect(desk.requests().map(\.tryNumber) == [1])
    }

    @Test func `nothing is sent at or after its expiration`() {
        var desk = DeliveryDesk { $0.limits.inWorkMax = 1 }
        let reloads = [desk.reload(1), desk.reload(2, at: 8)]
        desk.machine.takeReloads(reloads, now: desk.now)
        #expect(desk.requests().count == 1)
        desk.now = desk.now + .hours(1)
        #expect(desk.actions() == [.forget([reloads[1].id])])
        #expect(desk.machine.counters[.apns]?.expired == 1)
    }

    @Test(arguments: [(2, 1), (3, 0), (4, 0)])
    func `what there is no room for is fetched when half is free`(knownMax: Int, deferred: Int) {
        var desk = DeliveryDesk { $0.limits.knownMax = knownMax }
        let reloads = [1, 2, 3].map { desk.reload($0, at: UInt64($0)) }
        desk.machine.takeReloads(reloads, now: desk.now)
        #expect(desk.machine.counters[.apns]?.deferred ?? 0 == deferred)
        let requests = desk.requests()
        desk.answer(requests[0], 200)
        desk.machine.logged(requests[0].number, try: 1, isLogged: true)
        #expect(desk.searches() == [])
        for request in requests.dropFirst() {
            desk.answer(request, 200)
            desk.machine.logged(request.number, try: 1, isLogged: true)
        }
        let search = DeliveryAction.findUndelivered(Self.partition, from: InstanceNumber(raw: 3), limit: knownMax)
        #expect(desk.searches() == (deferred > 0 ? [search] : []))
    }

    @Test func `a search goes on behind a page, whatever became of that, and ends with the last`() {
        var desk = DeliveryDesk { $0.limits.knownMax = 2 }
        desk.machine.catchUp()
        #expect(desk.searches() == [.findUndelivered(PartitionID(1), from: InstanceNumber(raw: 0), limit: 2)])
        desk.machine.takeUndelivered(Self.page([]), of: PartitionID(1), now: desk.now)
        #expect(desk.searches() == [.findUndelivered(Self.partition, from: InstanceNumber(raw: 0), limit: 2)])
        let full = Self.page([desk.reload(4, at: 1), desk.reload(2, at: 2)], next: 5)
        desk.machine.takeUndelivered(full, of: Self.partition, now: desk.now)
        // Neither is wanted any more, although the engine still has both.
        desk.machine.takePushes([nil], for: 1, now: desk.now)
        #expect(desk.actions().contains(.findPushes(1, desk.reload(4).host, [desk.reload(4, at: 1).id])))
        for number in [1, 2] as [DeliveryNumber] { desk.machine.takePushes([nil], for: number, now: desk.now) }
        #expect(desk.searches() == [.findUndelivered(Self.partition, from: InstanceNumber(raw: 5), limit: 2)])
        desk.machine.takeUndelivered(Self.page([desk.reload(6, at: 1)]), of: Self.partition, now: desk.now)
        #expect(desk.requests().count == 1 && desk.searches() == [])
    }

    @Test func `what has no room while a partition is searched is searched for, too`() {
        var desk = DeliveryDesk { $0.limits.knownMax = 2 }
        desk.machine.catchUp()
        _ = desk.searches()
        desk.machine.takeUndelivered(nil, of: PartitionID(1), now: desk.now)
        _ = desk.searches()
        let reloads = [1, 2, 3].map { desk.reload($0, at: UInt64($0)) }
        desk.machine.takeReloads(reloads, now: desk.now)
        let page = Self.page([reloads[0], desk.reload(7)], next: 8)
        desk.machine.takeUndelivered(page, of: Self.partition, now: desk.now)
        for request in desk.requests() {
            desk.answer(request, 200)
            desk.machine.logged(request.number, try: 1, isLogged: true)
        }
        #expect(desk.searches() == [.findUndelivered(Self.partition, from: InstanceNumber(raw: 3), limit: 2)])
    }

    @Test func `what cannot be delivered keeps nothing out that is behind it, of the same instance either`() {
        var desk = DeliveryDesk { $0.limits.knownMax = 2 }
        desk.machine.catchUp()
        _ = desk.searches()
        desk.machine.takeUndelivered(nil, of: PartitionID(1), now: desk.now)
        _ = desk.searches()
        let page = Self.page([1, 2, 3].map { desk.reload(9, at: $0) })
        desk.machine.takeUndelivered(page, of: Self.partition, now: desk.now)
        _ = desk.actions()
        for number in [1, 2] as [DeliveryNumber] { desk.machine.takePushes([nil], for: number, now: desk.now) }
        #expect(desk.searches() == [.findUndelivered(Self.partition, from: InstanceNumber(raw: 9), limit: 2)])
        desk.machine.takeUndelivered(page, of: Self.partition, now: desk.now)
        // The third had a number already when there was no room for it.
        #expect(desk.actions() == [.findPushes(4, page.reloads[2].host, [page.reloads[2].id])])
        desk.machine.takePushes([nil], for: 4, now: desk.now)
        #expect(desk.searches() == [])
        #expect(desk.machine.counts == (0, 0) && desk.machine.counters[.apns]?.dropped == 3)
    }

    @Test func `what is known and found is delivered once`() {
        var desk = DeliveryDesk()
        desk.machine.catchUp()
        _ = desk.searches()
        let reload = desk.reload(1)
        desk.machine.takeReloads([reload], now: desk.now)
        desk.machine.takeUndelivered(Self.page([reload]), of: PartitionID(1), now: desk.now)
        #expect(desk.requests().count == 1)
        #expect(desk.machine.counts == (0, 1))
    }

    @Test func `where an app has no upstream any more, what was for it is refused`() {
        var desk = DeliveryDesk()
        let reload = desk.reload(1)
        desk.machine.takeReloads([reload], now: desk.now)
        let request = desk.requests()[0]
        desk.machine.setDestinations([:], changed: [], now: desk.now)
        desk.answer(request, 503)
        #expect(desk.machine.views(now: desk.now) == [:])
        #expect(desk.actions() == [.findPushes(1, reload.host, [reload.id])])
        desk.machine.takePushes([desk.push()], for: 1, now: desk.now)
        let reason = "the app has no upstream any more"
        #expect(desk.actions() == [.log(1, try: 1, reload.host, [Self.report(reload, .refused(reason: reason))])])
    }

    @Test func `credentials that are refused hold back a destination, and nothing else`() {
        var desk = DeliveryDesk { $0.limits.inWorkMax = 1 }
        let reloads = [desk.reload(1), desk.reload(2, at: 8), desk.reload(3, at: 9, .webhook)]
        desk.machine.takeReloads(reloads, now: desk.now)
        let request = desk.requests()[0]
        desk.answer(request, 403, "InvalidProviderToken")
        let held = desk.now + .minutes(15)
        let isTold = desk.actions().contains { action in
            if case .tellHealth(.trouble, .upstream(0), heldUntil: held) = action { true } else { false }
        }
        #expect(isTold)
        #expect(desk.machine.views(now: desk.now)[DeliveryDesk.upstream]?.heldUntil == held)
        #expect(desk.machine.views(now: desk.now)[DeliveryDesk.webhook]?.heldUntil == nil)
    }

    @Test func `an expired provider token is renewed`() {
        var desk = DeliveryDesk()
        desk.machine.takeReloads([desk.reload(1)], now: desk.now)
        desk.answer(desk.requests()[0], 403, "ExpiredProviderToken")
        #expect(desk.actions().contains(.renewProviderToken(DeliveryDesk.app)))
    }

    @Test func `tried now, an answer that was on its way holds nothing back; evidence counts all the same`() {
        for status in [403, 200] {
            var desk = DeliveryDesk()
            desk.machine.takeReloads([desk.reload(1)], now: desk.now)
            let request = desk.requests()[0]
            desk.machine.tryNow([DeliveryDesk.upstream], now: desk.now)
            desk.answer(request, status, status == 403 ? "InvalidProviderToken" : nil)
            #expect(desk.machine.views(now: desk.now)[DeliveryDesk.upstream]?.health == TargetHealth())
            if status == 403 {
                #expect(desk.requests().map(\.tryNumber) == [2])
            } else {
                #expect(desk.machine.counters[.apns]?.delivered == 1)
            }
        }
    }

    @Test func `one that has failed for half a minute is told of without another answer`() {
        var desk = DeliveryDesk { $0.retries.first = .minutes(10) }
        desk.machine.takeReloads([desk.reload(1)], now: desk.now)
        desk.answer(desk.requests()[0], 503)
        #expect(desk.actions() == [] && desk.machine.nextDue == desk.now + .seconds(30))
        desk.now = desk.now + .seconds(30)
        guard case .tellHealth(.trouble(let answer), .upstream(0), heldUntil: nil)? = desk.actions().first else {
            Issue.record("nothing is told")
            return
        }
        #expect(answer.status == 503)
        desk.machine.tryFailing(now: desk.now)
        desk.answer(desk.requests()[0], 200)
        let well = DeliveryAction.tellHealth(.well(after: .seconds(30)), .upstream(0), heldUntil: nil)
        #expect(desk.actions().contains(well))
    }

    @Test func `stopped, it wants nothing`() {
        var desk = DeliveryDesk()
        desk.machine.takeReloads([desk.reload(1)], now: desk.now)
        let request = desk.requests()[0]
        desk.machine.stop()
        desk.answer(request, 503)
        desk.machine.takeReloads([desk.reload(2, at: 8)], now: desk.now)
        desk.now = desk.now + .minutes(1)
        #expect(desk.actions().filter { if case .findPushes = $0 { true } else { false } } == [])
        #expect(desk.machine.nextDue == nil && desk.machine.counts == (2, 0))
    }
}
