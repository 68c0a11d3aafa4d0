/// What may still be written to the data directory: a decision, from sizes.
///
/// Of what the directory may take a reserve is kept, for what a gateway that takes nothing new still has to write: what it
/// decides about what it has taken, what hosts report, and the snapshots that let the log go.
package struct StorageBudget: Hashable, Sendable {
    /// What an operator says.
    package struct Settings: Hashable, Sendable {
        /// The most bytes that the data directory may take; nil for as many as the file system has. Default nil.
        package var bytesMax: Int?
        /// How many percent of the file system stay free, 0 to 90. Default 5.
        package var freePercentMin: Int

        package init(bytesMax: Int? = nil, freePercentMin: Int = 5) {
            self.bytesMax = bytesMax
            self.freePercentMin = freePercentMin
        }
    }

    /// What a write is for.
    package enum Demand: Hashable, Sendable, CaseIterable {
        /// New work: pushes, registrations, signals, requests of apps.
        case traffic
        /// What ends something: acknowledgements, timelines, removals, cancellations.
        case report
        /// What the gateway itself cannot do without: ticks, outputs, verdicts of deliveries, settings, orders.
        case upkeep
    }

    /// How full the data directory is.
    package enum Level: String, Hashable, Sendable, Comparable, CaseIterable {
        case ample
        /// Four fifths of what traffic may take are used.
        case filling
        /// Nine tenths: history goes.
        case tight
        /// All of it: no traffic is admitted.
        case full
        /// What the reserve has beside snapshots is used as well: no reports are admitted.
        case exhausted

        package static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The part of the reserve that is not for snapshots, in bytes: 64 MiB.
    package static let reportBytes = 67_108_864
    /// How many of the largest snapshot the reserve has room for: one that is written, and what the log grows by meanwhile.
    private static let snapshotsReserved = 2

    /// What the directory takes.
    package let used: Int
    /// What it may take, with the reserve. Less than what it takes where other programs have filled the file system.
    package let limit: Int
    /// What is kept of that for snapshots whatever happens.
    package let snapshotReserve: Int

    /// - Parameters:
    ///   - settings: What an operator says.
    ///   - sizes: What there is. What is below zero counts as zero, what no disk has as ``bytesMax``.
    package init(_ settings: Settings, _ sizes: StorageSizes) {
        let parts = [sizes.log, sizes.writeAheadLog, sizes.snapshots, sizes.archives, sizes.other]
        self.used = parts.reduce(0) { $0 + Self.bounded($1) }
        let kept = Self.bounded(sizes.fileSystem) / 100 * settings.freePercentMin
        let allowed = max(0, self.used + Self.bounded(sizes.free) - kept)
        self.limit = min(settings.bytesMax ?? .max, allowed)
        self.snapshotReserve = Self.bounded(sizes.largestSnapshot) * Self.snapshotsReserved
    }

    /// 64 PiB: so much that no sum here overflows.
    package static let bytesMax = 1 << 56

    private static func bounded(_ bytes: Int) -> Int { min(max(0, bytes), Self.bytesMax) }

    /// What is kept of the limit for reports and snapshots.
    package var reserve: Int { self.snapshotReserve + Self.reportBytes }

    /// What may be taken in all until a demand is refused.
    package func room(for demand: Demand) -> Int {
        switch demand {
        case .traffic: max(0, self.limit - self.reserve)
        case .report: max(0, self.limit - self.snapshotReserve)
        case .upkeep: .max
        }
    }

    /// How many bytes may still be written until a demand is refused; 0 if it is.
    package func left(for demand: Demand) -> Int { max(0, self.room(for: demand) - self.used) }

    /// Whether what is demanded may be written.
    package func admits(_ demand: Demand) -> Bool { self.left(for: demand) > 0 }

    package var level: Level {
        if !self.admits(.report) { return .exhausted }
        if !self.admits(.traffic) { return .full }
        let room = self.room(for: .traffic)
        if self.used >= room - room / 10 { return .tight }
        return self.used >= room - room / 5 ? .filling : .ample
    }

    /// How much of what traffic may take is used, in percent: below 100 as long as it is admitted.
    package var usedPercent: Int {
        let hundredth = self.room(for: .traffic) / 100
        guard hundredth > 0 else { return self.admits(.traffic) ? 0 : 100 }
        let percent = self.used / hundredth
        return self.admits(.traffic) ? min(99, percent) : max(100, percent)
    }
}
