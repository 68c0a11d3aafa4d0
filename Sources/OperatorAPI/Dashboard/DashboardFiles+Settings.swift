import FoundationEssentials
package import Logging
package import Settings

extension DashboardFiles {
    /// The page as the configuration wants it; nil where it is off.
    ///
    /// A chart library that cannot be read is said once in the log, and the page shows tables.
    package init?(_ configuration: GatewayConfiguration, _ logger: Logger) {
        let settings = configuration.operators.dashboard
        guard settings.isEnabled else { return nil }
        var chartScript: [UInt8]?
        if !settings.chartScript.isEmpty {
            do {
                chartScript = Array(try Data(contentsOf: URL(filePath: settings.chartScript)))
            } catch {
                logger.notice(
                    "the dashboard shows tables instead of charts: the chart library cannot be read; install libjs-chart.js or set ops.dashboard.chartScript",
                    metadata: ["file": "\(settings.chartScript)"]
                )
            }
        }
        self.init(chartScript: chartScript)
    }
}
