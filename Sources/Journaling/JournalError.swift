/// Why the log could not do its work.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The store did not accept it this time: its queue is full, or another process uses it.
        case unavailable
        /// The system reported an error, as of a disk that fails.
        case failing
        /// No space is left.
        case full
        /// The store cannot be written.
        case readOnly
        /// Stored data is damaged or missing. Restore a backup.
        case corrupt
        /// Another owner has written an output since. Stop.
        case fenced
        /// It may or may not be in the log; only reading can tell, and perhaps only after a restart.
        case unknownOutcome
        /// The journal is closed.
        case closed
        /// The log was written by another version, or for another number of partitions.
        case formatMismatch
        /// Another process, or another journal of this one, has the log open.
        case locked
        /// The call breaks a rule or a limit; it can never succeed.
        case invalid
    }

    package let code: Code
    /// The action and its subject, and the message of the layer below. Starts in lower case, without a full stop.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The data is of a build whose formats are no longer read.
    package static func earlierBuild(_ name: String) -> JournalError {
        JournalError(.formatMismatch, "\(name) \(Self.earlierBuildSentence)")
    }

    package static let earlierBuildSentence = "was written by a build before 0.2.0; export with that build, import here"

    /// Whether nothing was written and the same call may succeed later.
    package var isRetriable: Bool {
        switch self.code {
        case .unavailable, .failing, .full, .readOnly: true
        case .corrupt, .fenced, .unknownOutcome, .closed, .formatMismatch, .locked, .invalid: false
        }
    }

    /// The message alone: a code is for the program.
    package var description: String { self.message }
}
