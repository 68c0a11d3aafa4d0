import HTTPTransport
import Partitions
import Serving
import Settings
import WidgetModel

extension OperatorRoutes {
    /// `GET /v1/log-levels`: the level of each subsystem's messages, and how many were written.
    func logLevels(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        HTTPResponse(
            json: JSONValue.object(of: [
                (
                    "subsystems",
                    .array(
                        self.settings.logs.views.map { view in
                            JSONValue.object(of: [
                                ("subsystem", .string(view.subsystem.rawValue)),
                                ("level", .string(view.level.rawValue)),
                                ("configured", .string(view.configured.rawValue)),
                                ("written", .count(view.written)),
                                ("repeated", .count(view.repeated)),
                            ])
                        }
                    )
                ),
                ("repeatsToldEarly", .count(self.settings.logs.cut)),
            ])
        )
    }

    /// `PUT /v1/log-levels`: levels that win over the configuration until the process ends, or the next such request. A
    /// subsystem that is not named has the configuration's.
    func setLogLevels(_ call: OperatorCall) throws(Problem) -> Change {
        var object = try call.object()
        guard var levels = try object.object("levels") else {
            throw object.problem("levels", "is required: an object with a level for each subsystem, {} for none")
        }
        var overrides: [LogSubsystem: GatewayConfiguration.Log.Level] = [:]
        for subsystem in LogSubsystem.allCases {
            guard let word = try levels.string(subsystem.rawValue) else { continue }
            guard let level = GatewayConfiguration.Log.Level(rawValue: word) else {
                let all = GatewayConfiguration.Log.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw levels.problem(subsystem.rawValue, "expected one of \(all)")
            }
            overrides[subsystem] = level
        }
        try levels.finish()
        try object.finish()
        return Change { [overrides] () async throws(Problem) in
            self.settings.logs.override(overrides)
            return try await self.logLevels(call)
        }
    }

    func addLogs(_ text: inout PrometheusText) {
        let feed = self.watch.feed
        text.add("freshet_feed_readers", .gauge, "Operators' connections that follow the events.", feed.count)
        text.add(
            "freshet_feed_readers_ended_total",
            .counter,
            "Followers of the events that a limit refused or disconnected, or that missed events.",
            by: "reason",
            [("refused", feed.refused), ("slow", feed.cutOff), ("gap", feed.gaps)]
        )
        text.add(
            "freshet_feed_reloads_not_shown_total",
            .counter,
            "Reloads that the event feed counted instead of showing.",
            feed.reloadsNotShown
        )
        let views = self.settings.logs.views
        text.add(
            "freshet_log_messages_total",
            .counter,
            "Log messages written, by subsystem.",
            by: "subsystem",
            views.map { ($0.subsystem.rawValue, $0.written) }
        )
        text.add(
            "freshet_log_messages_repeated_total",
            .counter,
            "Log messages that were counted instead of written, since the same message was written a moment before.",
            by: "subsystem",
            views.map { ($0.subsystem.rawValue, $0.repeated) }
        )
        text.add(
            "freshet_log_repeats_told_early_total",
            .counter,
            "Repetitions that were logged early, since log.maxRepeats other messages were being counted.",
            self.settings.logs.cut
        )
    }
}
