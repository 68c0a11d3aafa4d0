package import Timelines
package import WidgetModel

/// The bounds of an engine's memory. Beyond a bound a request is refused or ends `failed` with a reason, never
/// silently.
package struct EngineLimits: Hashable, Sendable {
    /// The most instances that one host may show of its app. Default 256.
    package var instancesPerHostMax: Int
    /// The most push tokens of one host; binding one more removes the oldest. Default 8.
    package var tokensPerHostMax: Int
    /// The most tags of one instance. Default 16.
    package var tagsMax: Int
    /// The most pushes that may wait for one instance. A further one ends `coalesced` if the coming reload serves it,
    /// too, and `failed(pendingLimit)` otherwise. Default 1,000.
    package var pendingPerInstanceMax: Int
    /// The most complete pushes that are kept for questions. Default 1,000,000; pushes that are not complete always stay.
    package var pushesRetainedMax: Int
    /// How long a complete push is kept for questions. Default 48 h.
    package var pushRetention: Interval
    /// The most decisions that are kept, over all instances. Default 1,000,000.
    package var decisionsRetainedMax: Int
    /// How many pushes back a repeat is recognised. Default 1,000,000 (some 40 MB).
    package var repeatEntriesMax: Int
    /// How long a reload may stay unacknowledged. Default and most 24 h.
    package var acknowledgementMax: Interval
    /// How long a removed token is answered with its removal. Default 30 days.
    package var removedTokenRetention: Interval
    /// The limits of timelines, and the bounds for findings.
    package var timelines: TimelineLimits

    package init(
        instancesPerHostMax: Int = 256,
        tokensPerHostMax: Int = 8,
        tagsMax: Int = 16,
        pendingPerInstanceMax: Int = 1000,
        pushesRetainedMax: Int = 1_000_000,
        pushRetention: Interval = .hours(48),
        decisionsRetainedMax: Int = 1_000_000,
        repeatEntriesMax: Int = 1_000_000,
        acknowledgementMax: Interval = .hours(24),
        removedTokenRetention: Interval = .days(30),
        timelines: TimelineLimits = TimelineLimits()
    ) {
        self.instancesPerHostMax = instancesPerHostMax
        self.tokensPerHostMax = tokensPerHostMax
        self.tagsMax = tagsMax
        self.pendingPerInstanceMax = pendingPerInstanceMax
        self.pushesRetainedMax = pushesRetainedMax
        self.pushRetention = pushRetention
        self.decisionsRetainedMax = decisionsRetainedMax
        self.repeatEntriesMax = repeatEntriesMax
        self.acknowledgementMax = acknowledgementMax
        self.removedTokenRetention = removedTokenRetention
        self.timelines = timelines
    }

    /// The most tombstones with which a registration may leave a host: four for each instance that it may show.
    ///
    /// A removal is never refused. It turns the host's instances into tombstones, so a host has at most five for each,
    /// and as many rows of instances in all. No registration adds a row to a host that it leaves with more tombstones
    /// than these.
    package var tombstonesPerHostMax: Int { self.instancesPerHostMax.multipliedSaturating(by: 4) }

    /// Limits of timelines that are not the defaults stand first, behind a zero, which is no number of instances that a
    /// host may show: so the others are written as they were before those could be set.
    package func encode(into writer: inout ByteWriter) {
        if self.timelines != TimelineLimits() || self.instancesPerHostMax == 0 {
            writer.write(count: 0)
            for limit in [
                self.timelines.entriesMax, self.timelines.entriesAdvised, self.timelines.digestBytesMax,
                self.timelines.contentBytesAdvised,
            ] {
                writer.write(count: limit)
            }
        }
        writer.write(count: self.instancesPerHostMax)
        writer.write(count: self.tokensPerHostMax)
        writer.write(count: self.tagsMax)
        writer.write(count: self.pendingPerInstanceMax)
        writer.write(count: self.pushesRetainedMax)
        writer.write(self.pushRetention)
        writer.write(count: self.decisionsRetainedMax)
        writer.write(count: self.repeatEntriesMax)
        writer.write(self.acknowledgementMax)
        writer.write(self.removedTokenRetention)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.timelines = TimelineLimits()
        var first = try Self.readLimit(from: &reader)
        if first == 0 {
            self.timelines.entriesMax = try Self.readLimit(from: &reader)
            self.timelines.entriesAdvised = try Self.readLimit(from: &reader)
            self.timelines.digestBytesMax = try Self.readLimit(from: &reader)
            self.timelines.contentBytesAdvised = try Self.readLimit(from: &reader)
            first = try Self.readLimit(from: &reader)
        }
        self.instancesPerHostMax = first
        self.tokensPerHostMax = try Self.readLimit(from: &reader)
        self.tagsMax = try Self.readLimit(from: &reader)
        self.pendingPerInstanceMax = try Self.readLimit(from: &reader)
        self.pushesRetainedMax = try Self.readLimit(from: &reader)
        self.pushRetention = try reader.readLength()
        self.decisionsRetainedMax = try Self.readLimit(from: &reader)
        self.repeatEntriesMax = try Self.readLimit(from: &reader)
        self.acknowledgementMax = try reader.readLength()
        self.removedTokenRetention = try reader.readLength()
    }

    /// A limit is at most 2^31, so that every table can number its rows with 32 bits.
    private static func readLimit(from reader: inout ByteReader) throws(ByteError) -> Int {
        let start = reader.offset
        let value = try reader.readVarint()
        guard value <= 1 << 31 else { throw .invalid(offset: start) }
        return Int(value)
    }
}
