package import WidgetModel

/// The committed state of an owner: its position, and the engine's hash there.
package struct OwnerCheckpoint: Hashable, Sendable {
    package let through: LogPosition
    package let runningHash: UInt64

    package init(through: LogPosition, runningHash: UInt64) {
        self.through = through
        self.runningHash = runningHash
    }
}
