import JournalStreams
import Journaling
import Synchronization
import Testing

@Suite struct MessageWriterTests {
    /// A step as text, for comparing.
    private static func text(_ step: MessageWriter.Step) -> String {
        switch step {
        case .look: "look"
        case .publish(.lastOfStream(let last)): "publish behind the end \(last)"
        case .publish(.lastOfSubject(let last)): "publish behind \(last)"
        case .publish(.nothing): "publish"
        case .pause: "pause"
        case .settled(.success(let sequence)): "stored \(sequence)"
        case .settled(.failure(let error)): error.code.rawValue
        }
    }

    private static func ends(_ first: UInt64, _ last: UInt64) -> StreamEnds { StreamEnds(first: first, last: last) }

    /// A writer whose ids count up from 1.
    private static func writer() -> MessageWriter {
        let ids = IDs()
        return MessageWriter(to: "in") { ids.next() }
    }

    /// One that has stored a message at a sequence.
    private static func writer(at sequence: UInt64) -> MessageWriter {
        var writer = Self.writer()
        _ = writer.begin()
        _ = writer.found(newest: nil, ends: Self.ends(1, sequence - 1))
        _ = writer.published(.stored(sequence))
        return writer
    }

    @Test func `the first message is stored behind the stream's end, the next behind the first`() {
        var writer = Self.writer()
        let (first, look) = writer.begin()
        #expect(Self.text(look) == "look")
        #expect(Self.text(writer.found(newest: nil, ends: Self.ends(1, 7))) == "publish behind the end 7")
        #expect(Self.text(writer.published(.stored(8))) == "stored 8")
        let (second, publish) = writer.begin()
        #expect(Self.text(publish) == "publish behind 8")
        #expect([first.number, second.number] == [1, 2])
        #expect(first.writer == second.writer)
    }

    @Test func `another writer's message at the end costs the first one another question`() {
        var writer = Self.writer()
        _ = writer.begin()
        _ = writer.found(newest: nil, ends: Self.ends(1, 7))
        #expect(Self.text(writer.published(.otherEnd)) == "look")
        #expect(Self.text(writer.found(newest: nil, ends: Self.ends(1, 9))) == "publish behind the end 9")
    }

    @Test func `an answer that never came is found out`() {
        var writer = Self.writer(at: 8)
        _ = writer.begin()
        #expect(Self.text(writer.published(.unknown("no answer"))) == "pause")
        #expect(Self.text(writer.goOn()) == "publish behind 8")
        #expect(Self.text(writer.published(.otherEnd)) == "look")
        #expect(Self.text(writer.found(newest: 11, ends: Self.ends(1, 12))) == "stored 11")
    }

    @Test func `a message that came twice may be stored although the answer says that the stream ends elsewhere`() {
        var writer = Self.writer(at: 8)
        let (first, _) = writer.begin()
        #expect(Self.text(writer.published(.otherEnd)) == "look")
        #expect(Self.text(writer.giveUp()) == "unknownOutcome")
        let (second, _) = writer.begin()
        #expect(first.writer != second.writer)
    }

    @Test func `a refusal because of what is still being stored leaves the attempt open`() {
        var writer = Self.writer()
        _ = writer.begin()
        _ = writer.found(newest: nil, ends: Self.ends(1, 7))
        #expect(Self.text(writer.published(.otherEnd)) == "look")
        #expect(Self.text(writer.found(newest: nil, ends: Self.ends(1, 7))) == "pause")
        #expect(Self.text(writer.goOn()) == "publish behind the end 7")
        #expect(Self.text(writer.giveUp()) == "unknownOutcome")
    }

    @Test func `what may have been stored is unknown, and the next message goes by another subject`() {
        var writer = Self.writer(at: 8)
        let (first, _) = writer.begin()
        _ = writer.published(.unknown("no answer"))
        #expect(Self.text(writer.giveUp()) == "unknownOutcome")
        let (second, step) = writer.begin()
        #expect(first.writer != second.writer)
        #expect(second.number == 1)
        #expect(Self.text(step) == "look")
    }

    @Test func `what no broker took has failed, and the writer goes on`() {
        var writer = Self.writer(at: 8)
        let (first, _) = writer.begin()
        #expect(Self.text(writer.published(.notTaken("no responders"))) == "pause")
        #expect(Self.text(writer.giveUp()) == "failing")
        let (second, step) = writer.begin()
        #expect(first == second)
        #expect(Self.text(step) == "publish behind 8")
    }

    @Test func `behind a trim of its last message a writer begins at the stream's end`() {
        var writer = Self.writer(at: 8)
        _ = writer.begin()
        _ = writer.published(.otherEnd)
        #expect(Self.text(writer.found(newest: nil, ends: Self.ends(20, 30))) == "publish behind the end 30")
    }

    // Trimmed up to 8: a message that an attempt stored would be there. Up to 9: that is not known.
    @Test(arguments: [(9, "publish behind the end 30"), (10, "unknownOutcome")] as [(UInt64, String)])
    func `an attempt that may have been stored and trimmed is not sent again`(first: UInt64, step: String) {
        var writer = Self.writer(at: 8)
        _ = writer.begin()
        _ = writer.published(.unknown("no answer"))
        _ = writer.published(.otherEnd)
        #expect(Self.text(writer.found(newest: nil, ends: Self.ends(first, 30))) == step)
    }

    @Test func `a message that brokers have lost is found out`() {
        var writer = Self.writer(at: 8)
        _ = writer.begin()
        _ = writer.published(.otherEnd)
        #expect(Self.text(writer.found(newest: nil, ends: Self.ends(1, 30))) == "corrupt")
        // With its stream.
        var other = Self.writer(at: 8)
        _ = other.begin()
        _ = other.published(.otherEnd)
        #expect(Self.text(other.failed(JournalError(.unavailable, "no answer"))) == "pause")
        #expect(Self.text(other.failed(JournalError(.corrupt, "the stream is gone; restore it"))) == "corrupt")
    }

    @Test func `a refusal ends a message unless an earlier attempt may be stored`() {
        let full = JournalError(.full, "no room")
        var writer = Self.writer(at: 8)
        _ = writer.begin()
        #expect(Self.text(writer.published(.refused(full))) == "full")
        _ = writer.begin()
        _ = writer.published(.unknown("no answer"))
        #expect(Self.text(writer.published(.refused(full))) == "pause")
    }
}

/// Ids that count up.
private final class IDs: Sendable {
    private let last = Mutex<UInt64>(0)

    func next() -> UInt64 {
        self.last.withLock { last in
            last += 1
            return last
        }
    }
}
