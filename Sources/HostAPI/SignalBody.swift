package import Engine
package import Partitions
import Serving
package import WidgetModel

/// One element of `POST /v1/hosts/<token>/signals`.
package enum SignalBody {
    /// Every signal there is, in the order of docs/wire.md.
    private static let known = [
        "reloaded", "refused", "entryShown", "appForeground", "appBackground", "mediaSession", "navigationSession",
        "locationSession", "widgetVisible", "widgetHidden", "appIntent", "animation", "localeChanged",
        "dynamicTypeChanged", "accessibilityChanged", "appearanceChanged", "significantLocationChange", "standBy",
        "lowPower",
    ]

    /// The record that a signal becomes.
    package static func record(_ value: JSONValue, at path: String, host: HostKey) throws(Problem) -> Record {
        var object = try RequestObject(value, at: path)
        let name = try object.requiredString("signal")
        if name == "refused" || (name == "reloaded" && object.value("instance") == nil) {
            let (reload, result) = try Self.delivery(name, &object)
            return .delivery(DeliveryReport(host: host, reload: reload, result: result))
        }
        let event = try Self.event(name, &object)
        try object.finish()
        return .signal(HostSignal(host: host, event: event))
    }

    private static func event(
        _ name: String,
        _ object: inout RequestObject
    ) throws(Problem) -> HostSignal.Event {
        switch name {
        case "appForeground": return .appForeground
        case "appBackground": return .appBackground
        case "mediaSession": return try Self.session(.media, &object)
        case "navigationSession": return try Self.session(.navigation, &object)
        case "locationSession": return try Self.session(.location, &object)
        case "widgetVisible": return .widgetVisible(try Self.instance(&object))
        case "widgetHidden": return .widgetHidden(try Self.instance(&object))
        case "appIntent": return .appIntent(try Self.instance(&object))
        case "animation": return .animation(try Self.instance(&object))
        case "reloaded": return .reloaded(try Self.instance(&object))
        case "localeChanged": return .systemChange(.locale)
        case "dynamicTypeChanged": return .systemChange(.dynamicType)
        case "accessibilityChanged": return .systemChange(.accessibility)
        case "appearanceChanged": return .systemChange(.appearance)
        case "significantLocationChange": return .significantLocationChange
        case "standBy": return .standBy(try Self.choice("on", "off", &object))
        case "lowPower": return .lowPower(try Self.choice("on", "off", &object))
        case "entryShown":
            guard let reload = try object.reload() else { throw Self.reloadMissing(object) }
            guard let date = try object.instant("date") else {
                throw object.problem("date", "is required: the date of the entry that is shown")
            }
            return .entryShown(reload, date: date)
        default:
            throw object.problem(
                "signal",
                "\"\(name)\" is not a signal; the signals are \(Self.known.joined(separator: ", "))",
                code: .notSupported
            )
        }
    }

    /// A report of the end of a reload: `{"signal": "reloaded", "reload": id}`; `signal` may be left out.
    package static func delivery(
        _ value: JSONValue,
        at path: String
    ) throws(Problem) -> (reload: ReloadID, result: DeliveryReport.Result) {
        var object = try RequestObject(value, at: path)
        let name = try object.string("signal") ?? "reloaded"
        guard name == "reloaded" || name == "refused" else {
            throw object.problem("signal", "expected \"reloaded\" or \"refused\"")
        }
        return try Self.delivery(name, &object)
    }

    private static func reloadMissing(_ object: RequestObject) -> Problem {
        object.problem("reload", "is required: the id of the reload, from its event")
    }

    private static func delivery(
        _ name: String,
        _ object: inout RequestObject
    ) throws(Problem) -> (reload: ReloadID, result: DeliveryReport.Result) {
        guard let reload = try object.reload() else { throw Self.reloadMissing(object) }
        let reason = try object.string("reason", bytesMax: 256)
        try object.finish()
        return (reload, name == "reloaded" ? .acknowledged : .refused(reason: reason ?? ""))
    }

    private static func instance(_ object: inout RequestObject) throws(Problem) -> InstanceID {
        InstanceID(try object.requiredString("instance"))
    }

    private static func session(
        _ session: HostSession,
        _ object: inout RequestObject
    ) throws(Problem) -> HostSignal.Event {
        try Self.choice("start", "end", &object) ? .sessionStarted(session) : .sessionEnded(session)
    }

    /// The member `state`, which is one of two words; whether it is the first.
    private static func choice(
        _ first: String,
        _ second: String,
        _ object: inout RequestObject
    ) throws(Problem) -> Bool {
        let state = try object.requiredString("state")
        guard state == first || state == second else {
            throw object.problem("state", "expected \"\(first)\" or \"\(second)\"")
        }
        return state == first
    }
}
