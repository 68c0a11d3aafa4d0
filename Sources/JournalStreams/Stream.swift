package import Journaling
package import WidgetModel

/// A message as a stream has it.
package struct StoredMessage: Hashable, Sendable {
    package let sequence: UInt64
    /// When the broker stored it.
    package let stamp: Instant
    package let bytes: [UInt8]

    package init(sequence: UInt64, stamp: Instant, bytes: [UInt8]) {
        self.sequence = sequence
        self.stamp = stamp
        self.bytes = bytes
    }
}

/// Where a stream begins and ends, and how full it is.
package struct StreamEnds: Hashable, Sendable {
    /// The first message that is there, or that the next one will be.
    package let first: UInt64
    /// The newest message there ever was. It never goes back, whatever is removed.
    package let last: UInt64
    package let bytes: Int
    /// The most bytes that it takes; nil for any number.
    package let bytesMax: Int?
    package let description: String

    package init(first: UInt64, last: UInt64, bytes: Int = 0, bytesMax: Int? = nil, description: String = "") {
        self.first = first
        self.last = last
        self.bytes = bytes
        self.bytesMax = bytesMax
        self.description = description
    }
}

/// The condition for a message to be stored.
package enum Expectation: Hashable, Sendable {
    /// The newest message of the subject, 0 for none.
    case lastOfSubject(UInt64)
    /// The newest message that the stream ever had, 0 for none.
    case lastOfStream(UInt64)
    case nothing
}

/// The outcome of publishing a message.
package enum PublishOutcome: Sendable {
    case stored(UInt64)
    /// The stream does not end as expected.
    case otherEnd
    /// The broker took it, and will not store it.
    case refused(JournalError)
    /// No broker took it.
    case notTaken(String)
    /// It may have been stored, or may be yet.
    case unknown(String)
}
