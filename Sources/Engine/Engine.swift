package import WidgetModel

/// The deterministic heart of one partition.
package struct Engine: Sendable {
    /// The version of the decision rules.
    package static let version = 1

    /// Over all records and effects so far: equal for equal logs.
    package private(set) var runningHash: UInt64 = 0
    /// When the owner must append a `tick`, if nothing else is appended before; nil if nothing is due ever.
    package var nextTimer: Instant? { nil }

    package init(partition: PartitionID, partitions: Int) {}

    /// Applies one record, having fired every timer due by then.
    ///
    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - range: Where the record is in them, without its length prefix.
    ///   - recordIndex: The record's index in its entry, given back in the answer.
    ///   - position: The entry's position, not before any applied one.
    ///   - logTime: The entry's time; an earlier one than before counts as the one before.
    ///   - output: Effects, directory changes and the answer are appended to it.
    package mutating func apply(
        _ bytes: [UInt8],
        in range: Range<Int>,
        recordIndex: Int,
        at position: LogPosition,
        logTime: Instant,
        into output: inout EngineOutput
    ) throws(EngineFault) {}

    package func push(_ id: PushID, team: TeamID) -> [PushView] { [] }
    package func instance(_ address: InstanceAddress) -> InstanceView? { nil }
    package func host(_ id: HostID) -> HostView? { nil }
    package func stats() -> EngineStats { EngineStats() }
    package func outstandingReloads(host: HostID) -> [ReloadEffect] { [] }
    package func dryRun(_ push: PushRecord) -> DryRunView { DryRunView(matched: 0, isRepeat: false, rows: []) }
    package func stateDigest() -> UInt64 { 0 }
    package func checkInvariants() -> [String] { [] }
}
