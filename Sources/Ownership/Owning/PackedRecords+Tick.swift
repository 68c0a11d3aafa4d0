import Engine
package import Journaling

extension PackedRecords {
    /// The record that only lets time pass.
    package static let tick = PackedRecords(Record.tick.bytes)
}
