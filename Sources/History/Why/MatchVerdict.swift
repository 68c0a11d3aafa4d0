package import Engine
package import IntentMatching
package import WidgetModel

/// Whether a push is for one widget instance, condition by condition.
///
/// Says the engine's verdict in words; the engine's own verdict counts, and tests hold this to it.
package struct MatchVerdict: Hashable, Sendable {
    package struct Condition: Hashable, Sendable {
        /// The subject: `app`, `kind`, `token`, `pushEnabled`, a parameter, `$family`, `when.health`, `$or`.
        package let name: String
        /// The wanted value of it.
        package let wanted: JSONValue
        /// The instance's value, or for `when` the push's; nil if it has none.
        package let found: JSONValue?
        package let holds: Bool
    }

    package let conditions: [Condition]

    package var matches: Bool { self.conditions.allSatisfy(\.holds) }

    /// The first condition that does not hold.
    package var failed: Condition? { self.conditions.first { !$0.holds } }

    /// - Parameters:
    ///   - push: The push.
    ///   - address: Where the instance is.
    ///   - instance: The registered instance there; nil if there is none.
    ///   - app: The app of the host, if it is registered.
    ///   - schema: Of the instance's kind.
    package init(
        of push: PushRecord,
        for address: InstanceAddress,
        _ instance: InstanceRegistration?,
        app: BundleID?,
        schema: KindSchema?
    ) {
        guard let instance, let app else {
            let missing = Condition(name: "registered", wanted: .bool(true), found: .bool(false), holds: false)
            self.conditions = [missing]
            return
        }
        var conditions: [Condition] = []
        func add(_ name: String, _ wanted: JSONValue, _ found: JSONValue?, _ holds: Bool) {
            conditions.append(Condition(name: name, wanted: wanted, found: found, holds: holds))
        }
        let isControl = instance.controlToken != nil
        switch push.target {
        case .app(let wanted):
            add("app", .string(wanted.rawValue), .string(app.rawValue), wanted == app)
        case .host(_, nil):
            // A control has a token of its own; a host's stands for all others.
            add("token", .string("host"), .string(isControl ? "control" : "host"), !isControl)
        case .host(_, let control?):
            let holds = control == address.instance
            add("token", .string(control.rawValue), .string(address.instance.rawValue), holds)
        }
        if let kind = push.kind {
            add("kind", .string(kind.rawValue), .string(instance.kind.rawValue), kind == instance.kind)
        }
        if !instance.pushEnabled { add("pushEnabled", .bool(true), .bool(false), false) }
        if let pattern = push.pattern {
            let subject = MatchSubject(
                configuration: instance.configuration,
                family: instance.family,
                host: address.host.id,
                tags: instance.tags,
                schema: schema
            )
            for part in pattern.parts {
                let found: JSONValue? =
                    switch part.field {
                    case .family?: .string(instance.family.name)
                    case .host?: .string(address.host.id.rawValue)
                    case .tags?: .strings(instance.tags)
                    case .parameter(let name)?: instance.configuration[name.description].map { .parameter($0) }
                    case nil: .configuration(instance.configuration)
                    }
                add(part.name, part.wanted, found, part.matches(subject))
            }
        }
        if let when = instance.when {
            for part in when.parts {
                let attribute = push.attributes[part.name].map { JSONValue.parameter($0) }
                let found = part.field == nil ? .configuration(push.attributes) : attribute
                add("when.\(part.name)", part.wanted, found, part.holds(for: push.attributes))
            }
        }
        self.conditions = conditions
    }
}

extension MatchPattern {
    /// The parts that must all hold.
    fileprivate var parts: [MatchPattern] {
        if case .all(let parts) = self { parts.flatMap(\.parts) } else { [self] }
    }

    fileprivate var field: MatchField? {
        if case .field(let field, _) = self { field } else { nil }
    }

    fileprivate var name: String { self.field?.description ?? "$or" }

    fileprivate var wanted: JSONValue {
        guard case .object(let members) = self.json, members.count == 1 else { return self.json }
        return members[0].value
    }
}
