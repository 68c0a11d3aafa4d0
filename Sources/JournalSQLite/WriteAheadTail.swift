import Glibc
import Journaling

/// The end of a write-ahead log as a crash or a bad disk left it, before SQLite cuts it off without a word.
///
/// SQLite believes the frames whose salts are the header's and whose checksums, each over all before it, are right, up to the
/// last that ends a transaction. Frames behind that with the same salts were being written when the process or the machine stopped, or are
/// damaged. Source: "The SQLite database file format", 4. The Write-Ahead Log.
struct WriteAheadTail: Hashable, Sendable {
    /// Frames behind the last good transaction that are of this log.
    var framesCut = 0
    /// Whether one of them ends a transaction: then a transaction that was committed, and answered, may be lost.
    var cutsCommits = false

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    /// Looks at the log of a database; nothing is cut where there is none. O(its size).
    init(of database: String) throws(JournalError) {
        let path = database + "-wal"
        // Sound: the path is only read during the call.
        guard unsafe access(path, F_OK) == 0 else { return }
        let file = try PosixFile(path: path, flags: O_RDONLY)
        let header = try file.read(Self.headerBytes, at: 0)
        guard header.count == Self.headerBytes, Self.word(header, 0) & ~1 == 0x377F_0682 else { return }
        let isBigEndian = Self.word(header, 0) & 1 == 1
        var sum = Checksum(isBigEndian: isBigEndian)
        sum.add(header[0..<24])
        guard sum.first == Self.word(header, 24), sum.second == Self.word(header, 28) else { return }
        let frameBytes = Self.frameHeaderBytes + Int(Self.word(header, 8))
        var offset = Self.headerBytes
        var isGood = true
        var foreign = 0
        while true {
            let frame = try file.read(frameBytes, at: offset)
            offset += frameBytes
            guard frame.count >= Self.frameHeaderBytes else { return }
            guard Self.word(frame, 8) == Self.word(header, 16), Self.word(frame, 12) == Self.word(header, 20) else {
                // Frames of an earlier generation have other salts, and no frame of this one follows them.
                isGood = false
                foreign += 1
                if frame.count < frameBytes { return }
                continue
            }
            self.framesCut += foreign
            foreign = 0
            let isCommit = Self.word(frame, 4) != 0
            if isGood, frame.count == frameBytes {
                sum.add(frame[0..<8])
                sum.add(frame[Self.frameHeaderBytes...])
                isGood = sum.first == Self.word(frame, 16) && sum.second == Self.word(frame, 20)
            } else {
                isGood = false
            }
            if isGood, isCommit {
                self.framesCut = 0
            } else {
                self.framesCut += 1
                // Without its commit frame a transaction was never answered.
                if !isGood, isCommit { self.cutsCommits = true }
            }
            if frame.count < frameBytes { return }
        }
    }

    /// The warning about the cut, nil if nothing is cut.
    func sentence(_ file: String) -> String? {
        guard self.framesCut > 0 else { return nil }
        let what = "\(file): \(self.framesCut) pages after the last good transaction are removed"
        return self.cutsCommits
            ? "\(what); they may contain a committed transaction: check the disk"
            : "\(what); they belong to a transaction that was never answered"
    }

    private static func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16 | UInt32(bytes[index + 2]) << 8
            | UInt32(bytes[index + 3])
    }

    /// SQLite's: two sums that run over pairs of words.
    private struct Checksum {
        let isBigEndian: Bool
        var first: UInt32 = 0
        var second: UInt32 = 0

        mutating func add(_ bytes: ArraySlice<UInt8>) {
            var index = bytes.startIndex
            while index + 8 <= bytes.endIndex {
                self.first &+= self.word(bytes, index) &+ self.second
                self.second &+= self.word(bytes, index + 4) &+ self.first
                index += 8
            }
        }

        private func word(_ bytes: ArraySlice<UInt8>, _ index: Int) -> UInt32 {
            let word =
                UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
                | UInt32(bytes[index + 3]) << 24
            return self.isBigEndian ? word.byteSwapped : word
        }
    }
}
