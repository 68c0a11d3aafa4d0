import Partitions
import WidgetModel

/// Work units of a team's undecided requests in the log.
extension OperatorRoutes {
    /// For `GET /v1/stats`; nil where teams are not told apart.
    func shares() -> JSONValue? {
        guard let work = self.traffic.work else { return nil }
        return JSONValue.object(of: [
            ("unitsPerSecond", .array(work.partitions.map { .count($0.pace) })),
            ("tooMuchWork", .count(work.tooLargeRequests)),
            (
                "teams",
                .array(
                    work.allTeams.map { team in
                        JSONValue.object(of: [
                            ("team", .string(team.team.rawValue)),
                            ("undecided", .array(work.partitions.map { .count(team.undecided(in: $0.partition)) })),
                            ("share", .array(work.partitions.map { .count(work.share(of: team, in: $0.partition)) })),
                            ("refused", .count(team.refused)),
                        ])
                    }
                )
            ),
        ])
    }

    func addShares(_ text: inout PrometheusText) {
        guard let work = self.traffic.work else { return }
        text.add(
            "freshet_work_units_per_second",
            .gauge,
            "Work units that a busy partition does in a second, over the last minute.",
            by: "partition",
            work.partitions.map { ("\($0.partition.rawValue)", $0.pace) }
        )
        let teams = work.allTeams
        text.add(
            "freshet_work_undecided_units",
            .gauge,
            "Work units of a team's undecided requests in the log.",
            by: "team",
            teams.map { ($0.team.rawValue, $0.undecided) }
        )
        text.add(
            "freshet_work_refused_total",
            .counter,
            "Requests answered 503, since their team had used up its share of undecided work in the log.",
            by: "team",
            teams.map { ($0.team.rawValue, $0.refused) }
        )
        text.add(
            "freshet_work_too_large_total",
            .counter,
            "Requests answered 409, since one request was more work than it may be.",
            work.tooLargeRequests
        )
    }
}
