import HTTPTransport
import History
import Partitions
import Serving
import WidgetModel

extension OperatorRoutes {
    /// How far back a question goes that does not say.
    private static let sinceDefault = Interval.hours(24)

    /// `GET /v1/instances/<app>/<host>:<instance>/why?since=24h`: the history of an instance, with reasons; as text for
    /// a caller that accepts text first.
    func why(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let address = try call.instance()
        guard let history = self.store.history else {
            throw Problem(.notSupported, "this gateway keeps no history")
        }
        var back = Self.sinceDefault
        if let since = call.query("since") {
            guard let asked = HistorySpan.parse(since) else {
                throw Problem(.badRequest, "since takes a length of time, as in 90m, 24h or 2d")
            }
            back = asked
        }
        var trace: InstanceTrace
        do throws(Problem) {
            let isTeam = !self.reach.isEverything
            let whole = try await history.why(address, since: self.clock.now() - back, leavesOne: isTeam)
            trace = isTeam ? whole.ofOwnApp() : whole
        } catch {
            self.traffic.problems.add(error.code)
            throw error
        }
        guard trace.first != nil || trace.last != nil || !trace.steps.isEmpty else {
            throw Problem(.unknownInstance, "there is no instance \(address), and there was none in that time")
        }
        if let last = trace.last, let cause = await self.cause(of: last) { trace.cause = (cause.rawValue, cause.words) }
        if call.request.headers["accept"]?.hasPrefix("text/plain") ?? false {
            return HTTPResponse(status: 200, text: trace.text)
        }
        return HTTPResponse(json: trace.json)
    }
}
