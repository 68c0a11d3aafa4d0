import APNSWire
import Engine
import HTTPTransport
import WidgetModel

extension HostRoutes {
    /// `PUT /v1/hosts/<token>/widgets`
    func register(_ request: HTTPRequest, _ token: DeviceToken, _ caller: Caller) async throws(Problem) -> HTTPResponse
    {
        var object = try RequestObject(try self.json(request))
        let registration = try self.registration(&object, token, caller)
        try await self.checkHolder(of: registration, caller)
        let answer = try await self.log.append(.register(registration), for: registration.host)
        return HTTPResponse(json: try Self.registered(answer, registration.host))
    }

    /// `GET /v1/hosts/<token>/widgets`: WidgetKit's `getCurrentConfigurations`, for one host.
    func widgets(_ token: DeviceToken, _ caller: Caller) async throws(Problem) -> HTTPResponse {
        let entry = try self.entry(token, caller)
        guard let host = try await self.log.ask(entry.host, { $0.host(entry.host) }) else {
            throw Problem(.unknownHost, "no host with this push token is registered")
        }
        return HTTPResponse(json: Views.registration(host))
    }

    /// `DELETE /v1/hosts/<token>/widgets`
    func unregister(_ token: DeviceToken, _ caller: Caller) async throws(Problem) -> HTTPResponse {
        let entry = try self.entry(token, caller)
        let answer = try await self.log.append(.unregister(HostRemoval(host: entry.host)), for: entry.host)
        guard case .unregistered = answer else {
            throw Problem(.unknownHost, "no host with this push token is registered")
        }
        return HTTPResponse(status: 204)
    }

    /// The registration that a body asks for, for a caller who may.
    func registration(
        _ object: inout RequestObject,
        _ token: DeviceToken,
        _ caller: Caller
    ) throws(Problem) -> HostRegistration {
        // Before anything of the app is told, such as the names of its kinds.
        try self.checkApp(&object, caller)
        let bounds = self.bounds
        let body = try RegistrationBody(
            &object,
            apps: self.apps,
            instancesMax: bounds.hosts.instancesPerHostMax,
            conditions: bounds.conditions
        )
        guard caller.mayAct(for: token, of: body.app) || self.holdsReplaced(caller, body) else {
            throw Problem(.forbidden, "the credential is not for this push token of \(body.app)")
        }
        let host = try self.host(of: token, body)
        try self.checkControlTokens(of: host, body)
        return HostRegistration(
            host: host,
            token: token,
            replacedToken: body.replacedToken,
            app: body.app,
            revision: body.revision,
            delivery: body.delivery,
            context: body.context,
            lease: body.lease,
            instances: body.instances
        )
    }

    private func checkApp(_ object: inout RequestObject, _ caller: Caller) throws(Problem) {
        let app = BundleID(try object.requiredString("app", bytesMax: 255))
        guard self.apps[app] != nil else { return }
        switch caller {
        case .host(let claims) where claims.app == app: return
        case .sender where caller.mayAct(for: nil, of: app): return
        default: throw Problem(.forbidden, "the credential is not for \(app)", path: object.path(of: "app"))
        }
    }

    /// A host whose token changes may still hold the credential of the token that it replaces, if that one is its own.
    private func holdsReplaced(_ caller: Caller, _ body: RegistrationBody) -> Bool {
        guard let replaced = body.replacedToken, case .bound = self.directory.lookup(replaced) else { return false }
        return caller.mayAct(for: replaced, of: body.app)
    }

    /// Refuses a host that would take over another's registration by its name.
    ///
    /// Names of hosts are no secret. A host with its own credential may have a name that is free, or one that a push
    /// token which it names belongs to; an app's back end may give any.
    private func checkHolder(of registration: HostRegistration, _ caller: Caller) async throws(Problem) {
        guard case .host = caller else { return }
        for token in [registration.token, registration.replacedToken] {
            if let token, case .bound(let entry) = self.directory.lookup(token), entry.host == registration.host {
                return
            }
        }
        let host = registration.host
        guard try await self.log.ask(host, { $0.host(host) == nil }) else {
            throw Problem(
                .forbidden,
                "the host is registered with another push token: name that in `replaces`, or ask the app's back end",
                path: "host"
            )
        }
    }

    /// Refuses the token of another host, or the host's own, as a control's.
    private func checkControlTokens(of host: HostID, _ body: RegistrationBody) throws(Problem) {
        for (index, instance) in body.instances.enumerated() {
            guard let token = instance.controlToken, case .bound(let entry) = self.directory.lookup(token) else {
                continue
            }
            guard entry.app == body.app, entry.host == host, entry.instance != nil else {
                throw Problem(
                    .tokenBound,
                    "the push token belongs to another host or is no control's",
                    path: "instances[\(index)].controlToken"
                )
            }
        }
    }

    /// The host that a registration is about: the one it names, else the one its tokens belong to, else a new one.
    private func host(of token: DeviceToken, _ body: RegistrationBody) throws(Problem) -> HostID {
        let bound = try self.boundHost(of: token, body)
        let replaced = try body.replacedToken.flatMap { (token) throws(Problem) in try self.boundHost(of: token, body) }
        let host = body.host ?? bound ?? replaced ?? HostID(derivedFrom: token)
        for other in [bound, replaced] {
            if let other, other != host {
                throw Problem(.tokenBound, "the push token belongs to another host; DELETE that registration first")
            }
        }
        return host
    }

    private func boundHost(of token: DeviceToken, _ body: RegistrationBody) throws(Problem) -> HostID? {
        guard case .bound(let entry) = self.directory.lookup(token) else { return nil }
        guard entry.app == body.app, entry.instance == nil else {
            throw Problem(.tokenBound, "the push token belongs to another app, or to a control")
        }
        return entry.host
    }

    /// The answer to an applied registration.
    static func registered(_ answer: RecordAnswer.Result, _ host: HostID) throws(Problem) -> JSONValue {
        switch answer {
        case .registered(let counts):
            return JSONValue.object(of: [
                ("host", .string(host.rawValue)),
                ("added", .count(counts.added)),
                ("changed", .count(counts.changed)),
                ("unchanged", .count(counts.unchanged)),
                ("removed", .count(counts.removed)),
            ])
        case .staleRevision(let current):
            throw Problem(
                .staleRevision,
                "revision \(current) is registered already; send a newer one",
                path: "revision"
            )
        case .refused(let refusal):
            throw Problem(refusal)
        default:
            throw Problem(.internal, "the engine gave an answer that does not belong to a registration")
        }
    }
}

extension Problem {
    fileprivate init(_ refusal: RegistrationRefusal) {
        switch refusal {
        case .unknownApp(let app): self.init(.badRequest, "the app \(app) is not served here", path: "app")
        case .unknownKind(let kind): self.init(.unknownKind, "the app has no kind \"\(kind)\"")
        case .configuration(let id):
            self.init(.badConfiguration, "the configuration of \"\(id)\" does not fit its kind's schema")
        case .duplicateInstance(let id): self.init(.badRequest, "the instance \"\(id)\" occurs twice")
        case .duplicateToken(let id): self.init(.tokenBound, "the control token of \"\(id)\" is in use already")
        case .hostOfAnotherApp:
            self.init(.tokenBound, "the host id belongs to another app; choose another", path: "host")
        case .tokenOfAnotherApp: self.init(.tokenBound, "the push token belongs to another app")
        case .tooManyInstances(let max):
            self.init(.tooMany, "a host may have at most \(max) instances", path: "instances")
        case .tooManyTags(let id, let max): self.init(.tooMany, "\"\(id)\" has more than \(max) tags")
        }
    }
}

// MARK: - Import

extension HostRoutes {
    /// `POST /v1/apps/<bundle-id>/hosts`: one registration a line, one answer a line.
    ///
    /// A line that is refused changes nothing and does not keep the others from being applied. Idempotent: a line sent
    /// again with the same revision registers the same again.
    func importHosts(
        _ request: HTTPRequest,
        _ app: ServedApps.App,
        _ caller: Caller
    ) async throws(Problem) -> HTTPResponse {
        guard request.body.count <= self.limits.importBytesMax else {
            throw Problem(.tooLarge, "an import takes at most \(self.limits.importBytesMax) bytes a request")
        }
        let lines = Self.lines(request.body)
        guard lines.count <= self.limits.importLinesMax else {
            throw Problem(.tooMany, "an import takes at most \(self.limits.importLinesMax) lines a request")
        }
        var answers = [JSONValue](repeating: .null, count: lines.count)
        var records: [(line: Int, record: Record, host: HostID)] = []
        let reader = JSONReader()
        for (index, line) in lines.enumerated() {
            do throws(Problem) {
                let registration = try self.registration(line: Array(line), reader, caller, app)
                records.append((index, .register(registration), registration.host))
            } catch {
                answers[index] = Self.line(index, .failure(error))
            }
        }
        let results = try await self.log.append(records.map { ($0.record, $0.host) })
        for (item, result) in zip(records, results) {
            do throws(Problem) {
                answers[item.line] = Self.line(item.line, .success(try Self.registered(result, item.host)))
            } catch {
                answers[item.line] = Self.line(item.line, .failure(error))
            }
        }
        return HTTPResponse(lines: answers)
    }

    private func registration(
        line: [UInt8],
        _ reader: JSONReader,
        _ caller: Caller,
        _ app: ServedApps.App
    ) throws(Problem) -> HostRegistration {
        var object = try RequestObject(try Self.json(line, reader: reader, bytesMax: self.limits.bodyBytesMax))
        let hex = try object.requiredString("token")
        guard let token = DeviceToken(hex: hex) else { throw object.problem("token", "is no push token in hex") }
        let registration = try self.registration(&object, token, caller)
        guard registration.app == app.bundle else {
            throw object.problem("app", "is \(registration.app), but the path says \(app.bundle)")
        }
        return registration
    }

    private static func line(_ index: Int, _ result: Result<JSONValue, Problem>) -> JSONValue {
        switch result {
        case .success(let answer):
            JSONValue.object(of: [("line", .count(index + 1)), ("status", .count(200)), ("registered", answer)])
        case .failure(let problem):
            JSONValue.object(of: [
                ("line", .count(index + 1)), ("status", .count(problem.code.status)), ("problem", problem.json),
            ])
        }
    }
}
