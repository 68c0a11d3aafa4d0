import Engine
import Logging
import Partitions
import Settings
import Synchronization

/// Where several gateways share the log, its partitions may decide by another gateway's configuration.
extension ConfigurationReload {
    /// Puts the changes by requests to other gateways in force, and looks whether partitions decide by this one's settings.
    ///
    /// A partition that does not answer is asked again the next time. A reading or a change here meanwhile comes first.
    package func followLog() async {
        let turns = self.state.withLock { $0.turns }
        guard let inForce = try? await self.log.askAnyPresent(InForceQuestion()) else { return }
        let isNews: Bool? = self.state.withLock { state in
            guard !state.isReading, state.turns == turns else { return nil }
            let isNews = state.isBehind(inForce)
            if isNews { state.isReading = true }
            return isNews
        }
        guard let isNews else { return }
        if isNews {
            self.follow(inForce)
            self.endTurn()
        }
        self.noteInForce(inForce.settings)
    }

    /// Puts the changes by requests that stand in the log in force, where they are newer than here. In a turn only.
    func follow(_ inForce: InForce) {
        let isNews = self.state.withLock { state in
            let isNews = state.isBehind(inForce)
            if isNews { state.version = inForce.settingsVersion }
            return isNews
        }
        if isNews { self.takeAmendments(inForce.amendments) }
    }

    private func takeAmendments(_ amendments: [StandingAmendment]) {
        do {
            let merged = try self.file.amended(by: amendments)
            guard merged != self.inForce else { return }
            try self.checkFiles(merged)
            self.settings.replace(merged)
            self.logger.notice("a change by a request is in force here, too")
        } catch {
            self.logger.error(
                "a change by a request does not fit this gateway's file, and is not in force here: mend the file, then reload",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private func noteInForce(_ inForce: EngineSettings?) {
        let isOwn = inForce == self.ownEngineSettings.value
        let digest = isOwn ? self.digests.own : inForce?.digest
        let isNews = self.state.withLock { state in
            defer { (state.isDecidedBy, state.digestInForce) = (isOwn, digest) }
            return state.isDecidedBy != isOwn
        }
        guard isNews else { return }
        if isOwn {
            self.logger.notice("partitions decide by this gateway's settings again")
        } else {
            self.logger.warning(
                "partitions decide by other settings than this gateway's: give all gateways the same file, then reload each"
            )
        }
    }
}

extension ConfigurationReload.State {
    /// Whether changes by requests stand in the log that this gateway has not looked at.
    fileprivate func isBehind(_ inForce: InForce) -> Bool { self.version.map { $0 < inForce.settingsVersion } ?? true }
}
