package import Engine
package import Journaling

/// One commit's worth of effects.
package struct OutputChunk: Sendable {
    package let record: OutputRecord
    package let effects: [Effect]

    /// Whether the entries are done with it.
    package var isLast: Bool { self.record.ahead == 0 }
}
