package import Engine
package import Settings
import WidgetModel

extension EngineSettings {
    package init(_ configuration: GatewayConfiguration) {
        self.init(
            apps: configuration.apps.map { app in
                AppSettings(
                    app: app.bundleID,
                    team: app.team,
                    defaultExpiration: app.defaultExpiration,
                    defaultPriority: app.defaultPriority,
                    developerMode: app.isDeveloperMode,
                    environment: app.environment == .development ? .development : .production,
                    kinds: app.kinds.map {
                        KindSettings(schema: $0.schema, budget: $0.budget, usesLocation: $0.usesLocation)
                    }
                )
            },
            limits: configuration.limits.engine
        )
    }
}
