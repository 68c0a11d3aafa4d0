/// A place in the sequence of everything that one gateway has told operators: the `id` of an event of `GET /v1/events`.
///
/// Opaque to readers, who give the last one back as `Last-Event-ID`. It means nothing to another gateway, nor to the same one after a
/// restart: the epoch tells.
package struct FeedPlace: Hashable, Sendable, CustomStringConvertible {
    /// Drawn when the gateway starts.
    package let epoch: UInt32
    /// How many events went before.
    package let sequence: UInt64

    package init(epoch: UInt32, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// The place that ``description`` spells, or nil.
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
