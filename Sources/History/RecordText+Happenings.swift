package import Engine
package import WidgetModel

extension HostSignal {
    /// The signal's name on the wire.
    var name: String {
        switch self.event {
        case .appForeground: "appForeground"
        case .appBackground: "appBackground"
        case .sessionStarted(let session), .sessionEnded(let session): "\(session)Session"
        case .widgetVisible: "widgetVisible"
        case .widgetHidden: "widgetHidden"
        case .appIntent: "appIntent"
        case .animation: "animation"
        case .systemChange(let change): "\(change)Changed"
        case .significantLocationChange: "significantLocationChange"
        case .standBy: "standBy"
        case .lowPower: "lowPower"
        case .reloaded: "reloaded"
        case .entryShown: "entryShown"
        }
    }

    var members: [(String, JSONValue?)] {
        var members = self.host.members + [("signal", .string(self.name))]
        switch self.event {
        case .sessionStarted: members.append(("state", .string("start")))
        case .sessionEnded: members.append(("state", .string("end")))
        case .standBy(let isOn), .lowPower(let isOn): members.append(("state", .string(isOn ? "on" : "off")))
        case .widgetVisible(let id), .widgetHidden(let id), .appIntent(let id), .animation(let id), .reloaded(let id):
            members.append(("instance", .string(id.rawValue)))
        case .entryShown(let reload, let date):
            members += [("reload", .string(reload.description)), ("date", .instant(date))]
        case .appForeground, .appBackground, .systemChange, .significantLocationChange: break
        }
        return members
    }
}

extension OperatorSource {
    var members: [(String, JSONValue?)] {
        [
            ("caller", .string(self.caller)), ("address", .string(self.address)), ("request", .string(self.request)),
        ]
    }
}

extension AuditNote {
    var members: [(String, JSONValue?)] {
        switch self {
        case .request(let request):
            request.source.members + [
                ("number", .string(Base16.text(of: request.number))), ("method", .string(request.method)),
                ("path", .string(request.path)), ("body", .string(request.body)),
            ]
        case .answer(let number, let status):
            [("number", .string(Base16.text(of: number))), ("status", .count(status))]
        }
    }
}

extension Amendment {
    var members: [(String, JSONValue?)] {
        let action: [(String, JSONValue?)] =
            switch self.action {
            case .put(let value): [("action", .string("put")), ("value", .string(value))]
            case .end: [("action", .string("end"))]
            case .revert: [("action", .string("revert"))]
            }
        let entry: (String, JSONValue?) =
            switch self.entry {
            case .team(let team): ("team", .string(team.rawValue))
            case .app(let app): ("app", .string(app.rawValue))
            }
        return action + [entry] + self.source.members
    }
}

extension OperatorOrder {
    /// As it was ordered (docs/wire.md).
    package var json: JSONValue { .object(of: self.members) }

    /// The order without its operator, whose name is not for each reader of the reasons of a reload.
    var members: [(String, JSONValue?)] {
        let action: [(String, JSONValue?)] =
            switch self.action {
            case .pause(let until): [("action", .string("pause")), ("until", until.map { .instant($0) })]
            case .resume: [("action", .string("resume"))]
            case .cancel: [("action", .string("cancel"))]
            case .grant(let count): [("action", .string("grant")), ("count", .count(count))]
            case .reload: [("action", .string("reload"))]
            }
        let scope: [(String, JSONValue?)] =
            switch self.scope {
            case .app(let app): [("app", .string(app.rawValue))]
            case .kind(let app, let kind): [("app", .string(app.rawValue)), ("kind", .string(kind.rawValue))]
            case .sender(let team): [("sender", .string(team.rawValue))]
            case .host(let host): host.members
            case .instance(let address): [("instance", .string(address.description))]
            case .push(let push, let team, let app):
                [
                    ("push", .string(push.description)), ("sender", team.map { .string($0.rawValue) }),
                    ("app", app.map { .string($0.rawValue) }),
                ]
            }
        return action + [("of", .object(of: scope))]
    }
}
