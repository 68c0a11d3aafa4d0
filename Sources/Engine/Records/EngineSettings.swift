package import IntentMatching
package import Timelines
package import WidgetModel

/// The effective configuration that decisions depend on: logged, so that a replay decides under the same one.
package struct EngineSettings: ByteCoded, Hashable, Sendable {
    /// The decision rules' version; an engine refuses settings newer than ``Engine/version``.
    package var engineVersion: Int
    /// The apps that this gateway serves, each bundle id once.
    package var apps: [AppSettings]
    package var limits: EngineLimits

    package init(engineVersion: Int = Engine.version, apps: [AppSettings], limits: EngineLimits = EngineLimits()) {
        self.engineVersion = engineVersion
        self.apps = apps
        self.limits = limits
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(count: self.engineVersion)
        self.apps.encode(into: &writer)
        self.limits.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.engineVersion = Int(truncatingIfNeeded: try reader.readVarint())
        self.apps = try Array(from: &reader)
        self.limits = try EngineLimits(from: &reader)
    }
}

/// The settings of one app that an engine needs.
package struct AppSettings: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(
        Self.init,
        \.app,
        \.team,
        \.defaultExpiration,
        \.defaultPriority,
        \.developerMode,
        \.environment,
        \.kinds
    )
    package var isPossible: Bool { self.defaultExpiration >= .zero }

    package var app: BundleID
    /// The team that owns the app.
    package var team: TeamID
    /// How long a push without `apns-expiration` may wait. Default 4 h.
    package var defaultExpiration: Interval
    /// The priority of a push without `apns-priority`. Default 5, since Apple's own widget sample sends none.
    package var defaultPriority: Priority
    /// Whether reloads of this app are not charged, as in WidgetKit's developer mode.
    package var developerMode: Bool
    /// The environment that the app's push tokens belong to. Default production.
    package var environment: PushEnvironment
    package var kinds: [KindSettings]

    package init(
        app: BundleID,
        team: TeamID,
        defaultExpiration: Interval = .hours(4),
        defaultPriority: Priority = .normal,
        developerMode: Bool = false,
        environment: PushEnvironment = .production,
        kinds: [KindSettings]
    ) {
        self.app = app
        self.team = team
        self.defaultExpiration = defaultExpiration
        self.defaultPriority = defaultPriority
        self.developerMode = developerMode
        self.environment = environment
        self.kinds = kinds
    }
}

/// One kind of widget of an app: the parameters of its configuration, and how its instances reload.
package struct KindSettings: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.schema, \.budget, \.usesLocation)

    package var schema: KindSchema
    package var budget: BudgetPolicy
    /// Whether its instances reload after a significant change of location, when they are next looked at.
    package var usesLocation: Bool

    package init(schema: KindSchema, budget: BudgetPolicy = .widgetkit, usesLocation: Bool = false) {
        self.schema = schema
        self.budget = budget
        self.usesLocation = usesLocation
    }
}
