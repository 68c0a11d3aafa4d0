/// The bytes that may still be written to the data directory: a decision, from sizes.
///
/// A part of the directory's room is kept in reserve. A gateway that accepts nothing new still must write its decisions
/// about accepted records, hosts' reports, and the snapshots with which the log can be shortened.
package struct StorageBudget: Hashable, Sendable {
    /// The operator's settings.
    package struct Settings: Hashable, Sendable {
        /// The most bytes of the data directory; nil for the whole file system. Default nil.
        package var bytesMax: Int?
        /// How many percent of the file system stay free, 0 to 90. Default 5.
        package var freePercentMin: Int

        package init(bytesMax: Int? = nil, freePercentMin: Int = 5) {
            self.bytesMax = bytesMax
            self.freePercentMin = freePercentMin
        }
    }

    /// The purpose of a write.
    package enum Demand: Hashable, Sendable, CaseIterable {
        /// New work: pushes, registrations, signals, requests of apps.
        case traffic
        /// Records that end something: acknowledgements, timelines, removals, cancellations.
        case report
        /// The gateway's own necessary records: ticks, outputs, verdicts of deliveries, settings, orders.
        case upkeep
    }

    /// How full the data directory is.
    package enum Level: String, Hashable, Sendable, Comparable, CaseIterable {
        case ample
        /// Four fifths of the room for traffic are used.
        case filling
        /// Nine tenths: history goes.
        case tight
        /// All of it: no traffic is admitted.
        case full
        /// The reserve, except the part for snapshots, is used as well: no reports are accepted.
        case exhausted

        package static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The part of the reserve that is not for snapshots, in bytes: 64 MiB.
    package static let reportBytes = 67_108_864
    /// How many of the largest snapshot the reserve has room for: one that is written, and the log's growth meanwhile.
    private static let snapshotsReserved = 2

    /// The size of the directory.
    package let used: Int
    /// Its largest size, with the reserve. Smaller than its present size if other programs have filled the file system.
    package let limit: Int
    /// The part that is always kept for snapshots.
    package let snapshotReserve: Int

    /// - Parameters:
    ///   - settings: The operator's settings.
    ///   - sizes: The sizes. A negative size counts as zero, a larger one than any disk as ``bytesMax``.
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

    /// The part of the limit that is kept for reports and snapshots.
    package var reserve: Int { self.snapshotReserve + Self.reportBytes }

    /// The largest size at which a demand is still accepted.
    package func room(for demand: Demand) -> Int {
        switch demand {
        case .traffic: max(0, self.limit - self.reserve)
        case .report: max(0, self.limit - self.snapshotReserve)
        case .upkeep: .max
        }
    }

    /// How many bytes may still be written until a demand is refused; 0 if it is.
    package func left(for demand: Demand) -> Int { max(0, self.room(for: demand) - self.used) }

    /// Whether a write for this purpose is accepted.
    package func admits(_ demand: Demand) -> Bool { self.left(for: demand) > 0 }

    package var level: Level {
        if !self.admits(.report) { return .exhausted }
        if !self.admits(.traffic) { return .full }
        let room = self.room(for: .traffic)
        if self.used >= room - room / 10 { return .tight }
        return self.used >= room - room / 5 ? .filling : .ample
    }

    /// The used share of the room for traffic, in percent: below 100 as long as traffic is accepted.
    package var usedPercent: Int {
        let hundredth = self.room(for: .traffic) / 100
        guard hundredth > 0 else { return self.admits(.traffic) ? 0 : 100 }
        let percent = self.used / hundredth
        return self.admits(.traffic) ? min(99, percent) : max(100, percent)
    }
}
