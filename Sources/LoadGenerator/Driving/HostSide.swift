import DequeModule
import HTTP2
import NIOCore
import WidgetModel

/// The hosts of a run: they read their event streams and report the entries that they show, as quickly as the scenario has it.
///
/// It also asks for the decisions about some pushes, for the stage ``LatencyStage/decided``.
final class HostSide {
    private let scene: LoadScene
    private let scenario: LoadScenario
    private let run: UInt64
    /// Set at once; it outlives this.
    weak var driver: LoadDriver?
    private let dialer: LoadDialer
    private var machine: HostStreamsMachine
    private var streams: [HostStream]
    private var inquirer: LoadConnection?
    private var times = PushTimes()
    private var notices: [EventStreamReader.Notice] = []
    /// Reloads whose hosts are still at work, in the order in which they will be done.
    private var prompt = Deque<Shown>()
    private var slow = Deque<Shown>()
    /// The subjects of the requests that are out, by number.
    private var groups: [Int64: [Shown]] = [:]
    private var number: Int64 = 0
    private var inquiries: PushInquiries
    private var whenOpen: EventLoopPromise<Void>?
    /// When a reload came last that is one of this run's pushes; 0 before. Others may come before any push was decided.
    private var lastReload: Int64 = 0
    /// Connections with requests that have not gone.
    private var written: [LoadConnection] = []
    private var reloaded: RequestTemplate
    private var acknowledged: RequestTemplate
    private var asking: RequestTemplate
    private var token = Array(repeating: UInt8(ascii: "0"), count: LoadScene.tokenLength)

    /// A reload that a host shows, or will.
    private struct Shown: Sendable {
        var stream: Int
        var notice: EventStreamReader.Notice
        /// When the host is done.
        var at: Int64
        var isRepeat = false
    }

    /// Acknowledgements in one request.
    private static let groupMax = 500
    /// Without a reload for so long, none is on its way.
    private static let quietAfter: Int64 = 500_000_000

    init(_ scene: LoadScene, _ dialer: LoadDialer, run: UInt64) {
        self.scene = scene
        self.scenario = scene.scenario
        self.run = run
        self.dialer = dialer
        self.inquiries = PushInquiries(share: scene.scenario.followed)
        let reader = EventStreamReader(run: run)
        self.streams = (0..<scene.scenario.hosts.streams).map { HostStream(host: $0, reader: reader) }
        if scene.scenario.hosts.followsApp { self.streams.append(HostStream(host: nil, reader: reader)) }
        self.machine = HostStreamsMachine(count: self.streams.count, asksQuestions: scene.scenario.followed > 0)
        let target = dialer.target
        let authority = "\(target.serverName):\(target.hostPort ?? target.pushPort)"
        let headers = [("authorization", "bearer \(target.token)"), ("content-type", "application/json")]
        self.reloaded = RequestTemplate(
            method: "POST",
            authority: authority,
            path: "/v1/hosts/{}/signals",
            holeLength: LoadScene.tokenLength,
            headers: headers
        )
        self.acknowledged = RequestTemplate(
            method: "POST",
            authority: authority,
            path: "/v1/apps/\(scene.scenario.app)/acknowledgements",
            headers: headers
        )
        self.asking = RequestTemplate(
            method: "GET",
            authority: "\(target.serverName):\(target.pushPort)",
            path: "/v1/pushes/{}",
            holeLength: NumberedPushID.length,
            headers: [("authorization", "bearer \(target.token)")]
        )
    }

    // MARK: Streams

    /// Opens every stream; the future ends when all of them have begun.
    func open() -> EventLoopFuture<Void> {
        let promise = self.dialer.eventLoop.makePromise(of: Void.self)
        self.whenOpen = promise
        self.perform { $0.open(&$1) }
        return promise.futureResult
    }

    /// Gives the machine an event, and performs the resulting actions.
    private func perform(
        at now: Int64 = MonotonicTime.now,
        _ event: (inout HostStreamsMachine, inout [HostStreamsMachine.Action]) -> Void
    ) {
        var actions: [HostStreamsMachine.Action] = []
        event(&self.machine, &actions)
        for action in actions {
            switch action {
            case .connect(let index): self.dial(index)
            case .connectSoon(let index): self.dialSoon(index)
            case .drop(let index):
                let old = self.streams[index].connection
                self.streams[index].connection = nil
                old?.drop()
            case .allOpen: self.whenOpen?.succeed()
            case .giveUp(let reason):
                self.whenOpen?.fail(LoadError("the gateway's event streams cannot be read: \(reason)"))
            case .countLost: self.driver?.tally.lostConnections += 1
            case .cameBack(let again):
                guard let driver else { continue }
                let intended = driver.instant(again.intended)
                driver.tally.answered(again.load, intended: intended, at: driver.instant(now))
            case .stayedAway(let again, let reason):
                guard let driver else { continue }
                let failure = LoadTally.Failure(status: 0, reason: reason)
                driver.tally.failed(again.load, failure, intended: driver.instant(again.intended))
            }
        }
    }

    /// Connects a stream, or the connection for questions.
    private func dial(_ index: Int) {
        let isInquirer = index == self.streams.count
        let connection = self.dialer.dial(
            isInquirer ? .push : .host,
            index: index,
            streams: isInquirer ? 100 : 1000,
            owner: self
        ) { [weak self] reason in
            if isInquirer { self?.inquirer = nil }
            self?.perform { $0.lost(index, reason, &$1) }
        }
        if isInquirer { self.inquirer = connection } else { self.streams[index].connection = connection }
    }

    /// Connects again after a tenth of a second, unless the run is over by then.
    private func dialSoon(_ index: Int) {
        let bound = NIOLoopBound(self, eventLoop: self.dialer.eventLoop)
        self.dialer.eventLoop.scheduleTask(in: .milliseconds(100)) { bound.value.perform { $0.connectNow(index, &$1) } }
    }

    /// Drops a stream as a network does, and connects again at once.
    func reconnect(_ first: Int, load: Int, intended: Int64) {
        let count = self.scenario.hosts.streams
        let again = HostStreamsMachine.Again(load: load, intended: intended)
        self.perform { $0.reconnect(first, among: count, again, &$1) }
    }

    /// Whether a connection is the one that is used now, and not one that was dropped.
    private func isCurrent(_ connection: LoadConnection) -> Bool {
        guard connection.index < self.streams.count else { return connection === self.inquirer }
        return self.streams[connection.index].connection === connection
    }

    private func ask(_ index: Int, on connection: LoadConnection) {
        let target = self.dialer.target
        let path =
            self.streams[index].host.map { "/v1/hosts/\(self.scene.token($0))/events" }
            ?? "/v1/apps/\(self.scenario.app)/events"
        var headers = [("authorization", "bearer \(target.token)")]
        let last = self.streams[index].reader.lastID
        if !last.isEmpty { headers.append(("last-event-id", String(decoding: last, as: UTF8.self))) }
        let template = RequestTemplate(
            method: "GET",
            authority: "\(target.serverName):\(target.hostPort ?? target.pushPort)",
            path: path,
            headers: headers
        )
        self.streams[index].reader.begin()
        connection.submit(template, load: Purpose.stream.rawValue, number: Int64(index), isStreamed: true)
        connection.flushIfWritten()
    }

    // MARK: Pushes

    /// A push is sent: its reloads will be timed from then.
    func sent(_ number: Int64, load: Int, intended: Int64) {
        self.times.notePush(number, load: Int32(load), intended: intended)
    }

    /// A push was accepted: some of them are asked for their decisions.
    func follow(_ exchange: Exchange) { self.inquiries.follow(exchange) }

    // MARK: Acts of hosts

    /// Sends the due acknowledgements and questions. Returns when to call it again; nil if nothing waits.
    func pump(_ now: Int64) -> Int64? {
        var bulk: [Shown] = []
        for _ in 0..<2 {
            while let first = self.prompt.first, first.at <= now, let shown = self.prompt.popFirst() {
                self.show(shown, &bulk)
            }
            swap(&self.prompt, &self.slow)
        }
        if !bulk.isEmpty { self.acknowledge(bulk) }
        while let inquirer, inquirer.room > 0, let inquiry = self.inquiries.ask(self.number + 1, at: now) {
            self.inquire(inquiry.push, inquirer)
        }
        // Without a connection for questions, the next attempt to connect wakes the run.
        let inquiryAt = self.inquirer == nil ? nil : self.inquiries.nextAt
        return [self.prompt.first?.at, self.slow.first?.at, inquiryAt].compactMap { $0 }.min()
    }

    private func show(_ shown: Shown, _ bulk: inout [Shown]) {
        guard let host = self.streams[shown.stream].host else {
            bulk.append(shown)
            if bulk.count == Self.groupMax {
                self.acknowledge(bulk)
                bulk = []
            }
            return
        }
        guard let connection = self.streams[shown.stream].connection, connection.room > 0 else { return }
        let reload = String(decoding: shown.notice.reload, as: UTF8.self)
        let text =
            shown.notice.kind == .entry
            ? "{\"signal\":\"entryShown\",\"reload\":\"\(reload)\",\"date\":\""
                + "\(String(decoding: shown.notice.date, as: UTF8.self))\"}"
            : "{\"signal\":\"reloaded\",\"reload\":\"\(reload)\"}"
        self.scene.writeToken(host, into: &self.token)
        let token = self.token
        self.reloaded.fillPath(token.span)
        self.reloaded.body = Array(text.utf8)
        self.number += 1
        self.groups[self.number] = [shown]
        connection.submit(self.reloaded, load: Purpose.acknowledgement.rawValue, number: self.number)
        self.written.append(connection)
    }

    private func acknowledge(_ bulk: [Shown]) {
        guard let stream = bulk.first?.stream, let connection = self.streams[stream].connection, connection.room > 0
        else { return }
        var body: [UInt8] = []
        for shown in bulk {
            body += Array("{\"reload\":\"".utf8) + shown.notice.reload + Array("\"}\n".utf8)
        }
        self.acknowledged.body = body
        self.number += 1
        self.groups[self.number] = bulk
        connection.submit(self.acknowledged, load: Purpose.acknowledgement.rawValue, number: self.number)
        self.written.append(connection)
    }

    private func inquire(_ push: Int64, _ inquirer: LoadConnection) {
        let id = NumberedPushID.text(push, run: self.run)
        self.asking.fillPath(id.span)
        self.number += 1
        inquirer.submit(self.asking, load: Purpose.inquiry.rawValue, number: self.number)
        self.written.append(inquirer)
    }

    func flush() {
        for connection in self.written { connection.flushIfWritten() }
        self.written.removeAll(keepingCapacity: true)
    }

    /// Whether nothing is on its way any more: of reloads nothing says so but that none has come for a while, and before the
    /// first one nothing does.
    func isQuiet(_ now: Int64) -> Bool {
        self.prompt.isEmpty && self.slow.isEmpty && self.groups.isEmpty && self.inquiries.isEmpty
            && self.machine.isQuiet
            && (self.streams.isEmpty || (self.lastReload > 0 && now - self.lastReload > Self.quietAfter))
    }

    func close() {
        self.perform { $0.close(&$1) }
        for stream in self.streams { stream.connection?.close() }
        // A decision that was asked for and not told until the end counts as later than all told ones.
        if let driver {
            for inquiry in self.inquiries.open {
                driver.tally.missed(.decided, inquiry.load, intended: driver.instant(inquiry.intended))
            }
        }
        self.inquirer?.close()
    }

    /// The purpose of a request of this side, in the place of a load's index.
    private enum Purpose: Int32 {
        case stream = -1
        case acknowledgement = -2
        case inquiry = -3
    }
}

extension HostSide: LoadConnectionOwner {
    func connectionOpened(_ connection: LoadConnection) {
        guard self.isCurrent(connection) else { return }
        let isOpening = self.machine.isOpening
        var isAsked = false
        self.perform { isAsked = $0.connected(connection.index, &$1) }
        if isAsked {
            self.ask(connection.index, on: connection)
        } else if !isOpening {
            self.driver?.pump()
        }
    }

    func connection(_ connection: LoadConnection, received batch: borrowing ResponseBatch, at now: Int64) {
        for index in batch.pieces.indices {
            let piece = batch.pieces[index]
            guard connection.index < self.streams.count, self.isCurrent(connection) else { continue }
            if !self.streams[connection.index].reader.hasBegun {
                self.perform(at: now) { $0.begun(connection.index, &$1) }
            }
            self.notices.removeAll(keepingCapacity: true)
            let bytes = batch.bytes.span.extracting(piece.bytes.indices)
            self.streams[connection.index].reader.read(bytes, into: &self.notices)
            for notice in self.notices { self.reload(notice, connection.index, at: now) }
        }
        for index in batch.responses.indices {
            let response = batch.responses[index]
            guard let exchange = connection.end(response.streamID) else { continue }
            switch Purpose(rawValue: exchange.load) {
            case .stream:
                // It has ended, or was refused.
                if response.status != 200 { self.perform { $0.refused("status \(response.status)", &$1) } }
                connection.close()
            case .acknowledgement:
                self.shown(exchange.number, response, batch, at: now)
            case .inquiry:
                self.answered(exchange.number, response, batch, at: now)
            case nil:
                break
            }
        }
    }

    private func reload(_ notice: EventStreamReader.Notice, _ stream: Int, at now: Int64) {
        guard notice.kind != .other, !notice.reload.isEmpty, let driver else { return }
        if notice.push != nil { self.lastReload = now }
        // The app's stream brings the reloads of all hosts; those with a stream of their own answer themselves.
        if self.streams[stream].host == nil, let host = notice.host, host < self.scenario.hosts.streams { return }
        if notice.isRedelivered {
            driver.tally.redelivered += 1
        } else {
            driver.tally.reloads += 1
            if let push = notice.push, let sent = self.times.find(push) {
                driver.tally.reached(
                    .delivered,
                    sent.load,
                    intended: driver.instant(sent.intended),
                    at: driver.instant(now)
                )
            }
        }
        // An entry of a provider's timeline is the evidence of its reload already; a host of its own says that it shows it.
        if notice.kind == .entry, self.streams[stream].host == nil { return }
        let isSlow = notice.host.map { self.scene.isSlow($0) } ?? false
        let hosts = self.scenario.hosts
        let done = now + (isSlow ? hosts.slowAnswersAfter : hosts.answersAfter)
        let shown = Shown(stream: stream, notice: notice, at: done, isRepeat: notice.isRedelivered)
        if isSlow { self.slow.append(shown) } else { self.prompt.append(shown) }
    }

    private func shown(
        _ number: Int64,
        _ response: ResponseBatch.Response,
        _ batch: borrowing ResponseBatch,
        at now: Int64
    ) {
        guard let group = self.groups.removeValue(forKey: number), let driver else { return }
        guard (200..<300).contains(response.status) else {
            driver.tally.refusedAcknowledgements += group.count
            return
        }
        let body = batch.bytes.span.extracting(response.body.indices)
        let unknown = EventStreamReader.number("\"unknown\":", in: body) ?? 0
        driver.tally.refusedAcknowledgements += unknown
        driver.tally.acknowledged += group.count - unknown
        for shown in group where !shown.isRepeat {
            guard let push = shown.notice.push, let sent = self.times.find(push) else { continue }
            driver.tally.reached(.shown, sent.load, intended: driver.instant(sent.intended), at: driver.instant(now))
        }
    }

    private func answered(
        _ number: Int64,
        _ response: ResponseBatch.Response,
        _ batch: borrowing ResponseBatch,
        at now: Int64
    ) {
        guard let driver else { return }
        let body = batch.bytes.span.extracting(response.body.indices)
        if response.status == 200, let applied = EventStreamReader.number("\"appliedBy\":", in: body),
            let partitions = EventStreamReader.number("\"partitions\":", in: body), applied >= partitions,
            let inquiry = self.inquiries.end(number)
        {
            let intended = driver.instant(inquiry.intended)
            driver.tally.decided(
                inquiry.load,
                matched: EventStreamReader.number("\"matched\":", in: body) ?? 0,
                outcomes: LoadAnswer.outcomes(body)
            )
            return driver.tally.reached(.decided, inquiry.load, intended: intended, at: driver.instant(now))
        }
        self.inquiries.repeatQuestion(number, at: now)
    }

    func connection(_ connection: LoadConnection, lost exchange: Exchange, _ reason: String) {
        self.forget(exchange)
        if exchange.load == Purpose.stream.rawValue { connection.close() }
    }

    func connection(_ connection: LoadConnection, refused exchange: Exchange, _ reason: String) {
        self.connection(connection, lost: exchange, reason)
    }

    private func forget(_ exchange: Exchange) {
        if exchange.load == Purpose.inquiry.rawValue {
            self.inquiries.repeatQuestion(exchange.number, at: MonotonicTime.now)
        }
        if exchange.load == Purpose.acknowledgement.rawValue,
            let group = self.groups.removeValue(forKey: exchange.number)
        {
            self.driver?.tally.refusedAcknowledgements += group.count
        }
    }

    func connectionReadCompleted(_ connection: LoadConnection) {
        // Hosts that answer at once do so in this turn.
        self.driver?.pump()
    }

    func connectionClosed(_ connection: LoadConnection, _ waiting: [Exchange], _ reason: String) {
        for exchange in waiting { self.forget(exchange) }
        guard self.isCurrent(connection) else { return }
        if connection === self.inquirer {
            self.inquirer = nil
        } else {
            self.streams[connection.index].connection = nil
        }
        self.perform { $0.lost(connection.index, reason, &$1) }
    }
}
