/// A setting that the gateway takes once, as it starts. All others are in force as soon as the configuration is read again.
package struct StartSetting: Sendable {
    /// Its key. That of a section stands for all that is in it.
    package let key: String
    fileprivate let copy: @Sendable (GatewayConfiguration, inout GatewayConfiguration) -> Void

    private init<Value>(_ key: String, _ path: any WritableKeyPath<GatewayConfiguration, Value> & Sendable) {
        self.key = key
        self.copy = { $1[keyPath: path] = $0[keyPath: path] }
    }

    /// Every such setting.
    package static let all: [StartSetting] = [
        StartSetting("dataDirectory", \.dataDirectory),
        StartSetting("partitions", \.partitions),
        StartSetting("journal", \.journal),
        StartSetting("listeners.merged", \.listeners.isMerged),
        StartSetting("listeners.push.enabled", \.listeners.push.isEnabled),
        StartSetting("listeners.push.address", \.listeners.push.address),
        StartSetting("listeners.push.port", \.listeners.push.port),
        StartSetting("listeners.push.priorKnowledge", \.listeners.push.acceptsPriorKnowledge),
        StartSetting("listeners.manage.enabled", \.listeners.manage.isEnabled),
        StartSetting("listeners.manage.address", \.listeners.manage.address),
        StartSetting("listeners.manage.port", \.listeners.manage.port),
        StartSetting("listeners.host.enabled", \.listeners.host.isEnabled),
        StartSetting("listeners.host.address", \.listeners.host.address),
        StartSetting("listeners.host.port", \.listeners.host.port),
        StartSetting("listeners.ops.enabled", \.listeners.ops.isEnabled),
        StartSetting("listeners.ops.address", \.listeners.ops.address),
        StartSetting("listeners.ops.port", \.listeners.ops.port),
        StartSetting("listeners.health.enabled", \.listeners.health.isEnabled),
        StartSetting("listeners.health.address", \.listeners.health.address),
        StartSetting("listeners.health.port", \.listeners.health.port),
        StartSetting("ops.dashboard", \.operators.dashboard),
        StartSetting("providerTokens", \.providerTokens),
        StartSetting("log.format", \.log.format),
        StartSetting("tracing", \.tracing),
    ]

    /// Whether it is a key, or holds it.
    package func holds(_ path: String) -> Bool { path == self.key || path.hasPrefix("\(self.key).") }
}

extension GatewayConfiguration {
    /// This configuration as far as it can be in force without a restart.
    ///
    /// - Parameter running: The configuration in force; it has the start settings that the gateway was started with.
    package func withStartSettings(of running: GatewayConfiguration) -> GatewayConfiguration {
        var merged = self
        for setting in StartSetting.all { setting.copy(running, &merged) }
        return merged
    }
}
