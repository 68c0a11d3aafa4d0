import Journaling
import Testing
import WidgetModel

/// The bytes of snapshot files, and which of them are kept.
@Suite struct SnapshotFileTests {
    private static let head = SnapshotFile.Head(
        journalID: "00000000-0000-4000-8000-000000000000",
        partitions: 3,
        id: SnapshotID(
            partition: PartitionID(2),
            position: LogPosition(1234),
            logTime: Instant(milliseconds: 1_793_638_800_123)
        )
    )
    private static let frames: [[UInt8]] = [[1], Array(repeating: 7, count: 300), [2, 3, 4]]

    private static func file(_ frames: [[UInt8]] = Self.frames) -> [UInt8] {
        var bytes = SnapshotFile.bytes(of: self.head)
        for (number, frame) in frames.enumerated() { bytes += SnapshotFile.bytes(of: frame, number: UInt64(number)) }
        return bytes + SnapshotFile.end(frames: UInt64(frames.count))
    }

    private static func read(
        _ bytes: [UInt8],
        wanting isWanted: (UInt8) -> Bool = { _ in true }
    ) throws(JournalError) -> (SnapshotFile.Head, [[UInt8]]) {
        var offset = 0
        var reader = try SnapshotFileReader(name: "a") { count in
            let run = Array(bytes[min(bytes.count, offset)..<min(bytes.count, offset + count)])
            offset += run.count
            return run
        }
        var frames: [[UInt8]] = []
        while let frame = try reader.next(wanting: isWanted, step: { offset += $0 }) { frames.append(frame) }
        return (reader.head, frames)
    }

    @Test func `what was written is read back`() throws {
        let (head, frames) = try Self.read(Self.file())
        #expect(head == Self.head)
        #expect(frames == Self.frames)
        #expect(try Self.read(Self.file([])).1 == [])
    }

    @Test func `frames that are not wanted are stepped over, and what is wrong in them is another's to find`() throws {
        var bytes = Self.file()
        #expect(try Self.read(bytes, wanting: { $0 != 7 }).1 == [Self.frames[0], Self.frames[2]])
        #expect(try Self.read(bytes, wanting: { $0 == 7 }).1 == [Self.frames[1]])
        #expect(try Self.read(bytes, wanting: { _ in false }).1 == [])
        let middle = SnapshotFile.bytes(of: Self.head).count + 9 + 8 + 100
        bytes[middle] ^= 1
        #expect(try Self.read(bytes, wanting: { $0 != 7 }).1 == [Self.frames[0], Self.frames[2]])
        #expect(throws: JournalError.self) { try Self.read(bytes, wanting: { $0 == 7 }) }
        // Every reader finds a frame that is missing or cut off.
        for count in 0..<bytes.count {
            #expect(throws: JournalError.self, "\(count)") {
                try Self.read(Array(bytes.prefix(count)), wanting: { $0 != 7 })
            }
        }
        var missing = SnapshotFile.bytes(of: Self.head) + SnapshotFile.bytes(of: Self.frames[0], number: 0)
        missing += SnapshotFile.bytes(of: Self.frames[2], number: 2) + SnapshotFile.end(frames: 3)
        #expect(throws: JournalError.self) { try Self.read(missing, wanting: { $0 != 7 }) }
    }

    @Test func `a file of the first version is these bytes for ever`() throws {
        // Written by the first version: its head, two frames and its end.
        let bytes: [UInt8] = Self.file([[1, 2, 3], [0xFF]])
        #expect(Self.hex(bytes) == Self.firstVersion)
        let (head, frames) = try Self.read(Self.bytes(Self.firstVersion))
        #expect(head == Self.head)
        #expect(frames == [[1, 2, 3], [0xFF]])
    }

    private static let firstVersion =
        "4672657368657453010000002f0000002430303030303030302d303030302d343030302d383030302d3030303030303030303030300302d209f6eba0"
        + "d3b36860ec4326030000009ce7853b01020301000000baeda6e2ff00000000c448501e"

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }

    @Test func `every bit that flips is found`() {
        let bytes = Self.file()
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                // The version alone is not corruption: it might be another one.
                let isVersion = (8..<12).contains(index)
                let error = #expect(throws: JournalError.self, "byte \(index), bit \(bit)") { try Self.read(damaged) }
                #expect(error?.code == (isVersion ? .formatMismatch : .corrupt), "byte \(index), bit \(bit)")
            }
        }
    }

    @Test func `a file that ends early, or has frames out of their places, is found`() {
        let bytes = Self.file()
        for count in 0..<bytes.count {
            #expect(throws: JournalError.self, "\(count) bytes") { try Self.read(Array(bytes.prefix(count))) }
        }
        let (first, second) = (Self.frames[0], Self.frames[1])
        let head = SnapshotFile.bytes(of: Self.head)
        let swapped =
            head + SnapshotFile.bytes(of: second, number: 1) + SnapshotFile.bytes(of: first, number: 0)
            + SnapshotFile.end(frames: 2)
        #expect(throws: JournalError.self) { try Self.read(swapped) }
        let missing = head + SnapshotFile.bytes(of: first, number: 0) + SnapshotFile.end(frames: 2)
        #expect(throws: JournalError.self) { try Self.read(missing) }
    }

    // MARK: Retention

    private static func snapshots(minutes: [Int64]) -> [SnapshotID] {
        minutes.map { minute in
            SnapshotID(
                partition: PartitionID(0),
                position: LogPosition(UInt64(minute)),
                logTime: Instant(seconds: minute * 60)
            )
        }
    }

    @Test func `the newest two stay, and as many as the history needs`() {
        let all = Self.snapshots(minutes: [600, 590, 580, 570, 560])
        let now = Instant(seconds: 601 * 60)
        #expect(SnapshotRetention.kept(of: all, now: now, history: .zero) == Array(all.prefix(2)))
        // Nothing is older than the history yet: the oldest must not go.
        #expect(SnapshotRetention.kept(of: all, now: now, history: .hours(48)) == [all[0], all[1], all[4]])
        // An hour of history: the newest that is older, one in the middle, the newest two.
        let hours = Self.snapshots(minutes: [600, 590, 580, 570, 560, 550, 540, 530, 520])
        let kept = SnapshotRetention.kept(of: hours, now: now, history: .hours(1))
        #expect(kept.map(\.position.rawValue) == [600, 590, 570, 540])
        #expect(SnapshotRetention.kept(of: [], now: now, history: .hours(1)) == [])
        #expect(SnapshotRetention.kept(of: [all[0]], now: now, history: .zero) == [all[0]])
    }

    @Test func `as time goes on there is always one that is older than the history`() {
        var kept: [SnapshotID] = []
        for minute in stride(from: Int64(10), through: 3000, by: 10) {
            kept.insert(Self.snapshots(minutes: [minute])[0], at: 0)
            let now = Instant(seconds: minute * 60)
            kept = SnapshotRetention.kept(of: kept, now: now, history: .hours(4))
            #expect(kept.count <= 7, "\(minute)")
            guard minute >= 250 else { continue }
            let base = kept.last
            #expect(base.map { $0.logTime <= now - .hours(4) } == true, "\(minute)")
            #expect(base.map { $0.logTime > now - .hours(9) } == true, "\(minute)")
        }
    }
}
