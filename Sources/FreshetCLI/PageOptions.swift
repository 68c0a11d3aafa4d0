import ArgumentParser
import Foundation
import ReportPages
import Settings

/// A report as a page.
struct PageOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Write a page of charts, in one self-contained file.", valueName: "file"))
    var html: String?
    @Option(
        help: ArgumentHelp(
            "Chart.js 3, which becomes part of the page. Without it, the page has tables.",
            valueName: "file"
        )
    )
    var chartScript = GatewayConfiguration.Dashboard().chartScript

    /// Writes it if it is wanted.
    func write(_ page: ReportPage) throws {
        guard let html else { return }
        let script = try? String(contentsOf: URL(filePath: self.chartScript), encoding: .utf8)
        if script == nil {
            Output.standardError(
                "\(html) has tables and no charts: \(self.chartScript) cannot be read; install libjs-chart.js or give --chart-script"
            )
        }
        try Output.write(Data(page.text(chartScript: script).utf8), to: html)
    }
}
