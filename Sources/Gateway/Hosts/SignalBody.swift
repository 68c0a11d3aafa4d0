package import Engine
package import WidgetModel

/// One element of `POST /v1/hosts/<token>/signals`.
package enum SignalBody {
    /// Signals that change decisions in this version.
    private static let known = [
        "appForeground", "appBackground", "mediaSession", "navigationSession", "locationSession", "reloaded", "refused",
    ]

    /// The record that a signal becomes.
    package static func record(_ value: JSONValue, at path: String, host: HostID) throws(Problem) -> Record {
        var object = try RequestObject(value, at: path)
        let name = try object.requiredString("signal")
        switch name {
        case "appForeground":
            try object.finish()
            return .signal(HostSignal(host: host, event: .appForeground))
        case "appBackground":
            try object.finish()
            return .signal(HostSignal(host: host, event: .appBackground))
        case "mediaSession": return try Self.session(.media, &object, host)
        case "navigationSession": return try Self.session(.navigation, &object, host)
        case "locationSession": return try Self.session(.location, &object, host)
        case "reloaded", "refused":
            let report = try Self.delivery(name, &object)
            guard report.host == host else {
                throw object.problem("reload", "is a reload of another host", code: .unknownReload)
            }
            return .delivery(report)
        default:
            throw object.problem(
                "signal",
                "\"\(name)\" is not a signal that this version acts on; those are \(Self.known.joined(separator: ", "))",
                code: .notSupported
            )
        }
    }

    /// A report of what became of a reload: `{"signal": "reloaded", "reload": id}`; `signal` may be left out.
    package static func delivery(_ value: JSONValue, at path: String) throws(Problem) -> DeliveryReport {
        var object = try RequestObject(value, at: path)
        let name = try object.string("signal") ?? "reloaded"
        guard name == "reloaded" || name == "refused" else {
            throw object.problem("signal", "expected \"reloaded\" or \"refused\"")
        }
        return try Self.delivery(name, &object)
    }

    /// The member `reload`, if it is there.
    package static func reload(_ object: inout RequestObject) throws(Problem) -> ReloadID? {
        guard let text = try object.string("reload") else { return nil }
        guard let id = ReloadID(text) else {
            throw object.problem("reload", "is no id of a reload; send back the event's id", code: .unknownReload)
        }
        return id
    }

    private static func delivery(_ name: String, _ object: inout RequestObject) throws(Problem) -> DeliveryReport {
        guard let reload = try Self.reload(&object) else {
            throw object.problem("reload", "is required: the id of the reload, as the event brought it")
        }
        let reason = try object.string("reason", bytesMax: 256)
        try object.finish()
        return DeliveryReport(
            reload: reload,
            result: name == "reloaded" ? .acknowledged : .refused(reason: reason ?? "")
        )
    }

    private static func session(
        _ session: HostSession,
        _ object: inout RequestObject,
        _ host: HostID
    ) throws(Problem) -> Record {
        let state = try object.requiredString("state")
        try object.finish()
        switch state {
        case "start": return .signal(HostSignal(host: host, event: .sessionStarted(session)))
        case "end": return .signal(HostSignal(host: host, event: .sessionEnded(session)))
        default: throw object.problem("state", "expected \"start\" or \"end\"")
        }
    }
}
