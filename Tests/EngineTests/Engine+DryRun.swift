import WidgetModel

@testable import Engine

extension Engine {
    /// The dry run of a push, of whose matches so many are decided at most.
    func dryRun(_ push: PushRecord, decidedMax: Int) -> DryRunView {
        var search = MatchSearch(push, sampling: decidedMax, in: self)
        search.finish(in: self)
        return self.dryRun(search)
    }
}
