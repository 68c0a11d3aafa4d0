import APNSWire
import WidgetModel

/// What operators did, in words: for the list of changes and for the marks of charts.
extension AuditTrail.Entry {
    /// A sentence without its full stop, and without the operator's name.
    var words: String {
        let said = (try? JSONReader().parse(Array(self.body.utf8))) ?? .null
        switch self.path {
        // A body that was cut says nothing: then the path is enough.
        case "/v1/orders": return Self.order(said) ?? "\(self.method) \(self.path)"
        case "/v1/config/reload": return "Configuration read again"
        case "/v1/try-now":
            return "Tried now: \(Self.text("kind", said) ?? Self.text("app", said) ?? "all that had failed")"
        case "/v1/log-levels": return "Log levels set"
        default: return "\(self.method) \(self.path)"
        }
    }

    /// Whether charts mark it: it changed something, and is no reading of the configuration, which has a mark of its own.
    var isMarked: Bool {
        !["/v1/clock", "/v1/config/reload"].contains(self.path)
    }

    private static func order(_ said: JSONValue) -> String? {
        guard let action = Self.text("action", said), let of = said["of"], let scope = Self.scope(of) else {
            return nil
        }
        switch action {
        case "pause": return "Paused \(scope)"
        case "resume": return "Resumed \(scope)"
        case "cancel": return "Cancelled pushes that wait for \(scope)"
        case "grant": return "Granted reloads to \(scope)"
        case "reload": return "Asked for reloads of \(scope)"
        default: return nil
        }
    }

    private static func scope(_ of: JSONValue) -> String? {
        if let instance = Self.text("instance", of) { return instance }
        if let push = Self.text("push", of) { return "push \(push)" }
        if let sender = Self.text("sender", of) { return "pushes of \(sender)" }
        guard let app = Self.text("app", of) else { return nil }
        return (Self.text("kind", of) ?? Self.text("host", of)).map { "\($0) of \(app)" } ?? app
    }

    private static func text(_ name: String, _ object: JSONValue) -> String? {
        guard case .string(let text) = object[name] else { return nil }
        return text
    }
}

extension AuditTrail {
    /// The requests that charts mark, the oldest first: as many as of each other kind of marks, and for as long.
    ///
    /// - Parameters:
    ///   - entries: The newest first.
    ///   - instant: Only later ones.
    ///   - now: The present.
    static func marked(_ entries: [Entry], after instant: Instant?, now: Instant) -> [Entry] {
        entries.lazy
            .filter { entry in
                entry.isMarked && now - entry.at <= GatewayMarks.ageMax && instant.map { entry.at > $0 } ?? true
            }
            .prefix(GatewayMarks.marksMax).reversed()
    }
}
