import Timelines
package import WidgetModel

/// A pause in force: its subject, its start and end, and its author.
package struct StandingOrder: ByteCoded, Hashable, Sendable {
    /// An app, a kind or a sender.
    package let scope: OrderScope
    /// When the order was given, in the log's time.
    package let since: Instant
    /// Its end; nil if it ends only by a resume.
    package let until: Instant?
    /// The operator who gave it, if the record names one.
    package let source: OperatorSource?
    /// Whether the settings name its app and kind; a sender is always named. One that they do not name holds nothing back
    /// until they do again.
    package internal(set) var isConfigured = true

    /// Whether it still holds at an instant.
    package func holds(at now: Instant) -> Bool { self.until.map { $0 > now } ?? true }

    /// Until when.
    var end: Instant { self.until ?? .distantFuture }
}

extension StandingOrder {
    /// In the words of the record that it was, so that both have one form.
    package func encode(into writer: inout ByteWriter) {
        writer.write(self.since)
        OperatorOrder(.pause(until: self.until), self.scope, by: self.source).encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        let since = try reader.readInstant()
        let order = try OperatorOrder(from: &reader)
        guard case .pause(let until) = order.action else { throw .invalid(offset: start) }
        self.init(scope: order.scope, since: since, until: until, source: order.source)
    }
}

extension Engine {
    /// The pauses in force, in the order in which they were given.
    package var standingOrders: [StandingOrder] {
        self.standing.filter { $0.holds(at: self.time) }.map { order in
            var order = order
            order.isConfigured = self.isConfigured(order.scope)
            return order
        }
    }

    /// Whether the subject of an order exists. An app or kind that the settings no longer name also exists while it is
    /// paused.
    ///
    /// A push exists for as long as it is retained, a sender from its first push or its first app on.
    package func knows(_ scope: OrderScope) -> Bool {
        switch scope {
        case .app, .kind: self.isConfigured(scope) || self.standing.contains { $0.scope == scope }
        case .sender(let team): self.catalogue.findTeam(team.rawValue) != nil
        case .host(let host): self.registry.findHost(host).map { self.registry[$0].isRegistered } ?? false
        case .instance(let address): self.registry.liveInstance(address) != nil
        case .push(let push, let team, _):
            self.ledger.pushes.find(push).contains { number in
                team.map { TeamID(self.catalogue.teamName(self.ledger[number].team)) == $0 } ?? true
            }
        }
    }

    func isConfigured(_ scope: OrderScope) -> Bool {
        switch scope {
        case .app(let app): self.catalogue.findApp(app) != nil
        case .kind(let app, let kind):
            self.catalogue.findApp(app).flatMap { self.catalogue.findKind(kind, of: $0) } != nil
        case .sender, .host, .instance, .push: true
        }
    }

    /// Notes a pause, in the place of one of the same scope, or that there is none.
    mutating func setPause(_ scope: OrderScope, _ order: StandingOrder?) {
        self.standing.removeAll { $0.scope == scope }
        if let order { self.standing.append(order) }
        self.applyPause(scope, until: order?.end ?? .distantPast)
    }

    /// Writes until when nothing of an app, a kind or a sender reloads to where decisions look for it.
    mutating func applyPause(_ scope: OrderScope, until: Instant) {
        switch scope {
        case .app(let id):
            guard let app = self.catalogue.findAnyApp(id) else { return }
            self.catalogue.pauseApp(app, until: until)
        case .kind(let id, let name):
            guard let app = self.catalogue.findAnyApp(id), let kind = self.catalogue.findAnyKind(name, of: app) else {
                return
            }
            self.catalogue.pauseKind(kind, until: until)
        case .sender(let team):
            self.ledger.pauseSender(self.catalogue.internTeam(team.rawValue), until: until)
            self.ledger.endPauses(at: self.time)
        case .host, .instance, .push: return
        }
    }

    /// Forgets the pauses that have ended.
    mutating func endPauses() {
        guard !self.standing.isEmpty else { return }
        self.standing.removeAll { !$0.holds(at: self.time) }
        self.ledger.endPauses(at: self.time)
    }
}
