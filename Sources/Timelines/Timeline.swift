package import WidgetModel

/// A provider's answer to one request: entries, and when to ask again.
package struct Timeline: Hashable, Sendable {
    /// As the provider listed them; out of order is a finding, not an error.
    package let entries: [TimelineEntry]
    package let policy: ReloadPolicy
    /// The provider's digest of the content, by which a reload that changed nothing is known.
    package let digest: [UInt8]?

    /// The shortest wait that stands in for a next request that would not lie after the receipt.
    package static let shortestDefault = Interval.minutes(15)

    package init(entries: [TimelineEntry], policy: ReloadPolicy, digest: [UInt8]? = nil) {
        self.entries = entries
        self.policy = policy
        self.digest = digest
    }

    /// The date of the entry that is shown last. Nil if there is none. O(entries).
    package var end: Instant? {
        self.entries.map(\.date).max()
    }

    /// The entry shown at an instant: the one with the latest date not after it, the later listed one of two at one
    /// date. Nil before the first. O(entries).
    package func entry(at instant: Instant) -> TimelineEntry? {
        var shown: TimelineEntry?
        for entry in self.entries where entry.date <= instant {
            if let current = shown, current.date > entry.date { continue }
            shown = entry
        }
        return shown
    }

    /// When the next timeline is to be requested by the policy, or nil for `never`.
    ///
    /// An instant that is not after the receipt (a single entry dated now with `atEnd`, an `after` in the past, no
    /// entries at all) would repeat without end; it becomes the receipt plus the larger of the pace and 15 minutes, the
    /// shortest interval that Apple's engineers recommend (developer.apple.com/forums/thread/653265).
    ///
    /// - Parameters:
    ///   - receivedAt: When the timeline arrived.
    ///   - pace: The pace interval of the instance's budget, ``BudgetTerms/interval``.
    ///   - atEnd: The meaning of `atEnd`. WWDC21 (session 10048): after a single entry the system picks the time, here
    ///     the entry's date plus the larger of the pace and 15 minutes.
    package func nextRequest(
        receivedAt: Instant,
        pace: Interval,
        atEnd: BudgetPolicy.AtEndReading = .documentation
    ) -> Instant? {
        let picked = max(pace, Self.shortestDefault)
        let wanted: Instant
        switch self.policy {
        case .never: return nil
        case .after(let date): wanted = date
        case .atEnd where atEnd == .wwdc21 && self.entries.count == 1:
            return max(receivedAt, self.end ?? receivedAt) + picked
        case .atEnd: wanted = self.end ?? receivedAt
        }
        return wanted > receivedAt ? wanted : receivedAt + picked
    }
}

extension Timeline {
    /// Refuses a timeline that the engine does not store; all other faults are at most findings of
    /// ``lint(receivedAt:context:limits:)``.
    package func validate(_ limits: TimelineLimits = TimelineLimits()) throws(TimelineError) {
        if self.entries.count > limits.entriesMax {
            throw .tooManyEntries(count: self.entries.count, max: limits.entriesMax)
        }
        if let digest = self.digest, digest.isEmpty || digest.count > limits.digestBytesMax {
            throw .digestLength(bytes: digest.count, max: limits.digestBytesMax)
        }
        for (index, entry) in self.entries.enumerated() {
            guard let relevance = entry.relevance else { continue }
            guard relevance.score.isFinite else { throw .scoreNotFinite(index: index) }
            guard relevance.duration >= .zero else { throw .negativeDuration(index: index) }
        }
    }
}

extension Timeline: ByteCoded {
    /// Dates are written as differences, since entries are near each other.
    package func encode(into writer: inout ByteWriter) {
        self.policy.encode(into: &writer)
        writer.write(self.digest) { $0.write($1) }
        var previous: Int64 = 0
        writer.write(each: self.entries) { writer, entry in
            writer.write(signed: entry.date.milliseconds &- previous)
            previous = entry.date.milliseconds
            writer.write(entry.relevance) { writer, relevance in
                writer.write(fixed32: relevance.score.bitPattern)
                writer.write(relevance.duration)
            }
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.policy = try ReloadPolicy(from: &reader)
        self.digest = try reader.readOptional { (reader) throws(ByteError) in try reader.readBytes() }
        var previous: Int64 = 0
        self.entries = try reader.readEach { (reader) throws(ByteError) in
            previous &+= try reader.readSigned()
            let relevance = try reader.readOptional { (reader) throws(ByteError) in
                EntryRelevance(
                    score: Float(bitPattern: try reader.readFixed32()),
                    duration: try reader.readInterval()
                )
            }
            return TimelineEntry(date: Instant(milliseconds: previous), relevance: relevance)
        }
    }
}

extension ReloadPolicy: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .atEnd: writer.write(byte: 0)
        case .after(let date): writer.write(tag: 1, date)
        case .never: writer.write(byte: 2)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .atEnd
        case 1: self = .after(try reader.readInstant())
        case 2: self = .never
        default: throw .invalid(offset: start)
        }
    }
}
