import APNSWire
import Engine
import HTTPTransport
import Partitions
import Serving
import Settings
import WidgetModel

/// Teams, keys, apps and kinds as operators see and change them, in the form that the configuration file has.
extension OperatorRoutes {
    private var reloading: ConfigurationReload {
        get throws(Problem) {
            guard let reloading = self.settings.reloading else {
                throw Problem(.notSupported, "this gateway has no configuration to show")
            }
            return reloading
        }
    }

    /// `GET /v1/config/amendments`: the entries that differ from the configuration file, or were changed to be as it
    /// says.
    func amendmentList(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        let (reloading, file) = (try self.reloading, try self.reloading.file)
        let amendments = try await reloading.amendments()
        return try await self.answer([("amendments", .array(amendments.map { AmendmentView($0, file).json }))])
    }

    /// `GET /v1/teams`.
    func teamList(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        let reloading = try self.reloading
        let (configuration, amendments) = (reloading.inForce, try await reloading.amendments())
        let teams = configuration.teams.map { team in
            let apps = configuration.apps.filter { $0.team == team.id }
            return JSONValue.object(of: [
                ("team", .string(team.id.rawValue)), ("keys", .strings(team.keys.map(\.id.rawValue))),
                ("readers", .strings(team.keys.filter(\.reads).map(\.id.rawValue))),
                ("apps", .strings(apps.map(\.bundleID.rawValue))),
                ("amendment", amendments[.team(team.id)].map { Views.author($0) }),
            ])
        }
        return try await self.answer([("teams", .array(teams))])
    }

    func team(_ call: OperatorCall) async throws(Problem) -> HTTPResponse { try self.show(call.team) }
    func putTeam(_ call: OperatorCall) throws(Problem) -> Change {
        try self.change(call, call.team, .put(call.entry()))
    }
    func endTeam(_ call: OperatorCall) throws(Problem) -> Change { try self.change(call, call.team, .end) }
    func revertTeam(_ call: OperatorCall) throws(Problem) -> Change { try self.change(call, call.team, .revert) }

    func teamKey(_ call: OperatorCall) async throws(Problem) -> HTTPResponse { try self.show(call.team, call["key"]) }

    func putTeamKey(_ call: OperatorCall) throws(Problem) -> Change {
        try self.change(call, call.team, .putPart(call["key"], call.entry()))
    }

    func endTeamKey(_ call: OperatorCall) throws(Problem) -> Change {
        try self.change(call, call.team, .endPart(call["key"]))
    }

    func app(_ call: OperatorCall) async throws(Problem) -> HTTPResponse { try self.show(call.app) }
    func putApp(_ call: OperatorCall) throws(Problem) -> Change { try self.change(call, call.app, .put(call.entry())) }
    func endApp(_ call: OperatorCall) throws(Problem) -> Change { try self.change(call, call.app, .end) }
    func revertApp(_ call: OperatorCall) throws(Problem) -> Change { try self.change(call, call.app, .revert) }

    func appKind(_ call: OperatorCall) async throws(Problem) -> HTTPResponse { try self.show(call.app, call["kind"]) }

    func putAppKind(_ call: OperatorCall) throws(Problem) -> Change {
        try self.change(call, call.app, .putPart(call["kind"], call.entry()))
    }

    func endAppKind(_ call: OperatorCall) throws(Problem) -> Change {
        try self.change(call, call.app, .endPart(call["kind"]))
    }

    // MARK: Answers

    /// An entry, or a part of it, with the tag that a change may name.
    private func show(_ entry: AmendedEntry, _ part: String? = nil) throws(Problem) -> HTTPResponse {
        guard let value = try self.reloading.value(of: entry, part: part) else {
            let what = part.map { "\"\($0)\" of the \(entry)" } ?? "\(entry)"
            throw Problem(.notFound, "there is no \(what); GET /v1/\(entry.list) lists them")
        }
        var response = HTTPResponse(json: value)
        response.headers.append("etag", EntityTag(value.jsonText, isWeak: false).description)
        return response
    }

    private func change(
        _ call: OperatorCall,
        _ entry: AmendedEntry,
        _ edit: ConfigurationReload.Edit
    ) throws(Problem) -> Change {
        let (reloading, isDryRun) = (try self.reloading, try call.flag("dryRun") ?? false)
        let condition = ConfigurationReload.Condition(
            ifMatch: call.request.headers["if-match"],
            ifNoneMatch: call.request.headers["if-none-match"]
        )
        return Change(isDryRun: isDryRun) { () async throws(Problem) in
            let amended = try await reloading.amend(
                entry,
                edit,
                by: call.asker.source,
                if: condition,
                isDryRun: isDryRun
            )
            let isTaken = amended.difference.faults.isEmpty
            var response = HTTPResponse(
                status: isTaken ? 200 : amended.isMalformed ? 422 : 409,
                json: Views.change(amended.difference, isDryRun: isDryRun)
            )
            if isTaken, !isDryRun, let value = amended.value {
                response.headers.append("etag", EntityTag(value.jsonText, isWeak: false).description)
            }
            return response
        }
    }
}

extension OperatorCall {
    fileprivate var team: AmendedEntry { .team(TeamID(self["team"])) }
    fileprivate var app: AmendedEntry { .app(BundleID(self["app"])) }

    /// The body: an entry. A private key is refused before the request and its caller are logged.
    fileprivate func entry() throws(Problem) -> JSONValue {
        let value = try self.json()
        _ = try value.members()
        try Self.refuseSecrets(value)
        return value
    }

    private static func refuseSecrets(_ value: JSONValue, named name: String = "") throws(Problem) {
        switch value {
        case .object(let members): for member in members { try self.refuseSecrets(member.value, named: member.name) }
        case .array(let elements): for element in elements { try self.refuseSecrets(element, named: name) }
        case .string(let text):
            if text.contains("PRIVATE KEY-----") {
                throw Problem(
                    .badRequest,
                    "you sent a private key, and the gateway takes only public keys: openssl pkey -in key.p8 -pubout. The gateway does not keep it; replace the key if others could see the request",
                    path: name
                )
            }
            if name == "publicKey", !text.contains("-----BEGIN PUBLIC KEY-----") {
                throw Problem(.badRequest, "must be a public key as PEM (BEGIN PUBLIC KEY)", path: name)
            }
        default: break
        }
    }
}

extension Views {
    /// Since when an entry differs from the file, and by which request.
    static func author(_ standing: StandingAmendment) -> JSONValue {
        JSONValue.object(of: [
            ("since", .instant(standing.since)), ("by", .string(standing.source.caller)),
            ("address", .string(standing.source.address)), ("request", .string(standing.source.request)),
        ])
    }

    /// The change that a request has made in an entry, or would make.
    static func change(_ difference: ConfigurationReload.Difference, isDryRun: Bool) -> JSONValue {
        JSONValue.object(of: [
            ("dryRun", isDryRun ? .bool(true) : nil),
            ("faults", difference.faults.isEmpty ? nil : .array(difference.faults.map(\.json))),
            ("changes", .array(difference.changes.map { Views.change($0) })),
            ("orphaned", .count(difference.orphaned)),
        ])
    }

    /// One key that differs.
    static func change(_ change: ConfigurationReload.Difference.Change) -> JSONValue {
        JSONValue.object(of: [
            ("key", .string(change.key)), ("from", change.old), ("to", change.new),
            ("takesRestart", .bool(change.takesRestart)),
        ])
    }
}
