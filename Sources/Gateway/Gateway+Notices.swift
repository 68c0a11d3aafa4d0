import Clustering
import Engine
import OperatorAPI
import Partitions
import Serving
import Settings
import WidgetModel

extension Gateway {
    /// Tells the log and the charts the changes of the gateway's state, at every heartbeat, until the task is cancelled.
    func tellStates(_ watch: GatewayWatch, _ operators: OperatorRoutes) async {
        var notices = StateNotices(self.logger) { watch.mark($0, $1, at: $2) }
        while true {
            notices.tell(missing: self.readiness.missing)
            notices.tell(lags: self.readiness.lags)
            notices.tell(self.stores.membership?.cluster.clockTroubles ?? [], at: .now)
            notices.tell(refusals: self.work.allTeams.map { ($0.team, $0.refused) })
            notices.tell(self.counters.badCredentials(at: PushCounters.second))
            if let survey = await watch.surveys.latest { notices.tell(budgets: survey.own.kinds) }
            let report = self.reloading.report
            notices.tell(configurationReadAt: report.at, isRefused: !report.faults.isEmpty)
            let targets = await operators.calledTargets()
            notices.tell(targets)
            // A partition that does not answer is told of above.
            if let board = try? await operators.behind(targets, isPresentOnly: true) { notices.tell(board) }
            do {
                try await Task.sleep(for: .milliseconds(self.settings.inForce.streams.heartbeat.milliseconds))
            } catch {
                return
            }
        }
    }
}
