import APNSWire
import Engine
import HTTPTransport
import IntentMatching
import Partitions
import Serving
import WidgetModel

extension HostRoutes {
    /// `PUT /v1/hosts/<token>/widgets`
    func register(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        var object = try call.object()
        let request = try self.request(&object, call.asker.token, call.asker.caller)
        let bindings = await TokenBindings(of: request.tokens, self.log, self.directory)
        let registration = try self.registration(request, bindings)
        let answers = try await self.append([registration], bindings, by: call.asker.caller)
        return HTTPResponse(json: try self.registered(try answers[0].get(), registration.host))
    }

    /// `GET /v1/hosts/<token>/widgets`: WidgetKit's `getCurrentConfigurations`, for one host.
    func widgets(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        let entry = try await self.entry(call.asker)
        guard let host = try await self.log.ask(HostQuestion(entry.host)) else {
            throw Problem(.unknownHost, "no host with this push token is registered")
        }
        return HTTPResponse(json: Views.registration(host))
    }

    /// `DELETE /v1/hosts/<token>/widgets`
    func unregister(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        let entry = try await self.entry(call.asker)
        let answer = try await self.log.append(.unregister(HostRemoval(host: entry.host)), for: entry.host)
        guard case .unregistered = answer else {
            throw Problem(.unknownHost, "no host with this push token is registered")
        }
        return HTTPResponse(status: 204)
    }

    /// The request of a body, from a caller with the right to it.
    private func request(
        _ object: inout RequestObject,
        _ token: DeviceToken,
        _ caller: Caller
    ) throws(Problem) -> RegistrationRequest {
        // Before anything of the app is told, such as the names of its kinds.
        try self.checkApp(&object, caller)
        let bounds = self.bounds
        let body = try RegistrationBody(
            &object,
            apps: self.apps,
            instancesMax: bounds.hosts.instancesPerHostMax,
            conditions: bounds.conditions
        )
        guard caller.mayAct(for: token, of: body.app) else {
            throw Problem(
                .forbidden,
                "the credential is not for this push token of \(body.app); \(self.asked(by: caller))"
            )
        }
        return RegistrationRequest(token: token, body: body, caller: caller)
    }

    /// The registration that a request asks for, by the bindings of its tokens.
    private func registration(
        _ request: RegistrationRequest,
        _ bindings: TokenBindings
    ) throws(Problem) -> HostRegistration {
        let body = request.body
        let (host, registrant) = try self.host(of: request, bindings)
        try self.checkControlTokens(of: host, body, registrant, bindings)
        let registration = HostRegistration(
            host: host,
            token: request.token,
            replacedToken: body.replacedToken,
            registrant: registrant,
            revision: body.revision,
            delivery: body.delivery,
            context: body.context,
            lease: body.lease,
            instances: body.instances
        )
        let effectBytes = TokenPush.bytesMax(for: registration)
        let effectBytesMax = self.bounds.hosts.effectBytesMax
        guard effectBytes <= effectBytesMax else {
            throw Problem(
                .tooLarge,
                "a push for the \(body.instances.count) widgets of this host could take \(effectBytes) bytes in the log, more than the limit of \(effectBytesMax): register fewer widgets, or give them shorter ids",
                path: "instances"
            )
        }
        return registration
    }

    private func checkApp(_ object: inout RequestObject, _ caller: Caller) throws(Problem) {
        let app = BundleID(try object.requiredString("app", bytesMax: 255))
        guard self.apps[app] != nil else { return }
        switch caller {
        case .host(let credential) where credential.claims.app == app: return
        case .sender where caller.mayAct(for: nil, of: app): return
        default:
            let sentence = "the credential is not for \(app); \(self.asked(by: caller))"
            throw Problem(.forbidden, sentence, path: object.path(of: "app"))
        }
    }

    /// The host that a registration is about: the one it names, else the one its tokens stand for, else a new one; and by
    /// what right it is registered. The engine holds the registration to that right when it is applied.
    private func host(
        of request: RegistrationRequest,
        _ bindings: TokenBindings
    ) throws(Problem) -> (HostKey, Registrant) {
        let (token, body, caller) = (request.token, request.body, request.caller)
        let bound = try self.boundHost(of: token, body, bindings)
        let replaced =
            if let token = body.replacedToken { try self.boundHost(of: token, body, bindings) } else { HostKey?.none }
        let derived = HostKey(app: body.app, id: HostID(derivedFrom: token))
        let host = body.host.map { HostKey(app: body.app, id: $0) } ?? bound ?? replaced ?? derived
        guard case .host(let credential) = caller else {
            return (host, body.addsToken ? .backEndAddingToken : .backEnd)
        }
        guard !body.addsToken else {
            throw Problem(.forbidden, "only the app's back end may give a host another push token", path: "addToken")
        }
        let named = credential.claims.host.map { HostKey(app: body.app, id: $0) }
        if let replaced, replaced != named {
            throw Problem(
                .forbidden,
                "the credential may not use that push token: it must name its host (claim `host`)",
                path: "replaces"
            )
        }
        if host == named { return (host, .namedHost) }
        guard host == bound || host == derived else {
            throw Problem(
                .forbidden,
                "the credential does not name this host (claim `host`): leave `host` out, or ask the app's back end",
                path: "host"
            )
        }
        return (host, .host)
    }

    /// Refuses a host's token as a control's, and another control's unless a back end gives it away.
    private func checkControlTokens(
        of host: HostKey,
        _ body: RegistrationBody,
        _ registrant: Registrant,
        _ bindings: TokenBindings
    ) throws(Problem) {
        for (index, instance) in body.instances.enumerated() {
            guard let token = instance.controlToken, let entry = try bindings.binding(of: token) else { continue }
            guard entry.app == body.app, entry.instance != nil, !registrant.isHost || entry.host == host else {
                throw Problem(
                    .tokenBound,
                    "the push token belongs to another host, or does not belong to a control",
                    path: "instances[\(index)].controlToken"
                )
            }
        }
    }

    /// The host that a push token stands for; nil if it stands for none.
    private func boundHost(
        of token: DeviceToken,
        _ body: RegistrationBody,
        _ bindings: TokenBindings
    ) throws(Problem) -> HostKey? {
        guard let entry = try bindings.binding(of: token) else { return nil }
        guard entry.app == body.app else { throw Problem(.tokenBound, "the push token belongs to another app") }
        return entry.instance == nil ? entry.host : nil
    }

    /// Logs registrations of one app, and waits until they are applied; the answers are in the same order. One that finds no
    /// room in the registry is refused by itself, and not logged.
    ///
    /// A token that another partition's host has goes from there first: each token stands for one host at a time. In between
    /// pushes to it are answered 503, and the registration is not answered: should the gateway die, it is sent again.
    private func append(
        _ registrations: [HostRegistration],
        _ bindings: TokenBindings,
        by caller: Caller
    ) async throws(Problem) -> [Result<RecordAnswer.Result, Problem>] {
        let admission = try await self.admit(registrations, bindings, by: caller)
        defer { self.registry?.release(admission.reservations) }
        let admitted = registrations.indices.filter { admission.refusals[$0] == nil }
        for index in admitted { try await self.freeTokens(of: registrations[index], bindings) }
        var answers = try await self.log.append(
            admitted.map { (.register(registrations[$0]), registrations[$0].host) }
        ).makeIterator()
        return registrations.indices.compactMap { index in
            admission.refusals[index].map { .failure($0) } ?? answers.next().map { .success($0) }
        }
    }

    private func freeTokens(of registration: HostRegistration, _ bindings: TokenBindings) async throws(Problem) {
        let controls = registration.registrant.isHost ? [] : registration.instances.compactMap(\.controlToken)
        let home = self.log.partition(of: registration.host)
        var elsewhere: [(token: DeviceToken, host: HostKey)] = []
        // A host goes with its last token, and its controls' tokens with it: those that move, too, go before.
        for token in controls + [registration.token] {
            guard let entry = try bindings.binding(of: token), entry.app == registration.app, entry.partition != home
            else { continue }
            elsewhere.append((token, entry.host))
        }
        guard !elsewhere.isEmpty,
            try await self.log.ask(home, RegistrationsQuestion([registration]))[0] != nil
        else { return }
        _ = try await self.log.append(
            elsewhere.map { (.unregister(HostRemoval(host: $0.host, token: $0.token, purpose: .move)), $0.host) }
        )
    }

    /// The answer to an applied registration.
    func registered(_ answer: RecordAnswer.Result, _ host: HostKey) throws(Problem) -> JSONValue {
        switch answer {
        case .registered(let counts):
            return JSONValue.object(of: [
                ("host", .string(host.id.rawValue)),
                ("added", .count(counts.added)),
                ("changed", .count(counts.changed)),
                ("unchanged", .count(counts.unchanged)),
                ("removed", .count(counts.removed)),
            ])
        case .staleRevision(let current):
            throw Problem(
                .staleRevision,
                "revision \(current) is already registered; send a newer one",
                path: "revision"
            )
        case .refused(let refusal):
            throw Problem(refusal, now: self.authorizer.now)
        default:
            throw Problem(.internal, "the engine gave an answer that does not belong to a registration")
        }
    }
}

extension Problem {
    fileprivate init(_ refusal: RegistrationError, now: Instant) {
        switch refusal {
        case .unknownApp(let app): self.init(.badRequest, "the gateway does not serve the app \(app)", path: "app")
        case .unknownKind(let kind): self.init(.unknownKind, "the app has no kind \"\(kind)\"")
        case .configuration(let id):
            self.init(.badConfiguration, "the configuration of \"\(id)\" does not fit its kind's schema")
        case .duplicateInstance(let id): self.init(.badRequest, "the instance \"\(id)\" occurs twice")
        case .duplicateToken(let id): self.init(.tokenBound, "the control token of \"\(id)\" is already in use")
        case .hostOfOtherTokens:
            let sentence =
                "the host is registered with another push token: ask the app's back end to register it, or for a"
            self.init(.forbidden, sentence + " credential that names the host (claim `host`)", path: "host")
        case .replacedTokenOfOther:
            self.init(.tokenBound, "the push token belongs to another host", path: "replaces")
        case .controlTokenOfOther(let id):
            self.init(
                .tokenBound,
                "the control token of \"\(id)\" belongs to another host, or does not belong to a control"
            )
        case .tokenOfAnotherApp: self.init(.tokenBound, "the push token belongs to another app")
        case .tooManyInstances(let max):
            self.init(.tooLarge, "a host may have at most \(max) instances", path: "instances")
        case .tooManyTags(let id, let max): self.init(.tooLarge, "\"\(id)\" has more than \(max) tags")
        case .tooManyTombstones(let max, let until):
            let wait = (until - now).milliseconds.multipliedSaturating(by: 1_000_000)
            self.init(
                .tooManyTombstones,
                "the gateway still holds the budgets of \(max) removed instances of the host: keep the ids of widgets that stay, or"
                    + " send it again after \(RFC3339.text(of: until) ?? "their windows")",
                path: "instances",
                retryAfter: RateLimit.retryAfterSeconds(wait)
            )
        }
    }
}

// MARK: - Import

extension HostRoutes {
    /// `POST /v1/apps/<bundle-id>/hosts`: one registration a line, one answer a line.
    ///
    /// A line that is refused changes nothing and does not keep the others from being applied. Idempotent: a line sent
    /// again with the same revision registers the same again.
    func importHosts(_ call: Call<AppAsker>) async throws(Problem) -> HTTPResponse {
        let (app, caller) = (call.asker.app, call.asker.caller)
        let lines = JSONLines.split(call.request.body)
        guard lines.count <= self.limits.importLinesMax else {
            throw Problem(.tooLarge, "an import may have at most \(self.limits.importLinesMax) lines per request")
        }
        var answers = [JSONValue](repeating: .null, count: lines.count)
        var requests: [(line: Int, request: RegistrationRequest)] = []
        let reader = JSONReader()
        for (index, line) in lines.enumerated() {
            do throws(Problem) {
                requests.append((index, try self.request(line: Array(line), reader, caller, app)))
            } catch {
                answers[index] = Self.line(index, .failure(error))
            }
        }
        let bindings = await TokenBindings(of: requests.flatMap(\.request.tokens), self.log, self.directory)
        var registrations: [(line: Int, registration: HostRegistration)] = []
        for (index, request) in requests {
            do throws(Problem) {
                registrations.append((index, try self.registration(request, bindings)))
            } catch {
                answers[index] = Self.line(index, .failure(error))
            }
        }
        let results = try await self.append(registrations.map(\.registration), bindings, by: caller)
        for (item, result) in zip(registrations, results) {
            do throws(Problem) {
                let registered = try self.registered(try result.get(), item.registration.host)
                answers[item.line] = Self.line(item.line, .success(registered))
            } catch {
                answers[item.line] = Self.line(item.line, .failure(error))
            }
        }
        return HTTPResponse(lines: answers)
    }

    private func request(
        line: [UInt8],
        _ reader: JSONReader,
        _ caller: Caller,
        _ app: ServedApps.App
    ) throws(Problem) -> RegistrationRequest {
        var object = try RequestObject(try reader.value(of: line, bytesMax: self.limits.bodyBytesMax))
        let hex = try object.requiredString("token")
        guard let token = DeviceToken(hex: hex) else { throw object.problem("token", "is not a push token in hex") }
        let request = try self.request(&object, token, caller)
        guard request.body.app == app.bundle else {
            throw object.problem("app", "is \(request.body.app), but the path says \(app.bundle)")
        }
        return request
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
