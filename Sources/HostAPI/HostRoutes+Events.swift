import APNSWire
import Engine
import HTTPTransport
import Partitions
import Serving
import TimelineProviding
import WidgetModel

extension HostRoutes {
    /// How many reloads are asked for at once when an app's stream opens.
    private static let outstandingPage = 256

    /// `GET /v1/hosts/<token>/events`
    func hostEvents(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        let (host, asker) = (try await self.entry(call.asker).host, call.asker)
        return try await self.events(.host(host), by: asker.caller, asker.token, lastEventID: call.lastEventID)
    }

    /// `GET /v1/apps/<bundle-id>/events`
    func appEvents(_ call: Call<AppAsker>) async throws(Problem) -> HTTPResponse {
        let asker = call.asker
        return try await self.events(.app(asker.app.bundle), by: asker.caller, lastEventID: call.lastEventID)
    }

    /// Server-Sent Events of a host, or of all of an app.
    ///
    /// Outstanding reloads come first, then events as they happen. A reload carries its id, by which a host
    /// deduplicates. An event's own `id` is a place in the stream: a reader that gives the last one back gets
    /// `redelivered: true` on reloads that it has had before and not acknowledged. If the events that it missed are not
    /// known any more, it gets a `gap` event: read the state, then go on.
    ///
    /// - Parameters:
    ///   - token: The push token that the path has, nil for an app's stream.
    ///   - lastEventID: The `Last-Event-ID` of the request.
    func events(
        _ scope: HostStreams.Scope,
        by caller: Caller,
        _ token: DeviceToken? = nil,
        lastEventID: String?
    ) async throws(Problem) -> HTTPResponse {
        await self.awaitPlace(lastEventID, of: scope)
        let right = HostStreams.Right(token: token) { [authorizer = self.authorizer] in
            authorizer.stillHolds(caller, actingFor: scope.bundle)
        }
        let subscription: HostStreams.Subscription
        do throws(HostStreams.SubscribeError) {
            // Before the question for outstanding reloads, so that no reload falls between.
            subscription = try self.streams.subscribe(scope, by: right, after: lastEventID)
        } catch {
            throw Problem(error)
        }
        // The first page is asked for here, where a failure can still be answered.
        let backlog: [ReloadBacklog]
        let offered: OfferedReloads
        do throws(Problem) {
            // The token may have been removed, and the streams that it opened ended, before this one was among them.
            if let token, case .host(let host) = scope,
                try await self.entry(HostAsker(token: token, caller: caller)).host != host
            {
                throw Problem(.unknownHost, "no host with this push token is registered")
            }
            backlog = try await self.backlog(scope)
            guard backlog.allSatisfy({ self.log.isCurrent($0.partition) }) else { throw Problem.cutOff }
            let through = backlog.map { (partition: $0.partition, position: $0.page.through) }
            guard let known = OfferedReloads(through, notBefore: subscription.asOf) else {
                throw Problem(
                    .partitionAway,
                    "a partition of this stream is on its way to another gateway; connect again",
                    retryAfter: Problem.awaySeconds
                )
            }
            offered = known
        } catch {
            self.streams.cancel(subscription)
            throw error
        }
        return HTTPResponse(
            status: 200,
            headers: ["content-type": "text/event-stream", "cache-control": "no-store"],
            body: .stream { [streams = self.streams] writer in
                defer { streams.cancel(subscription) }
                try await self.follow(subscription, backlog, offered, writer)
            }
        )
    }

    /// How often it is looked whether this node has read as far as a reader.
    private static let placePause = Duration.milliseconds(20)

    /// Waits until this node has read the effects that another one has sent the reader, for as long as nodes wait for each other.
    private func awaitPlace(_ lastEventID: String?, of scope: HostStreams.Scope) async {
        guard let patience = self.log.patience else { return }
        let end = ContinuousClock.now + .milliseconds(patience.milliseconds)
        while self.streams.isAhead(lastEventID, of: scope), ContinuousClock.now < end, !Task.isCancelled {
            try? await Task.sleep(for: Self.placePause)
        }
    }

    private func follow(
        _ subscription: HostStreams.Subscription,
        _ backlog: [ReloadBacklog],
        _ offered: OfferedReloads,
        _ writer: HTTPBodyWriter
    ) async throws {
        do {
            // In a task of its own, whose memory goes with it: the loop below runs for hours, ten thousand times.
            async let opening: Void = self.open(subscription, backlog, writer)
            try await opening
        }
        for await event in subscription.events {
            if let text = Self.text(event, after: offered) { try await writer.write(text) }
        }
    }

    /// The text of an event for a reader; nil for a reload that was outstanding when the stream began, which the reader
    /// has had.
    private static func text(_ event: HostStreams.Event, after offered: OfferedReloads) -> String? {
        switch event {
        case .heartbeat(let cursor): EventText.heartbeat(cursor)
        case .event(let event, let cursor): offered.lacks(event) ? EventText.event(event, cursor) : nil
        }
    }

    /// Writes the beginning of a stream, which a reader must have before any new event.
    private func open(
        _ subscription: HostStreams.Subscription,
        _ backlog: [ReloadBacklog],
        _ writer: HTTPBodyWriter
    ) async throws {
        var text = Self.opening(subscription)
        text += Self.text(try await self.drawings(subscription))
        // Nil where it is not known what the reader has had.
        let missed = Self.missedReloads(subscription)
        for first in backlog {
            var part: ReloadBacklog? = first
            while let page = part {
                var next = 0
                while self.add(page.page.reloads, &next, subscription, missed, to: &text) {
                    try await writer.write(text)
                    text = ""
                }
                part = try await self.page(after: page)
            }
        }
        try await writer.write(text + EventText.place(subscription.start))
    }

    private static func opening(_ subscription: HostStreams.Subscription) -> String {
        let retry = EventText.retry(subscription.retryMilliseconds)
        return subscription.missed == .gap ? retry + EventText.gap : retry
    }

    private static func text(_ events: [HostEvent]) -> String {
        events.reduce(into: "") { $0 += EventText.event($1) }
    }

    private static func missedReloads(_ subscription: HostStreams.Subscription) -> Set<ReloadID>? {
        guard case .events(let events) = subscription.missed else { return nil }
        var missed: Set<ReloadID> = []
        for case .reload(let reload) in events { missed.insert(reload.id) }
        return missed
    }

    /// Adds reloads, from one on, until there is enough to write.
    ///
    /// - Returns: False when all have been added.
    private func add(
        _ reloads: [ReloadEffect],
        _ next: inout Int,
        _ subscription: HostStreams.Subscription,
        _ missed: Set<ReloadID>?,
        to text: inout String
    ) -> Bool {
        while next < reloads.count {
            let reload = reloads[next]
            next += 1
            guard self.providers?.fetches(reload) != true else { continue }
            let isRepeated = subscription.isRepeated(reload, missed)
            text += EventText.event(.reload(reload), redelivered: isRepeated)
            if text.utf8.count > EventText.chunkBytes { return true }
        }
        return false
    }

    /// The placeholders and entries that a reader is to draw at once: of a host that is new, or has a gap, those of now; of
    /// one that comes back the newest of each instance that it has missed, where that is known.
    private func drawings(
        _ subscription: HostStreams.Subscription
    ) async throws(Problem) -> [HostEvent] {
        switch (subscription.missed, subscription.scope) {
        case (.events(let events), _) where subscription.hasAllDrawings, (.events(let events), .app):
            var newest: [InstanceAddress: HostEvent] = [:]
            for event in events { if let address = event.drawnBy { newest[address] = event } }
            return newest.sorted { $0.key < $1.key }.map(\.value)
        case (_, .host(let host)):
            return try await self.providers?.contents(of: host, hasTimelines: false).drawings ?? []
        case (.unknown, .app), (.gap, .app): return []
        }
    }

    /// The first reloads of each partition that are outstanding.
    private func backlog(_ scope: HostStreams.Scope) async throws(Problem) -> [ReloadBacklog] {
        switch scope {
        case .host(let host):
            let partition = self.log.partition(of: host)
            let page = try await self.log.ask(partition, ReloadsQuestion(.host(host)))
            return [ReloadBacklog(partition: partition, page: page)]
        case .app(let app):
            let pages = try await self.log.askAll(ReloadsQuestion(.app(app), limit: Self.outstandingPage))
            return zip(self.log.partitionIDs, pages).map { ReloadBacklog(app: app, partition: $0, page: $1) }
        }
    }

    private func page(after backlog: ReloadBacklog) async throws(Problem) -> ReloadBacklog? {
        guard let next = backlog.page.next, let app = backlog.app else { return nil }
        let question = ReloadsQuestion(
            .app(app),
            from: next,
            through: backlog.page.through,
            limit: Self.outstandingPage
        )
        let page = try await self.log.ask(backlog.partition, question)
        return ReloadBacklog(app: app, partition: backlog.partition, page: page)
    }

    /// `GET /v1/hosts/<token>/state`: the state that a host needs after a gap.
    func state(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        let entry = try await self.entry(call.asker)
        guard let state = try await self.log.ask(HostStateQuestion(entry.host)) else {
            throw Problem(.unknownHost, "no host with this push token is registered")
        }
        let contents = try await self.providers?.contents(of: entry.host, hasTimelines: true) ?? HostContents()
        return HTTPResponse(
            json: JSONValue.object(of: [
                ("host", Views.registration(state.host)),
                ("nextAt", self.nextAt(state.instances, contents.timelines).map { .instant($0) }),
                ("instances", .array(state.instances.map { Views.instance($0) })),
                ("outstanding", .array(state.outstanding.map { Views.reload($0) })),
                ("placeholders", .array(contents.drawings.compactMap(Self.placeholder))),
                ("entries", .array(self.shown(contents.timelines))),
            ])
        )
    }

    /// The next instant at which something is due for a host even if nothing happens before: a decision about waiting causes, a timeline's
    /// next request, an entry.
    private func nextAt(_ instances: [InstanceView], _ timelines: [StoredTimeline]) -> Instant? {
        let due = instances.flatMap { [$0.decidesAt, $0.timeline?.nextRequest].compactMap { $0 } }
        guard let now = self.providers?.now else { return due.min() }
        return (due + timelines.flatMap { $0.entries.map(\.date).filter { $0 > now } }).min()
    }

    private static func placeholder(_ drawing: HostEvent) -> JSONValue? {
        guard case .placeholder(let placeholder) = drawing else { return nil }
        return JSONValue.object(of: [
            ("instance", .string(placeholder.address.instance.rawValue)),
            ("kind", .string(placeholder.kind.rawValue)),
            ("family", .string(placeholder.family.name)),
            ("reload", .string(placeholder.reload.description)),
            ("content", placeholder.content),
        ])
    }

    /// The timelines that the gateway keeps for these instances: the entry of now and those to come, with content.
    private func shown(_ timelines: [StoredTimeline]) -> [JSONValue] {
        guard let now = self.providers?.now else { return [] }
        return timelines.map { timeline in
            JSONValue.object(of: [
                ("instance", .string(timeline.address.instance.rawValue)),
                ("kind", .string(timeline.kind.rawValue)),
                ("family", .string(timeline.family.name)),
                ("reload", .string(timeline.reload.description)),
                (
                    "entries",
                    .array(
                        timeline.entries[(timeline.index(at: now) ?? 0)...].map { entry in
                            JSONValue.object(of: [
                                ("date", .instant(entry.date)),
                                ("relevance", entry.relevance.map { Views.relevance($0) }),
                                ("content", Self.content(entry)),
                            ])
                        }
                    )
                ),
            ])
        }
    }

    private static func content(_ entry: StoredTimeline.Entry) -> JSONValue? {
        try? JSONReader().value(of: entry.content, bytesMax: entry.content.count)
    }
}

extension Problem {
    fileprivate init(_ refusal: HostStreams.SubscribeError) {
        switch refusal {
        case .tooManyOfScope(let max):
            self.init(.tooMany, "\(max) event streams are already open here, the limit; close one")
        case .tooMany(let max): self.init(.tooMany, "the gateway has \(max) event streams open, its limit")
        case .closing: self.init(.unavailable, "the gateway is shutting down; connect again in a moment")
        }
    }
}

/// One partition's reloads that a stream begins with.
private struct ReloadBacklog: Sendable {
    /// The app whose next page may be asked for.
    var app: BundleID?
    let partition: PartitionID
    let page: ReloadsPage
}
