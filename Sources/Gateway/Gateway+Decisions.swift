import Journaling
import Partitions
import Settings

extension Gateway {
    /// The filer that writes decisions down, if there is a place for them.
    func makeDecisionFiler() -> DecisionFiler? {
        guard let archive = self.stores.decisions else { return nil }
        let logger = self.logs.logger(.partitions)
        let store = DecisionStore(
            archive: archive,
            partitions: self.log.partitions,
            settings: self.configuration.decisions,
            logger: logger
        )
        self.settings.follow(\.decisions) { store.applySettings($0) }
        return DecisionFiler(
            store,
            log: self.log,
            history: self.history,
            clock: self.clock,
            // On a nearly full disk, the rest is for data that cannot be made again.
            hasRoom: { [storage = self.storage] in storage.map { $0.budget.level < .tight } ?? true },
            logger: logger
        )
    }
}
