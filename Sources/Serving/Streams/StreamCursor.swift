/// A place in the sequence of everything that one gateway's event streams have carried: the `id` of their events.
///
/// Opaque to readers, who give the last one back as `Last-Event-ID`. It means nothing to another process, nor to the same
/// gateway after a restart: the epoch tells.
package struct StreamCursor: Hashable, Sendable, CustomStringConvertible {
    /// Drawn when the gateway starts.
    package let epoch: UInt32
    /// How many events went before, over all streams.
    package let sequence: UInt64

    package init(epoch: UInt32, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// The cursor that ``description`` spells, or nil.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt32(parts[0], radix: 16), let sequence = UInt64(parts[1]) else {
            return nil
        }
        self.init(epoch: epoch, sequence: sequence)
    }

    /// `<epoch in hex>-<sequence>`.
    package var description: String { "\(String(self.epoch, radix: 16))-\(self.sequence)" }
}
