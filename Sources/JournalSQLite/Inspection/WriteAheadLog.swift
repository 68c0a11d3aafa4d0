import Glibc
import Journaling

/// SQLite's write-ahead log, as far as to tell whether it was written to its end.
///
/// SQLite reads it up to the last commit whose frames are whole and says nothing of the frames behind it. Format:
/// "WAL-mode File Format", sqlite.org/walformat.html.
struct WriteAheadLog {
    /// The fault of the end; nil if it has none.
    let fault: String?

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24
    /// Most of a log that is looked at: SQLite's checkpoints keep it far below.
    private static let bytesMax = 1 << 31

    init(path: String) throws(JournalError) {
        let size = min(LogDirectory.size(of: path), Self.bytesMax)
        let bytes = try PosixFile(path: path, flags: O_RDONLY).readAll(bytesMax: size)
        self.fault = Self.fault(in: bytes)
    }

    private static func fault(in bytes: [UInt8]) -> String? {
        guard bytes.count >= Self.headerBytes else { return "its header is cut short" }
        let magic = Self.word(bytes, 0)
        guard magic & 0xFFFF_FFFE == 0x377F_0682 else { return "it has no header" }
        let isBigEndian = magic & 1 == 1
        let pageBytes = Int(Self.word(bytes, 8))
        let salts = (Self.word(bytes, 16), Self.word(bytes, 20))
        var sums: (UInt32, UInt32) = (0, 0)
        Self.add(bytes, 0..<24, isBigEndian, &sums)
        guard pageBytes >= 512, sums == (Self.word(bytes, 24), Self.word(bytes, 28)) else {
            return "the checksum of its header is wrong"
        }
        var offset = Self.headerBytes
        var frame = 0
        var committed = 0
        while offset + 16 <= bytes.count {
            // Frames of an earlier turn of the log have other salts: they are no part of it any more.
            guard (Self.word(bytes, offset + 8), Self.word(bytes, offset + 12)) == salts else { break }
            frame += 1
            let end = offset + Self.frameHeaderBytes + pageBytes
            guard end <= bytes.count else { return Self.sentence(frame, "is cut short", committed) }
            Self.add(bytes, offset..<offset + 8, isBigEndian, &sums)
            Self.add(bytes, offset + Self.frameHeaderBytes..<end, isBigEndian, &sums)
            guard sums == (Self.word(bytes, offset + 16), Self.word(bytes, offset + 20)) else {
                return Self.sentence(frame, "is damaged", committed)
            }
            if Self.word(bytes, offset + 4) != 0 { committed = frame }
            offset = end
        }
        if frame == committed { return nil }
        return Self.sentence(committed + 1, "begins a commit that was not finished", committed)
    }

    private static func sentence(_ frame: Int, _ what: String, _ committed: Int) -> String {
        "frame \(frame) \(what), and nothing after frame \(committed) is read; a process that was killed also leaves such an end, without acknowledged data"
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
    }

    /// The checksum algorithm of the format, over a multiple of eight bytes.
    private static func add(
        _ bytes: [UInt8],
        _ range: Range<Int>,
        _ isBigEndian: Bool,
        _ sums: inout (UInt32, UInt32)
    ) {
        let span = bytes.span
        func word(_ offset: Int) -> UInt32 {
            let low =
                UInt32(span[offset]) | UInt32(span[offset + 1]) << 8 | UInt32(span[offset + 2]) << 16
                | UInt32(span[offset + 3]) << 24
            return isBigEndian ? low.byteSwapped : low
        }
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            sums.0 = sums.0 &+ word(offset) &+ sums.1
            sums.1 = sums.1 &+ word(offset + 4) &+ sums.0
        }
    }
}
