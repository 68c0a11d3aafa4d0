package import WidgetModel

extension GatewayConfiguration {
    /// Traces of pushes.
    package struct Tracing: Hashable, Sendable {
        /// Default off.
        package var isEnabled = false
        /// Of a million pushes whose sender does not say, how many are traced. Default 0.
        package var samplesPerMillion = 0
        /// Pushes that are traced in a second. Default 100.
        package var tracesPerSecondMax = 100
        /// Traced pushes of each partition whose spans are known without a look into the log. Default 65,536.
        package var pushesMax = 65_536
        /// Reloads of one push that are traced in each partition. Default 100.
        package var reloadsPerPushMax = 100
        /// Traced reloads that wait for their delivery. Default 65,536.
        package var reloadsMax = 65_536
        /// Spans that wait to be exported. Default 8,192.
        package var spansMax = 8192
        /// How often spans are exported. Default 1 s.
        package var exportInterval = Interval.seconds(1)
        /// The URL of a collector's OTLP over HTTP. Default none.
        package var endpoint: ProviderURL?
        /// A PEM file: the authorities that the collector is believed by. Default nil: the system's.
        package var authorities: String?
        /// A file that spans are appended to. Default none.
        package var file = ""
        /// The size at which that file is put aside, in place of the one before. Default 64 MiB.
        package var fileBytesMax = 67_108_864

        package init() {}
    }
}

extension GatewayConfiguration.Tracing {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        let million = 1_000_000
        visitor.scalar("enabled", &self.isEnabled, .flag)
        visitor.scalar("samplesPerMillion", &self.samplesPerMillion, .integer(0...million))
        visitor.scalar("maxTracesPerSecond", &self.tracesPerSecondMax, .integer(1...million))
        visitor.scalar("maxPushes", &self.pushesMax, .integer(1...100 * million))
        visitor.scalar("maxReloadsPerPush", &self.reloadsPerPushMax, .integer(0...million))
        visitor.scalar("maxReloads", &self.reloadsMax, .integer(1...100 * million))
        visitor.scalar("maxSpans", &self.spansMax, .integer(1...10 * million))
        visitor.scalar("exportInterval", &self.exportInterval, .duration(.milliseconds(100) ... .minutes(10)))
        visitor.optional("endpoint", &self.endpoint, .providerURL)
        visitor.optionalFile("ca", &self.authorities, .certificates)
        visitor.scalar("file", &self.file, .absolutePath)
        visitor.scalar("maxFileBytes", &self.fileBytesMax, .bytes(4096...1_099_511_627_776))
        if self.isEnabled, self.endpoint == nil, self.file.isEmpty {
            visitor.fault("", "is enabled, and needs endpoint, file, or both")
        }
    }
}
