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
        let firstKept = try directory.firstKept()
        // A crash came between the note that they are not needed and their removal.
        for number in numbers where number < firstKept { try directory.removeLogFile(number) }
        numbers.removeAll { $0 < firstKept }
        // Both before anything is opened: a refusal changes nothing.
        for (index, number) in numbers.enumerated() where number != firstKept + index {
            throw Self.refusal(of: firstKept + index, "is missing in \(directory.path)")
        }
        guard firstKept + numbers.count > newestBegun else {
            throw Self.refusal(of: firstKept + numbers.count, "is missing in \(directory.path)")
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
                throw JournalError(.corrupt, "\(LogFileName.name(of: previous)) is empty")
            }
        }
        let empty = Array(repeating: PartitionStart(), count: format.partitions)
        let file: LogFile
        if let newest {
            file = newest
        } else {
            guard firstKept == 1 else { throw Self.refusal(of: firstKept, "is missing in \(directory.path)") }
            numbers = [1]
            file = try LogFile(creating: 1, in: directory, format: format, starts: empty)
        }
        self.files = try Self.files(numbers, newest: file, in: directory, format: format)
        guard firstKept > 1 || self.files.first?.starts == empty else {
            throw JournalError(
                .corrupt,
                "\(LogFileName.name(of: 1)) does not begin with the first entries"
            )
        }
        try directory.markBegun(file.number)
        // Without them only a disk that is full later is in trouble.
        try? directory.prepareNotes()
        self.newest = file
        self.ends = try file.ends()
        do throws(SQLiteError) {
            // Every table has a page from the beginning; only later pages count against the file's size.
            let pages = try file.database.integer("PRAGMA page_count")
            let rows = max(0, pages - Int64(2 * format.partitions + 3))
            self.newestBytes = Int(rows) * file.pageBytes
        } catch {
            throw error.journalError("cannot open the log")
        }
    }

    /// The part that SQLite will cut off the end of the newest file, in words; to be asked before that is opened.
    static func cut(in directory: DataDirectory) throws(JournalError) -> String? {
        guard let newest = try directory.logFileNumbers().last else { return nil }
        return try WriteAheadTail(of: directory.logFilePath(newest)).sentence(LogFileName.name(of: newest))
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
            do throws(SQLiteError) {
                let database = try Database(path: path, access: .readOnly)
                let starts = try LogFile.starts(of: database, number: number, format: format)
                files.append(LogReader.File(number: number, path: path, starts: starts))
            } catch {
                throw error.journalError("cannot open the log")
            }
        }
        return files
    }
}
