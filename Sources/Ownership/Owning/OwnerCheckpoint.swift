package import WidgetModel

/// What an owner has committed of its state: how far, and the engine's hash there.
package struct OwnerCheckpoint: Hashable, Sendable {
    package let through: LogPosition
    package let runningHash: UInt64

    package init(through: LogPosition, runningHash: UInt64) {
        self.through = through
        self.runningHash = runningHash
    }
}
