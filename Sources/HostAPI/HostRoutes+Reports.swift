import APNSWire
import Engine
import HTTPTransport
import Partitions
import Serving
import Timelines
import WidgetModel

extension HostRoutes {
    /// `PUT /v1/hosts/<token>/widgets/<id>/timeline`
    func timeline(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        let instance = InstanceID(call["instance"])
        let entry = try await self.entry(call.asker)
        var object = try call.object()
        let body = try TimelineBody(&object, limits: self.limits.timelines)
        if let reload = body.reload { try await self.refuseFetched([(reload, entry.host)]) }
        let report = TimelineReport(
            host: entry.host,
            instance: instance,
            reload: body.reload,
            timeline: body.timeline,
            contentBytes: body.contentBytes
        )
        switch try await self.log.append(.timeline(report), for: entry.host) {
        case .timeline(let findings):
            await self.noteFindings(findings, of: InstanceAddress(host: entry.host, instance: instance))
            return HTTPResponse(json: JSONValue.object(of: [("findings", .array(findings.map { Views.finding($0) }))]))
        case .staleGeneration:
            throw Problem(.staleTimeline, "the instance was configured again after that reload; wait for the next one")
        case .timelineRefused(let fault): throw Problem(.badTimeline, fault.description)
        case .unknownInstance: throw Problem(.unknownInstance, "the host has no instance \"\(instance)\"")
        case .unknownReload: throw Problem(.unknownReload, "is not a reload of this instance", path: "reload")
        default: throw Problem(.unknownHost, "no host with this push token is registered")
        }
    }

    /// Keeps the findings about a host's own timeline for operators who look at its kind.
    private func noteFindings(_ findings: [TimelineFinding], of address: InstanceAddress) async {
        guard !findings.isEmpty, let view = try? await self.log.ask(InstanceQuestion(address)) else {
            return
        }
        self.states.noteFindings(
            findings,
            of: address,
            KindKey(app: view.app, kind: view.kind),
            at: view.timeline?.receivedAt ?? .epoch
        )
    }

    /// `POST /v1/hosts/<token>/signals`: one signal, or `{"signals": [...]}`.
    func signals(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        let entry = try await self.entry(call.asker)
        let value = try call.json()
        var records: [Record] = []
        if case .array(let elements)? = value["signals"] {
            guard elements.count <= self.limits.reportsMax else {
                throw Problem(.tooLarge, "at most \(self.limits.reportsMax) signals a request", path: "signals")
            }
            for (index, element) in elements.enumerated() {
                records.append(try SignalBody.record(element, at: "signals[\(index)]", host: entry.host))
            }
        } else {
            records.append(try SignalBody.record(value, at: "", host: entry.host))
        }
        try await self.refuseFetched(records.compactMap(\.acknowledgedReload).map { ($0, entry.host) })
        let answers = try await self.log.append(records.map { ($0, entry.host) })
        for answer in answers {
            switch answer {
            case .unknownHost: throw Problem(.unknownHost, "no host with this push token is registered")
            case .unknownInstance: throw Problem(.unknownInstance, "the host has no instance that a signal names")
            case .unknownReload: throw Problem(.unknownReload, "is not a reload of this host", path: "reload")
            case .delivery(known: false):
                throw Problem(
                    .unknownReload,
                    "the reload is not outstanding: it was acknowledged before, has expired, or is unknown"
                )
            default: continue
            }
        }
        return HTTPResponse(status: 204)
    }

    /// `POST /v1/apps/<bundle-id>/acknowledgements`: a back end acknowledges reloads of many hosts, one a line.
    func acknowledge(_ call: Call<AppAsker>) async throws(Problem) -> HTTPResponse {
        let app = call.asker.app
        let lines = JSONLines.split(call.request.body)
        guard lines.count <= self.limits.reportsMax else {
            throw Problem(.tooLarge, "at most \(self.limits.reportsMax) acknowledgements a request")
        }
        let reader = JSONReader()
        var reports: [(reload: ReloadID, result: DeliveryReport.Result)] = []
        for (index, line) in lines.enumerated() {
            let value = try reader.value(of: Array(line), bytesMax: self.limits.bodyBytesMax)
            reports.append(try SignalBody.delivery(value, at: "line \(index + 1)"))
        }
        let hosts = try await self.hosts(of: reports.map(\.reload), app)
        try await self.refuseFetched(
            reports.compactMap { report in
                guard report.result == .acknowledged, let host = hosts[report.reload] else { return nil }
                return (report.reload, host)
            }
        )
        var records: [(record: Record, host: HostKey)] = []
        for report in reports {
            guard let host = hosts[report.reload] else { continue }
            let record = DeliveryReport(host: host, reload: report.reload, result: report.result)
            records.append((.delivery(record), host))
        }
        let answers = try await self.log.append(records)
        let known = answers.count { $0 == .delivery(known: true) }
        return HTTPResponse(
            json: JSONValue.object(of: [("acknowledged", .count(known)), ("unknown", .count(reports.count - known))])
        )
    }

    /// Refuses to take a reload for done whose timeline is still to be fetched: it would never be, and the widget would have
    /// nothing to show. Once the timeline has come, the reload has ended.
    private func refuseFetched(_ done: [(reload: ReloadID, host: HostKey)]) async throws(Problem) {
        guard let providers = self.providers, !done.isEmpty else { return }
        let out = try await self.log.find(ReloadEffect.self, of: done.map { $0.reload })
        for (id, host) in done {
            guard let reload = out[id], reload.host == host, providers.fetches(reload) else { continue }
            throw Problem(
                .notSupported,
                "the gateway still fetches the timeline of \"\(reload.instance)\" from its provider: wait for the event"
                    + " `entry`, and answer that with entryShown",
                path: "reload"
            )
        }
    }

    /// The hosts of some reloads, of one app: another app's reload is as good as none.
    private func hosts(
        of reloads: [ReloadID],
        _ app: ServedApps.App
    ) async throws(Problem) -> [ReloadID: HostKey] {
        try await self.log.find(HostKey.self, of: Set(reloads)).filter { $0.value.app == app.bundle }
    }

    /// `POST /v1/apps/<bundle-id>/reload`: `reloadTimelines(ofKind:)` and `reloadAllTimelines()`.
    func reload(_ call: Call<AppAsker>) async throws(Problem) -> HTTPResponse {
        let app = call.asker.app
        var object = try call.objectIfAny()
        let kind = try object.string("kind").map { WidgetKind($0) }
        if let kind, app.schema(of: kind) == nil {
            throw object.problem("kind", "the app has no kind \"\(kind)\"", code: .unknownKind)
        }
        let pattern = try object.value("match").map { (match) throws(Problem) in
            try app.pattern(match, kind, self.bounds.patterns)
        }
        let host = try object.string("host", bytesMax: RegistrationBody.hostBytesMax).map { HostID($0) }
        let digest = try object.string("digest", bytesMax: PushPayload.digestBytesMax).map { Array($0.utf8) }
        let controls = try object.bool("controls") ?? false
        try object.finish()
        let record = Record.appReload(
            AppReloadRequest(
                app: app.bundle,
                kind: kind,
                pattern: pattern,
                host: host,
                digest: digest,
                isForControls: controls
            )
        )
        let answers: [RecordAnswer.Result]
        if let host {
            answers = [try await self.log.append(record, for: HostKey(app: app.bundle, id: host))]
        } else {
            answers = try await self.log.appendToAll(record)
        }
        var matched = 0
        for case .appReload(let count) in answers { matched += count }
        return HTTPResponse(json: JSONValue.object(of: [("matched", .count(matched))]))
    }
}

extension Record {
    /// The reload that a host says it has done.
    fileprivate var acknowledgedReload: ReloadID? {
        switch self {
        case .delivery(let report) where report.result == .acknowledged: report.reload
        case .signal(let signal):
            if case .entryShown(let reload, _) = signal.event { reload } else { nil }
        default: nil
        }
    }
}
