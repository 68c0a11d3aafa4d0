package import Engine
package import IntentMatching
package import Partitions
package import Serving
package import WidgetModel

/// The body of `PUT /v1/hosts/<token>/widgets`, read and typed by the kinds' schemas.
///
/// A line of a bulk import has the same members and `token` beside them.
package struct RegistrationBody: Sendable {
    package var app: BundleID
    /// The host's own name, nil if the gateway shall derive one from the token.
    package var host: HostID?
    package var replacedToken: DeviceToken?
    /// Whether the host keeps the tokens that it has beside this one.
    package var addsToken: Bool
    package var revision: UInt64
    package var delivery: HostDelivery
    package var context: HostContext
    package var lease: Interval?
    package var instances: [InstanceRegistration]

    /// The longest host id in bytes.
    package static let hostBytesMax = 128
    /// The longest instance id in bytes.
    package static let instanceBytesMax = 128
    /// The most environment variants of one host, and the most values of one.
    package static let variantsMax = 64
    private static let variantNameBytesMax = 256
    /// The longest lease: a year.
    private static let leaseSecondsMax: Int64 = 366 * 86_400

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - object: The body; the caller has taken its own members, and this function finishes it.
    ///   - apps: The apps that are served.
    ///   - instancesMax: The most instances of one host.
    ///   - conditions: The limits of instances' conditions.
    package init(
        _ object: inout RequestObject,
        apps: ServedApps,
        instancesMax: Int,
        conditions: PatternLimits = .conditions
    ) throws(Problem) {
        self.app = BundleID(try object.requiredString("app", bytesMax: 255))
        guard let app = apps[self.app] else {
            throw object.problem("app", "the gateway does not serve \"\(self.app)\"")
        }
        self.host = try Self.host(&object)
        self.replacedToken = try Self.token("replaces", &object)
        self.addsToken = try object.bool("addToken") ?? false
        self.revision = UInt64(try object.int("revision", in: 0...Int64.max) ?? 0)
        self.delivery = try Self.delivery(&object, app)
        self.lease = try object.int("lease", in: 1...Self.leaseSecondsMax).map { .seconds($0) }
        self.context = try Self.context(&object)
        guard let elements = try object.array("instances", countMax: instancesMax) else {
            // A missing list would remove the host's widgets; a host that means that sends an empty one.
            throw object.problem("instances", "is required: an array, empty for a host that shows nothing")
        }
        self.instances = []
        self.instances.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            var instance = try RequestObject(element, at: object.path(of: "instances[\(index)]"))
            self.instances.append(try Self.instance(&instance, app, conditions))
        }
        try Self.refuseRepeats(self.instances, &object)
        try object.finish()
    }

    private static func delivery(
        _ object: inout RequestObject,
        _ app: ServedApps.App
    ) throws(Problem) -> HostDelivery {
        guard let text = try object.string("delivery") else { return .stream }
        guard let delivery = app.deliveries.first(where: { "\($0)" == text }) else {
            let choices = app.deliveries.map { "\"\($0)\"" }.joined(separator: ", ")
            throw object.problem(
                "delivery",
                "\"\(text)\" is not set up for \(app.bundle); it takes \(choices)",
                code: .notSupported
            )
        }
        return delivery
    }

    private static func host(_ object: inout RequestObject) throws(Problem) -> HostID? {
        guard let text = try object.string("host", bytesMax: Self.hostBytesMax) else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3A && $0 != 0x2F }) else {
            throw object.problem(
                "host",
                "must be 1 to \(Self.hostBytesMax) printable ASCII characters, without : and /"
            )
        }
        return HostID(text)
    }

    private static func token(_ name: String, _ object: inout RequestObject) throws(Problem) -> DeviceToken? {
        guard let text = try object.string(name) else { return nil }
        guard let token = DeviceToken(hex: text) else { throw object.problem(name, "is not a push token in hex") }
        return token
    }

    private static func context(_ object: inout RequestObject) throws(Problem) -> HostContext {
        guard var context = try object.object("context") else { return HostContext() }
        var result = HostContext()
        if var size = try context.object("displaySize") {
            result.width = try size.double("width")
            result.height = try size.double("height")
            try size.finish()
        }
        if let value = context.value("environmentVariants") {
            let path = context.path(of: "environmentVariants")
            let members = try value.members(at: path)
            guard members.count <= Self.variantsMax else {
                let sentence = "has \(members.count) members, at most \(Self.variantsMax) are allowed"
                throw context.problem("environmentVariants", sentence, code: .tooLarge)
            }
            var variants = try RequestObject(value, at: path)
            for member in members {
                guard member.name.utf8.count <= Self.variantNameBytesMax else {
                    let sentence = "a member has a name of more than \(Self.variantNameBytesMax) bytes"
                    throw context.problem("environmentVariants", sentence)
                }
                let strings = try variants.strings(member.name, countMax: Self.variantsMax) ?? []
                result.environmentVariants.append(HostContext.Variant(name: member.name, values: strings))
            }
        }
        result.locale = try context.string("locale", bytesMax: 64)
        result.timeZone = try context.string("timeZone", bytesMax: 64)
        try context.finish()
        return result
    }

    private static func instance(
        _ object: inout RequestObject,
        _ app: ServedApps.App,
        _ conditions: PatternLimits
    ) throws(Problem) -> InstanceRegistration {
        let id = InstanceID(try object.requiredString("id", bytesMax: Self.instanceBytesMax))
        guard id.rawValue.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            // Ids stand in lines of event streams, where a line feed would begin a line of the host's own making.
            throw object.problem("id", "must not contain control characters")
        }
        let kind = WidgetKind(try object.requiredString("kind"))
        guard let schema = app.schema(of: kind) else {
            let known = app.schemas.map(\.kind.rawValue).joined(separator: ", ")
            throw object.problem("kind", "the app has no kind \"\(kind)\"; it has \(known)", code: .unknownKind)
        }
        let familyName = try object.requiredString("family")
        guard let family = WidgetFamily(name: familyName) else {
            let known = WidgetFamily.allCases.map(\.name).joined(separator: ", ")
            throw object.problem("family", "\"\(familyName)\" is not a widget family; the families are \(known)")
        }
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try schema.configuration(from: object.value("configuration"))
        } catch {
            throw object.problem(error.path, error.sentence, code: .badConfiguration)
        }
        let when: MatchPattern?
        do throws(PatternError) {
            when = try object.value("when").map { (json) throws(PatternError) in
                try .condition(from: json, limits: conditions)
            }
        } catch {
            throw object.problem(error.path, error.sentence)
        }
        let registration = InstanceRegistration(
            id: id,
            kind: kind,
            family: family,
            configuration: configuration,
            pushEnabled: try object.bool("pushEnabled") ?? true,
            tags: try object.strings("tags", countMax: 64) ?? [],
            when: when,
            controlToken: try Self.token("controlToken", &object)
        )
        try object.finish()
        return registration
    }

    private static func refuseRepeats(
        _ instances: [InstanceRegistration],
        _ object: inout RequestObject
    ) throws(Problem) {
        var seen: Set<InstanceID> = []
        for (index, instance) in instances.enumerated() where !seen.insert(instance.id).inserted {
            throw object.problem("instances[\(index)].id", "\"\(instance.id)\" occurs twice")
        }
    }
}
