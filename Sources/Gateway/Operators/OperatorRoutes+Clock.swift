import APNSWire
import HTTPTransport
import WidgetModel

extension OperatorRoutes {
    /// `GET /v1/clock`: what time the log has, and whether it can be moved.
    func clockNow() -> HTTPResponse {
        HTTPResponse(json: self.clockJSON(self.clock.now()))
    }

    /// `POST /v1/clock`: lets time pass, in a gateway that was started for that.
    func moveClock(_ request: HTTPRequest) throws(Problem) -> Change {
        guard let travel = self.travel else {
            throw Problem(.notSupported, "this gateway's clock cannot be moved; start one with --movable-clock")
        }
        let bytesMax = self.bodyBytesMax
        var object = try RequestObject(try HostRoutes.json(request.body, reader: JSONReader(), bytesMax: bytesMax))
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
            let stopsMax = self.liveApps.bounds.clockStopsMax
            return HTTPResponse(json: self.clockJSON(try await travel.pass(interval, stopsMax: stopsMax)))
        }
    }

    private func clockJSON(_ now: Instant) -> JSONValue {
        JSONValue.object(of: [("now", .instant(now)), ("isMovable", .bool(self.travel != nil))])
    }
}
