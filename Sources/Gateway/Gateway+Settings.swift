import Clustering
import Engine
import Journaling
import Logging
import OperatorAPI
import Partitions
import Serving
import Settings
import WidgetModel

extension Gateway {
    /// Lets the parts that exist before the start follow their settings.
    func followSettings() {
        let (settings, journal, storage, registry) = (self.settings, self.journal, self.storage, self.registry)
        let (streams, followers, feed, work) = (self.streams, self.followers, self.feed, self.work)
        let (backlog, history, logs) = (self.senderLimits.backlog, self.history, self.logs)
        // Levels that operators set end with a reading.
        settings.followReadings { logs.applySettings($0.log) }
        settings.follow(\.limits.inFlightPushesMax) { backlog.setLimit(max: $0) }
        settings.follow({ JournalLimits($0) }) { journal.useLimits($0) }
        settings.follow(\.limits.historyQuestionsMax) { history.setLimit(concurrentMax: $0) }
        settings.follow({ HostStreams.Limits($0.streams) }) { streams.applyLimits($0) }
        settings.follow(\.streams.followedPushesMax) { followers.setLimit(max: $0) }
        settings.follow(\.feed) { feed.applyLimits($0) }
        settings.follow(\.storage) { storage?.applySettings($0) }
        settings.follow(\.fairness) { work.applySettings($0) }
        settings.follow({ RegistryLimits($0) }) { registry.applyLimits($0) }
        settings.follow(\.memoryMax) { registry.applyBound($0) }
    }

    /// Puts in force the changes that operators made by requests before this start.
    ///
    /// - Returns: The configuration with that.
    /// - Throws: ``SettingsError`` if they do not go with the file as it is now.
    func takeAmendments() async throws -> GatewayConfiguration {
        let amendments: [StandingAmendment]
        do throws(Problem) {
            amendments = try await self.log.askAnyPresent(InForceQuestion()).amendments
        } catch {
            // Of nodes that share the log, one that has no partition and hears of none follows once it does.
            guard self.placed != nil, error.code == .partitionAway else { throw error }
            return self.configuration
        }
        guard !amendments.isEmpty else { return self.configuration }
        let amended = try self.configuration.amended(by: amendments)
        try GatewayCheck.files(of: amended)
        self.settings.replace(amended)
        self.logger.notice(
            "requests have changed teams or apps, which override the configuration file: see freshet config amendments",
            metadata: ["entries": "\(amendments.map(\.entry.description).joined(separator: ", "))"]
        )
        return amended
    }

    /// Logs the effective configuration where it differs from the one in force.
    func logSettings() async throws {
        guard self.placed == nil else {
            for owner in self.owners where !owner.isAway { try await self.logSettings(of: owner.partition) }
            return
        }
        let settings = EngineSettings(self.settings.inForce)
        let (inForce, latest) = try await self.reloading.askInForce()
        guard inForce.contains(where: { $0.settings != settings }) else { return }
        let change = SettingsChange(settings, from: latest.settingsVersion)
        for answer in try await self.log.appendToAll(.configure(change)) { self.tellOrphans(answer) }
    }

    /// The first settings of one partition of those that nodes share: once there are some, only a reload changes them.
    func logSettings(of partition: PartitionID) async throws(Problem) {
        guard try await self.log.ask(partition, InForceQuestion()).settings == nil else { return }
        let settings = EngineSettings(self.settings.inForce)
        self.tellOrphans(try await self.log.append(.settings(settings), to: partition))
    }

    /// Follows the changes that other nodes with the same log put in force, and tells them what is in force here, until the task is
    /// cancelled.
    func followLog(_ parts: Parts) async {
        guard let membership = self.stores.membership else { return }
        let senders = parts.files.senders
        var credentials = (generations: [] as [UInt64], digest: 0 as UInt64)
        while true {
            await self.reloading.followLog()
            // Each reading of files that is not refused ends with another generation.
            let generations = [senders.keys.generation, senders.certificates.generation]
            if credentials.generations != generations {
                credentials = (generations, senders.digest(self.settings.inForce))
            }
            let report = NodeReport(
                program: FreshetVersion.current,
                settings: self.reloading.digests.own,
                credentials: credentials.digest,
                overdue: (parts.snapshotter?.counters.overdue ?? []).map {
                    NodeReport.Overdue(partition: $0.partition, since: $0.since)
                }
            )
            membership.cluster.tell(.reports(report))
            do {
                try await Task.sleep(for: .milliseconds(membership.limits.beat.milliseconds))
            } catch {
                return
            }
        }
    }

    private func tellOrphans(_ answer: RecordAnswer.Result) {
        guard case .settings(let orphaned) = answer, orphaned > 0 else { return }
        self.logger.warning(
            "instances no longer fit their kind's schema: their hosts must register them again",
            metadata: ["instances": "\(orphaned)"]
        )
    }

    /// Lets event streams be heard, and looks at the clock and the disk, until the task is cancelled.
    func beat() async {
        while true {
            do {
                try await Task.sleep(for: .milliseconds(self.settings.inForce.streams.heartbeat.milliseconds))
            } catch {
                return
            }
            self.streams.beat()
            self.followers.wake(.heartbeat)
            self.watchClock()
            self.watched.probe()
        }
    }
}
