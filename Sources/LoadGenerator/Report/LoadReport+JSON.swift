import APNSWire
import Histogram
package import WidgetModel

extension LoadReport {
    /// The version of ``json``; ``schema`` and `docs/load-testing.md` describe it.
    static let version: Int64 = 3

    /// The report as JSON text, with a line break at its end.
    package var jsonText: [UInt8] { self.json.jsonText + [0x0A] }

    package var json: JSONValue {
        .object([
            Self.member("schema", .int(Self.version)),
            Self.member("scenario", self.scenarioJSON),
            Self.member("target", .string(self.target)),
            Self.member("began", .int(self.outcome.began)),
            Self.member("seconds", .double(Double(self.outcome.elapsed) / 1e9)),
            Self.member("intervalSeconds", .double(Double(self.tally.interval) / 1e9)),
            Self.member("answeredPerSecond", .double(self.answeredPerSecond)),
            Self.member("latencyMicroseconds", Self.stages { Self.latencies(self.tally.latencies($0)) }),
            Self.member("generator", self.generatorJSON),
            Self.member("server", self.serverJSON),
            Self.member("hosts", self.hostsJSON),
            Self.member("loads", .array(zip(self.scenario.loads, self.tally.loads).map { self.loadJSON($0, $1) })),
            Self.member(
                "objectives",
                .array(
                    self.results.map { result in
                        .object([
                            Self.member("objective", .string(result.objective.text)),
                            Self.member("isMet", .bool(result.isMet)),
                            Self.member("value", Self.figure(result.value)),
                        ])
                    }
                )
            ),
            Self.member("isMet", .bool(self.isMet)),
            Self.member("failure", self.outcome.failure.map { .string($0) } ?? .null),
            Self.member("remarks", .strings(self.remarks)),
        ])
    }

    private static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
        JSONValue.Member(name: name, value: value)
    }

    private var scenarioJSON: JSONValue {
        .object([
            Self.member("name", .string(self.scenario.name)),
            Self.member("about", .string(self.scenario.about)),
            Self.member("seed", Int64(exactly: self.scenario.seed).map { .int($0) } ?? .unsigned(self.scenario.seed)),
            Self.member("lengthSeconds", .double(Double(self.scenario.length) / 1e9)),
            Self.member("connections", .count(self.scenario.connections)),
            Self.member("streams", .count(self.scenario.streams)),
            Self.member("hosts", .count(self.scenario.hosts.count)),
            Self.member("widgets", .count(self.scenario.hosts.widgets)),
        ])
    }

    private var generatorJSON: JSONValue {
        .object([
            Self.member("cpuSeconds", .double(Double(self.outcome.cpu) / 1e9)),
            Self.member("answeredPerCPUSecond", self.answeredPerGeneratorSecond.map { .double($0) } ?? .null),
            Self.member("behind", .double(self.tally.behind)),
            Self.member("wasBottleneck", .bool(self.isGeneratorTheBottleneck)),
            Self.member("isClosedLoop", .bool(self.isClosedLoop)),
            Self.member("heldBack", .count(self.tally.heldBack)),
            Self.member("lostConnections", .count(self.tally.lostConnections)),
            Self.member("latenessMicroseconds", Self.lateness(self.tally.lateness)),
            Self.member("outages", .array(self.tally.outages.map(Self.outage))),
        ])
    }

    private var serverJSON: JSONValue {
        guard let server else { return .null }
        return .object([
            Self.member("cpuSeconds", .double(Double(server.cpu) / 1e9)),
            Self.member("answeredPerCPUSecond", self.answeredPerServerSecond.map { .double($0) } ?? .null),
            Self.member("residentBytes", .int(server.resident)),
        ])
    }

    private var hostsJSON: JSONValue {
        .object([
            Self.member("reloads", .count(self.tally.reloads)),
            Self.member("redelivered", .count(self.tally.redelivered)),
            Self.member("acknowledged", .count(self.tally.acknowledged)),
            Self.member("refusedAcknowledgements", .count(self.tally.refusedAcknowledgements)),
        ])
    }

    private func loadJSON(_ load: Load, _ counts: LoadTally.Counts) -> JSONValue {
        let failures = counts.failures.sorted { $0.key < $1.key }.map { failure, count in
            JSONValue.object([
                Self.member("status", .count(failure.status)),
                Self.member("reason", .string(failure.reason)),
                Self.member("count", .count(count)),
            ])
        }
        return .object([
            Self.member("name", .string(load.name)),
            Self.member("send", .string(load.kind.rawValue)),
            Self.member("due", .count(counts.due)),
            Self.member("sent", .count(counts.sent)),
            Self.member("answered", .count(counts.answered)),
            Self.member("failed", .count(counts.failed)),
            Self.member("failures", .array(failures)),
            Self.member("decided", Self.decisions(counts)),
            Self.member("dueByInterval", .array(counts.dueByInterval.map(JSONValue.count))),
            Self.member("answeredByInterval", .array(counts.answeredByInterval.map(JSONValue.count))),
            Self.member("latencyMicroseconds", Self.stages { counts.stages[$0.index].flatMap { Self.latencies($0) } }),
        ])
    }

    /// The figures of each stage that has any.
    private static func stages(_ latencies: (LatencyStage) -> JSONValue?) -> JSONValue {
        .object(LatencyStage.allCases.compactMap { stage in latencies(stage).map { self.member(stage.rawValue, $0) } })
    }

    /// Latencies: `count` is of all operations, `unreached` of those that never came so far. Nil if there were none.
    private static func latencies(_ latencies: Latencies) -> JSONValue? {
        guard latencies.count > 0 else { return nil }
        return .object(
            [
                self.member("count", .count(latencies.count)),
                self.member("unreached", .count(latencies.unreached)),
            ] + self.percentiles(latencies)
        )
    }

    /// A stage's latencies, in all and by interval.
    private static func latencies(_ series: LatencySeries) -> JSONValue? {
        guard case .object(let total)? = self.latencies(series.total) else { return nil }
        let intervals = series.intervals.map { latencies -> JSONValue in
            guard let latencies else { return .null }
            let buckets = LatencyBuckets.of(latencies.histogram).map { bucket in
                JSONValue.array([.int(Int64(clamping: bucket.upTo)), .count(bucket.count)])
            }
            return .object([
                self.member("unreached", .count(latencies.unreached)), self.member("buckets", .array(buckets)),
            ])
        }
        return .object(total + [self.member("intervals", .array(intervals))])
    }

    /// How late the generator was.
    private static func lateness(_ histogram: LatencyHistogram) -> JSONValue {
        let latencies = Latencies(histogram)
        return .object([self.member("count", .count(latencies.count))] + self.percentiles(latencies))
    }

    /// The percentiles, and the mean of the answers that came at all.
    private static func percentiles(_ latencies: Latencies) -> [JSONValue.Member] {
        let histogram = latencies.histogram
        return self.percentiles.map { percentile in
            self.member(percentile.name, self.figure(latencies.microseconds(atPercentile: percentile.value)))
        } + [self.member("mean", histogram.totalCount == 0 ? .null : .double(histogram.mean))]
    }

    /// A figure; null if there was nothing to measure, `"never"` if it is infinite, which JSON has no number for.
    private static func figure(_ value: Double?) -> JSONValue {
        guard let value else { return .null }
        return value.isFinite ? .double(value) : .string("never")
    }

    private static func outage(_ outage: Outage) -> JSONValue {
        func seconds(_ instant: Int64?) -> JSONValue { instant.map { .double(Double($0) / 1e9) } ?? .null }
        return .object([
            self.member("listener", .string(outage.listener)),
            self.member("beganSeconds", seconds(outage.began)),
            self.member("endedSeconds", seconds(outage.ended)),
            self.member("recoveredSeconds", seconds(outage.recovered)),
        ])
    }

    /// The decisions about the pushes that were followed; null if none was.
    private static func decisions(_ counts: LoadTally.Counts) -> JSONValue {
        guard counts.followed > 0 else { return .null }
        return .object(
            [self.member("pushes", .count(counts.followed)), self.member("matched", .count(counts.matched))]
                + PushOutcome.allCases.map { self.member($0.name, .count(counts.outcomes[$0] ?? 0)) }
        )
    }
}
