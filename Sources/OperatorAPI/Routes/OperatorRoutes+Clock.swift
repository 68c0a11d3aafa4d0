import HTTPTransport
import Partitions
import Serving
import WidgetModel

extension OperatorRoutes {
    /// `GET /v1/clock`: the log's time, and whether it can be moved.
    func clockNow(_: OperatorCall) async throws(Problem) -> HTTPResponse { self.clockAnswer(self.clock.now()) }

    /// `POST /v1/clock`: lets time pass, in a gateway that was started for that.
    func moveClock(_ call: OperatorCall) throws(Problem) -> Change {
        guard let travel = self.store.travel else {
            throw Problem(.notSupported, "this gateway's clock cannot be moved; start one with --movable-clock")
        }
        var object = try call.object()
        let advance = try object.int("advance", in: 0...MovableClock.moveMax.milliseconds / 1000)
        let to = try object.instant("to")
        try object.finish()
        let interval: Interval
        switch (advance, to) {
        case (let seconds?, nil): interval = .seconds(seconds)
        case (nil, let date?): interval = date - self.clock.now()
        default: throw object.problem("", "give either advance, in seconds, or to, a date")
        }
        guard interval >= .zero, interval <= MovableClock.moveMax else {
            throw object.problem("to", "is in the past or more than 366 days ahead; a log's time never goes back")
        }
        return Change(endsWithClient: true) { () async throws(Problem) in
            let stopsMax = self.bounds.clockStopsMax
            return self.clockAnswer(try await travel.pass(interval, stopsMax: stopsMax))
        }
    }

    private func clockAnswer(_ now: Instant) -> HTTPResponse {
        HTTPResponse(ofNow: [("now", .instant(now)), ("isMovable", .bool(self.store.travel != nil))])
    }
}
