import APNSWire
import Engine
import HTTPTransport
import WidgetModel

extension HostRoutes {
    /// `GET /v1/hosts/<token>/events` and `GET /v1/apps/<bundle-id>/events`: Server-Sent Events.
    ///
    /// What is outstanding comes first, then what happens. An event's id is the reload's, so a host deduplicates by it.
    /// A reader that names the last event it saw gets `redelivered: true` on what it has had before and not
    /// acknowledged. An id that this log never gave out is answered with a `gap` event: read the state, then go on.
    func events(_ scope: HostStreams.Scope, lastEventID: String?) async throws(Problem) -> HTTPResponse {
        let subscription: HostStreams.Subscription
        do throws(HostStreams.Refusal) {
            // Before the question what is outstanding, so that nothing falls between.
            subscription = try self.streams.subscribe(scope)
        } catch {
            throw Problem(error)
        }
        let outstanding: [ReloadEffect]
        let isGap: Bool
        do throws(Problem) {
            outstanding = try await self.outstanding(scope)
            isGap = try await self.isGap(lastEventID)
        } catch {
            self.streams.cancel(subscription)
            throw error
        }
        let last = lastEventID.flatMap { ReloadID($0) }
        let streams = self.streams
        return HTTPResponse(
            status: 200,
            headers: ["content-type": "text/event-stream", "cache-control": "no-store"],
            body: .stream { writer in
                defer { streams.cancel(subscription) }
                var text = EventText.opening
                if isGap { text += EventText.gap }
                var offered: Set<ReloadID> = []
                for reload in outstanding {
                    offered.insert(reload.id)
                    let isRepeated = last.map {
                        reload.id.partition == $0.partition && reload.id.position <= $0.position
                    }
                    text += EventText.reload(reload, redelivered: isRepeated ?? false)
                    if text.utf8.count > EventText.chunkBytes {
                        try await writer.write(text)
                        text = ""
                    }
                }
                if !text.isEmpty { try await writer.write(text) }
                for await event in subscription.events {
                    switch event {
                    case .heartbeat: try await writer.write(EventText.heartbeat)
                    case .reload(let reload):
                        // Issued between the subscription and the question: it has been offered.
                        if offered.remove(reload.id) != nil { continue }
                        try await writer.write(EventText.reload(reload, redelivered: false))
                    }
                }
            }
        )
    }

    private func outstanding(_ scope: HostStreams.Scope) async throws(Problem) -> [ReloadEffect] {
        switch scope {
        case .host(let host): return try await self.log.ask(host) { $0.outstandingReloads(host: host) }
        case .app(let app): return try await self.log.askAll { $0.outstandingReloads(app: app) }.flatMap { $0 }
        }
    }

    /// Whether an id names an event that the log cannot have given out.
    private func isGap(_ lastEventID: String?) async throws(Problem) -> Bool {
        guard let lastEventID, !lastEventID.isEmpty else { return false }
        guard let id = ReloadID(lastEventID) else { return true }
        let progress = await self.log.progress().first { $0.partition == id.partition }
        guard let progress else { return true }
        return id.position > progress.applied
    }

    /// `GET /v1/hosts/<token>/state`: what a host needs after a gap.
    func state(_ token: DeviceToken, _ caller: Caller) async throws(Problem) -> HTTPResponse {
        let entry = try self.entry(token, caller)
        let answer = try await self.log.ask(entry.host) { engine -> (HostView?, [InstanceView], [ReloadEffect]) in
            guard let host = engine.host(entry.host) else { return (nil, [], []) }
            let instances = host.instances.compactMap {
                engine.instance(InstanceAddress(host: entry.host, instance: $0.id))
            }
            return (host, instances, engine.outstandingReloads(host: entry.host))
        }
        guard let host = answer.0 else {
            throw Problem(.unknownHost, "no host with this push token is registered")
        }
        return HTTPResponse(
            json: JSONValue.object(of: [
                ("host", Views.registration(host)),
                ("instances", .array(answer.1.map { Views.instance($0) })),
                ("outstanding", .array(answer.2.map { Views.reload($0) })),
            ])
        )
    }
}

extension Problem {
    fileprivate init(_ refusal: HostStreams.Refusal) {
        switch refusal {
        case .tooManyOfScope(let max): self.init(.tooMany, "\(max) event streams are open here already; close one")
        case .tooMany(let max): self.init(.tooMany, "the gateway has \(max) event streams open, its limit")
        case .closing: self.init(.unavailable, "the gateway is shutting down; connect again in a moment")
        }
    }
}

/// The text of Server-Sent Events (WHATWG HTML, "Server-sent events").
enum EventText {
    /// Text is written in pieces of about this size.
    static let chunkBytes = 16_384
    /// How soon a reader should connect again, in milliseconds.
    static let opening = "retry: 1000\n\n"
    static let heartbeat = ": heartbeat\n\n"
    static let gap = "event: gap\ndata: {\"advice\":\"read the state, then follow this stream\"}\n\n"

    static func reload(_ reload: ReloadEffect, redelivered: Bool) -> String {
        var value = Views.reload(reload)
        if redelivered, case .object(let members) = value {
            value = .object(members + [JSONValue.Member(name: "redelivered", value: .bool(true))])
        }
        let data = String(decoding: value.jsonText, as: UTF8.self)
        return "id: \(reload.id)\nevent: reload\ndata: \(data)\n\n"
    }
}
