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
        let standing: Bool? = self.state.withLock { state in
            guard !state.isReading, state.turns == turns else { return nil }
            guard state.amendments == inForce.amendments else {
                state.isReading = true
                return false
            }
            return true
        }
        guard let isUnchanged = standing else { return }
        if !isUnchanged {
            self.follow(inForce.amendments)
            self.endTurn()
        }
        self.note(inForce.settings)
    }

    /// Puts the changes that stand in the log in force, where they are others than here. In a turn only.
    func follow(_ amendments: [StandingAmendment]) {
        let isNews = self.state.withLock { state in
            defer { state.amendments = amendments }
            return state.amendments != amendments
        }
        if isNews { self.take(amendments) }
    }

    private func take(_ amendments: [StandingAmendment]) {
        do {
            let merged = try self.file.amended(by: amendments)
            guard merged != self.inForce else { return }
            try self.checkFiles(merged)
            self.settings.replace(merged)
            self.logger.notice("a change by a request to another gateway is in force here")
        } catch {
            self.logger.error(
                "a change by a request to another gateway does not fit this gateway's file, and is not in force here: mend the file, then reload",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private func note(_ inForce: EngineSettings?) {
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
