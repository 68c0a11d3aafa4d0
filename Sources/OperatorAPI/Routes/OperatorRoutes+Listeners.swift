import HTTP2
package import HTTPTransport
package import WidgetModel

extension OperatorRoutes {
    /// The member `listeners` of `GET /v1/stats`: the counts of each listener. Limits and deadlines go by their keys in
    /// the configuration; those that were not met are left out.
    package static func listeners(_ all: [(name: String, counters: HTTPListenerCounters)]) -> JSONValue {
        JSONValue.object(of: all.map { ($0.name, Self.listener($0.counters)) })
    }

    /// Connections that a limit ended.
    private static func cutOff(_ cutOff: HTTPCutOff) -> JSONValue {
        JSONValue.object(of: [
            ("times", .count(cutOff.times)),
            ("peer", .string(cutOff.peer)),
            ("secondsAgo", .count(Int(cutOff.secondsAgo))),
        ])
    }

    private static func listener(_ counters: HTTPListenerCounters) -> JSONValue {
        let limits =
            HTTPListenerLimit.allCases.map { ($0.rawValue, counters.listenerLimits[$0]) }
            + HTTP2Limit.allCases.map { ($0.rawValue, counters.connectionLimits[$0]) }
        let deadlines = HTTPListenerDeadline.allCases.map { ($0.rawValue, counters.deadlines[$0]) }
        return JSONValue.object(of: [
            ("connections", .count(counters.connections)),
            ("handshakes", .count(counters.handshakes)),
            ("heldBytes", .count(counters.heldBytes)),
            ("accepted", .count(counters.connectionsAccepted)),
            ("refused", .count(counters.connectionsRefused)),
            ("acceptsFailed", .count(counters.acceptsFailed)),
            ("handshakesFailed", .count(counters.handshakesFailed)),
            ("requests", .count(counters.requests)),
            ("answersDropped", .count(counters.answersDropped)),
            ("endedByFault", .count(counters.connectionsEndedByFault)),
            ("limits", Self.nonzero(limits)),
            ("timeouts", Self.nonzero(deadlines)),
            ("cutOff", JSONValue.object(of: counters.cutOff.map { ($0.limit, Self.cutOff($0)) })),
        ])
    }

    /// The rate, the errors and the durations of each listener's requests.
    static func addRequests(
        _ text: inout PrometheusText,
        _ listeners: [(name: String, counters: HTTPListenerCounters)]
    ) {
        text.add(
            "freshet_requests_total",
            .counter,
            "Requests received.",
            by: "listener",
            listeners.map { ($0.name, $0.counters.requests) }
        )
        text.add(
            "freshet_answers_total",
            .counter,
            "Answers by the class of their status; a bulk is one.",
            listeners.flatMap { name, counters in
                counters.answers.byStatus.map { status, count in
                    (labels: [("listener", name), ("status", status)], value: Double(count))
                }
            }
        )
        text.histograms(
            "freshet_request_seconds",
            "Time from the whole request until its answer begins.",
            listeners.map { name, counters in
                PrometheusText.Histogram(
                    labels: [("listener", name)],
                    buckets: counters.answers.cumulated.map { ($0.bound, $0.count) },
                    count: counters.answers.count,
                    sum: counters.answers.seconds
                )
            }
        )
    }
}
