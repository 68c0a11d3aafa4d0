package import Logging
import Synchronization
import TLS

/// Reads files again when they have changed: looks at their contents from time to time.
///
/// The contents are compared, not times of modification: those do not change when a symbolic link far up the path is
/// turned (as certificate tools and container platforms do), nor within the clock's grain. inotify would tell of changes at
/// once, but watches folders, of which a link's way has many, and not those on network file systems. The watch is on a
/// handful of files of a few kilobytes, so that a look costs some microseconds.
///
/// A change is used when two looks in a row have found the same, so that a certificate whose key has not been written yet
/// is not tried. Files that cannot be used are reported once, and the earlier ones stay in force.
package final class FileWatch: Sendable {
    /// Files that belong together.
    package struct Subject: Sendable {
        /// Their purpose, in logs.
        package let name: String
        /// They may become others when they are put to use.
        package let paths: @Sendable () -> [String]
        /// Puts the files to use, or throws and leaves everything as it was. The result is for the log.
        package let use: @Sendable () throws -> Logger.Metadata

        package init(
            name: String,
            paths: @escaping @Sendable () -> [String],
            use: @escaping @Sendable () throws -> Logger.Metadata
        ) {
            self.name = name
            self.paths = paths
            self.use = use
        }
    }

    /// The known states of a subject's files, each by its digest.
    private struct Knowledge {
        var inForce: [UInt8]
        /// Seen at the last look, for the first time.
        var pending: [UInt8]?
        /// Tried in vain.
        var refused: [UInt8]?
    }

    private let subjects: [Subject]
    private let logger: Logger
    private let read: @Sendable (String) -> [UInt8]?
    private let knowledge: Mutex<[Knowledge]>

    /// - Parameters:
    ///   - subjects: The watched subjects; their files have just been put to use.
    ///   - logger: Where changes are told.
    ///   - read: The contents of a file, nil if it cannot be read.
    package init(_ subjects: [Subject], logger: Logger, read: @escaping @Sendable (String) -> [UInt8]?) {
        self.subjects = subjects
        self.logger = logger
        self.read = read
        self.knowledge = Mutex(subjects.map { Knowledge(inForce: Self.digest($0, read)) })
    }

    /// Looks once, and uses the files that have changed and settled.
    package func look() {
        self.knowledge.withLock { knowledge in
            for (index, subject) in self.subjects.enumerated() {
                let found = Self.digest(subject, self.read)
                if found == knowledge[index].inForce {
                    knowledge[index].pending = nil
                    knowledge[index].refused = nil
                } else if found == knowledge[index].refused {
                    knowledge[index].pending = nil
                } else if found == knowledge[index].pending {
                    self.reload(subject, found, &knowledge[index])
                } else {
                    knowledge[index].pending = found
                }
            }
        }
    }

    /// Uses all files as they are now, changed or not, since an operator asked for it. The log has those that changed.
    package func useAll() {
        self.knowledge.withLock { knowledge in
            for (index, subject) in self.subjects.enumerated() {
                self.reload(subject, Self.digest(subject, self.read), &knowledge[index])
            }
        }
    }

    private func reload(_ subject: Subject, _ digest: [UInt8], _ knowledge: inout Knowledge) {
        knowledge.pending = nil
        do {
            var metadata = try subject.use()
            metadata["what"] = "\(subject.name)"
            // Unchanged files that are used anew for another reason are no news.
            let isNew = digest != knowledge.inForce
            knowledge.inForce = digest
            knowledge.refused = nil
            if isNew { self.logger.notice("files read again", metadata: metadata) }
        } catch {
            knowledge.refused = digest
            self.logger.error(
                "new files cannot be used; the previous ones stay in force",
                metadata: ["what": "\(subject.name)", "error": "\(error)"]
            )
        }
    }

    private static func digest(_ subject: Subject, _ read: (String) -> [UInt8]?) -> [UInt8] {
        subject.paths().flatMap { path in
            // A file that cannot be read is a state of its own.
            read(path).map { Digests.sha256($0.span) } ?? [0]
        }
    }
}
