import Histogram

/// A run's latencies as an HdrHistogram log: an interval a line, for the tools that read `.hlog` files.
package enum HistogramLog {
    /// - Parameters:
    ///   - began: The run's beginning in UNIX milliseconds.
    ///   - names: Of the loads. A line's tag is `name.stage`, with anything but letters and digits made `-`.
    package static func text(_ tally: LoadTally, names: [String], began: Int64) -> String {
        let seconds = "\(began / 1000).\(Self.digits(began % 1000))"
        var lines = [
            "#[Histogram log format version 1.3]",
            "#[Values are microseconds from the intended send time; freshet bench]",
            "#[StartTime: \(seconds) (seconds since epoch)]", "#[BaseTime: \(seconds) (seconds since epoch)]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
        ]
        let length = self.time(tally.interval)
        let most = tally.loads.flatMap(\.stages).compactMap { $0?.intervals.count }.max() ?? 0
        for index in 0..<most {
            for (load, name) in zip(tally.loads, names) {
                for stage in LatencyStage.allCases {
                    guard let series = load.stages[stage.index], index < series.intervals.count,
                        let histogram = series.intervals[index]?.histogram, histogram.totalCount > 0
                    else { continue }
                    let start = self.time(Int64(index) * tally.interval)
                    let most = self.time(Int64(histogram.maxRecorded) * 1000)
                    let text = HistogramEncoding.text(histogram)
                    lines.append("Tag=\(self.tag(name)).\(stage.rawValue),\(start),\(length),\(most),\(text)")
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Seconds with three decimals.
    private static func time(_ nanoseconds: Int64) -> String {
        let milliseconds = (nanoseconds + 500_000) / 1_000_000
        return "\(milliseconds / 1000).\(self.digits(milliseconds % 1000))"
    }

    private static func digits(_ thousandths: Int64) -> String {
        "\(thousandths / 100)\(thousandths / 10 % 10)\(thousandths % 10)"
    }

    private static func tag(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    }
}
