import CSQLite
import Journaling
import WidgetModel

/// The log files of a directory, found, opened and checked.
struct OpenedLog {
    /// All files in order, the newest at the end.
    let files: [LogReader.File]
    /// The newest file, open for writing.
    let newest: LogFile
    /// About how many bytes of rows the newest file has.
    let newestBytes: Int
    /// Where each partition stands.
    let ends: [PartitionStart]

    /// Opens the files, and begins the first if there is none.
    ///
    /// - Throws: `.corrupt` if a file is missing, the newest included, or not the one its name says.
    init(directory: DataDirectory, format: JournalFormat) throws(JournalError) {
        var numbers = try directory.logFileNumbers()
        let newestBegun = try directory.newestBegun()
        // Both before anything is opened: a refusal changes nothing.
        for (index, number) in numbers.enumerated() where number != index + 1 {
            throw Self.refusal(of: index + 1, "is missing in \(directory.path)")
        }
        guard numbers.count >= newestBegun else {
            throw Self.refusal(of: numbers.count + 1, "is missing in \(directory.path)")
        }
        var newest = try numbers.last.map { (number) throws(JournalError) in
            try LogFile(opening: number, in: directory, format: format)
        }?.flatMap { $0 }
        if newest == nil, let last = numbers.popLast() {
            guard last > newestBegun else { throw Self.refusal(of: last, "in \(directory.path) is empty") }
            // A crash came between the creation of the file and its first transaction.
            try directory.removeLogFile(last)
            newest = try numbers.last.map { (number) throws(JournalError) in
                try LogFile(opening: number, in: directory, format: format)
            }?.flatMap { $0 }
            if newest == nil, let previous = numbers.last {
                throw JournalError(.corrupt, "\(LogFileName.name(of: previous)) holds nothing")
            }
        }
        let empty = Array(repeating: PartitionStart(), count: format.partitions)
        let file: LogFile
        if let newest {
            file = newest
        } else {
            numbers = [1]
            file = try LogFile(creating: 1, in: directory, format: format, starts: empty)
        }
        self.files = try Self.files(numbers, newest: file, in: directory, format: format)
        guard self.files.first?.starts == empty else {
            throw JournalError(
                .corrupt,
                "\(LogFileName.name(of: 1)) does not begin with the first entries"
            )
        }
        try directory.markBegun(file.number)
        self.newest = file
        self.ends = try file.ends()
        do throws(SQLiteFailure) {
            // Every table has a page from the beginning; only what came later counts against the file's size.
            let pages = try file.database.integer("PRAGMA page_count")
            let rows = max(0, pages - Int64(2 * format.partitions + 3))
            self.newestBytes = Int(rows * (try file.database.integer("PRAGMA page_size")))
        } catch {
            throw error.journalError("opening of the log")
        }
    }

    private static func refusal(of number: Int, _ fault: String) -> JournalError {
        JournalError(.corrupt, "\(LogFileName.name(of: number)) \(fault); restore the directory from a backup")
    }

    private static func files(
        _ numbers: [Int],
        newest: LogFile,
        in directory: DataDirectory,
        format: JournalFormat
    ) throws(JournalError) -> [LogReader.File] {
        var files: [LogReader.File] = []
        for number in numbers {
            let path = directory.logFilePath(number)
            if number == newest.number {
                files.append(LogReader.File(number: number, path: path, starts: newest.starts))
                continue
            }
            do throws(SQLiteFailure) {
                let database = try Database(path: path, access: .readOnly)
                let starts = try LogFile.starts(of: database, number: number, format: format)
                files.append(LogReader.File(number: number, path: path, starts: starts))
            } catch {
                throw error.journalError("opening of the log")
            }
        }
        return files
    }
}
