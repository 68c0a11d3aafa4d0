import JournalStreams
import Journaling
import Testing
import WidgetModel

@Suite struct FanCopierTests {
    private static let partitions = [PartitionID(0), PartitionID(1)]
    private static let now = Instant(seconds: 1000)

    private static let message: FanMessage = {
        var records = PackedRecords()
        records.append([1, 2, 3])
        return FanMessage(
            id: MessageID(writer: 1, number: 1),
            writtenAt: Instant(seconds: 1),
            submission: SubmissionToAll(records)
        )
    }()

    /// A step as text, for comparing.
    private static func text(_ step: FanCopier.Step) -> String {
        switch step {
        case .findProgress(let partition): "find \(partition)"
        case .follow(let first): "follow from \(first)"
        case .read: "read"
        case .copy(_, let fan, let partition, let expectation): "copy \(fan) to \(partition): \(expectation)"
        case .pause: "pause"
        }
    }

    /// One that follows the originals behind what partitions have.
    private static func copier(_ fans: UInt64...) -> FanCopier {
        var copier = FanCopier(partitions: fans.count)
        for (partition, fan) in zip(Self.partitions, fans) {
            copier.found(FanCopier.Progress(fan: fan, expected: .lastOfSubject(fan * 10)), of: partition)
        }
        _ = copier.step(at: Self.now)
        copier.followed()
        return copier
    }

    @Test func `it finds out how far each is, and follows from the one behind the least`() {
        var copier = FanCopier(partitions: 2)
        #expect(Self.text(copier.step(at: Self.now)) == "find 0")
        copier.found(FanCopier.Progress(end: 50, newest: (40, 4), trimmed: 2), of: Self.partitions[0])
        #expect(Self.text(copier.step(at: Self.now)) == "find 1")
        copier.found(FanCopier.Progress(end: 60, newest: nil, trimmed: 3), of: Self.partitions[1])
        #expect(Self.text(copier.step(at: Self.now)) == "follow from 4")
        copier.followed()
        copier.received(Self.message, at: 4)
        // The first has it. The second has no copy any more: behind the end that its stream had.
        #expect(Self.text(copier.step(at: Self.now)) == "copy 4 to 1: lastOfStream(60)")
        copier.copied(.stored(61), to: Self.partitions[1], at: Self.now)
        #expect(Self.text(copier.step(at: Self.now)) == "read")
        copier.received(Self.message, at: 5)
        #expect(Self.text(copier.step(at: Self.now)) == "copy 5 to 0: lastOfSubject(40)")
        copier.copied(.stored(51), to: Self.partitions[0], at: Self.now)
        #expect(Self.text(copier.step(at: Self.now)) == "copy 5 to 1: lastOfSubject(61)")
    }

    @Test func `one that another copied first is found out at once`() {
        var copier = Self.copier(4, 4)
        copier.received(Self.message, at: 5)
        _ = copier.step(at: Self.now)
        copier.copied(.otherEnd, to: Self.partitions[0], at: Self.now)
        #expect(Self.text(copier.step(at: Self.now)) == "find 0")
        copier.found(FanCopier.Progress(fan: 5, expected: .lastOfSubject(70)), of: Self.partitions[0])
        #expect(Self.text(copier.step(at: Self.now)) == "copy 5 to 1: lastOfSubject(40)")
    }

    @Test func `a partition gets exactly the next one`() {
        var copier = Self.copier(4)
        // Those between are gone: others have copied them meanwhile.
        copier.received(Self.message, at: 7)
        #expect(Self.text(copier.step(at: Self.now)) == "pause")
        #expect(Self.text(copier.step(at: Self.now)) == "find 0")
    }

    private static let refusals: [PublishOutcome] = [
        .refused(JournalError(.full, "full")), .notTaken("no leader"), .unknown("time-out"),
    ]

    @Test(arguments: 0..<3) func `one that takes no copy is left behind, and tried again a second later`(refusal: Int) {
        var copier = Self.copier(4, 4)
        copier.received(Self.message, at: 5)
        #expect(Self.text(copier.step(at: Self.now)) == "copy 5 to 0: lastOfSubject(40)")
        copier.copied(Self.refusals[refusal], to: Self.partitions[0], at: Self.now)
        #expect(copier.hasLeftBehind)
        #expect(Self.text(copier.step(at: Self.now)) == "follow from 5")
        copier.followed()
        let due = Self.now + FanCopier.retryAfter
        for original in UInt64(5)...7 {
            copier.received(Self.message, at: original)
            #expect(Self.text(copier.step(at: due - .milliseconds(1))).hasPrefix("copy \(original) to 1"))
            copier.copied(.stored(original * 10), to: Self.partitions[1], at: Self.now)
            #expect(Self.text(copier.step(at: due - .milliseconds(1))) == "read")
        }
        // The other one's place is known.
        #expect(Self.text(copier.step(at: due)) == "find 0")
        copier.found(FanCopier.Progress(fan: 4, expected: .lastOfSubject(40)), of: Self.partitions[0])
        #expect(Self.text(copier.step(at: due)) == "follow from 5")
        copier.followed()
        copier.received(Self.message, at: 5)
        #expect(Self.text(copier.step(at: due)) == "copy 5 to 0: lastOfSubject(40)")
        copier.copied(.stored(42), to: Self.partitions[0], at: due)
        #expect(!copier.hasLeftBehind)
        #expect(Self.text(copier.step(at: due)) == "read")
    }

    @Test func `one that still takes no copy does not have the others read what they have`() {
        var copier = Self.copier(4, 900)
        copier.received(Self.message, at: 5)
        copier.copied(.notTaken("no leader"), to: Self.partitions[0], at: Self.now)
        #expect(Self.text(copier.step(at: Self.now)) == "follow from 901")
    }

    @Test func `if none can be asked it waits a little`() {
        var copier = FanCopier(partitions: 2)
        for partition in Self.partitions {
            #expect(Self.text(copier.step(at: Self.now)) == "find \(partition)")
            copier.missed(partition, at: Self.now)
        }
        #expect(Self.text(copier.step(at: Self.now)) == "pause")
        #expect(Self.text(copier.step(at: Self.now + FanCopier.retryAfter)) == "find 0")
    }

    @Test(arguments: [(4, "read"), (5, "find 0")] as [(UInt64, String)])
    func `silence means nothing unless there is more`(last: UInt64, step: String) {
        var copier = Self.copier(4)
        #expect(Self.text(copier.step(at: Self.now)) == "read")
        copier.nothingCame(last: last)
        #expect(Self.text(copier.step(at: Self.now)) == step)
    }
}
