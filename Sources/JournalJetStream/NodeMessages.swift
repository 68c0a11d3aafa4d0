#if JetStream
import Clustering
import JournalStreams
import Journaling
import WidgetModel

/// A question from node to node as its message has it.
enum QuestionMessage {
    static func bytes(_ question: NodeQuestion, _ journalID: String, in subject: String) -> [UInt8] {
        MessageFormat.message(.question, journalID, in: subject) { writer in
            writer.write(varint: UInt64(question.partition.rawValue))
            writer.write(question.time)
            writer.write(question.bytes)
        }
    }

    static func question(_ bytes: [UInt8], _ journalID: String, in subject: String) throws(MessageError) -> NodeQuestion
    {
        var reader = try MessageFormat.reader(of: bytes, .question, journalID, in: subject)
        do {
            let partition = PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint()))
            let time = try reader.readInterval()
            return NodeQuestion(about: partition, try reader.readBytes(), within: time)
        } catch {
            throw MessageError(sentence: "\(error)")
        }
    }
}

/// An answer from node to node as its messages have it: as many as it takes.
struct AnswerMessage {
    /// How many bytes of an answer one message has at most: brokers take a megabyte of all.
    static let partBytesMax = 524_288

    private enum Kind: UInt8 {
        case part = 1
        case away = 2
        case busy = 3
        case tooLong = 4
    }

    /// A part of an answer, or a whole one without parts, such as that the partition is away.
    let content: AnswerParts.Content

    /// The messages of an answer, in their order. None says nothing.
    static func messages(_ answer: NodeAnswer, _ journalID: String, in subject: String) -> [[UInt8]] {
        func message(_ kind: Kind, _ body: (inout ByteWriter) -> Void = { _ in }) -> [UInt8] {
            MessageFormat.message(.answer, journalID, in: subject) { writer in
                writer.write(byte: kind.rawValue)
                body(&writer)
            }
        }
        switch answer {
        case .answer(let bytes):
            let count = max(1, (bytes.count + Self.partBytesMax - 1) / Self.partBytesMax)
            return (0..<count).map { index in
                message(.part) { writer in
                    writer.write(count: index)
                    writer.write(count: count)
                    let part = bytes.dropFirst(index * Self.partBytesMax).prefix(Self.partBytesMax)
                    writer.write(Array(part))
                }
            }
        case .away: return [message(.away)]
        case .busy: return [message(.busy)]
        case .tooLong: return [message(.tooLong)]
        case .silence: return []
        }
    }

    init(_ bytes: [UInt8], _ journalID: String, in subject: String) throws(MessageError) {
        var reader = try MessageFormat.reader(of: bytes, .answer, journalID, in: subject)
        do {
            guard let kind = Kind(rawValue: try reader.readByte()) else {
                throw MessageError(sentence: "it is from a newer program")
            }
            switch kind {
            case .part:
                let index = Int(truncatingIfNeeded: try reader.readVarint())
                let count = Int(truncatingIfNeeded: try reader.readVarint())
                self.content = .part(index, of: count, try reader.readBytes())
            case .away: self.content = .whole(.away)
            case .busy: self.content = .whole(.busy)
            case .tooLong: self.content = .whole(.tooLong)
            }
        } catch {
            throw error as? MessageError ?? MessageError(sentence: "\(error)")
        }
    }
}

/// The parts of an answer that have come.
struct AnswerParts {
    enum Content {
        case part(Int, of: Int, [UInt8])
        case whole(NodeAnswer)
    }

    private var bytes: [UInt8] = []
    private var next = 0

    init() {}

    /// Takes the next message.
    ///
    /// - Returns: The answer, once it is whole; ``NodeAnswer/silence`` if a part is missing, or it is too long.
    mutating func takeContent(_ content: Content, bytesMax: Int) -> NodeAnswer? {
        switch content {
        case .whole(let answer): return answer
        case .part(let index, let count, let bytes):
            guard index == self.next, index < count, self.bytes.count + bytes.count <= bytesMax else { return .silence }
            self.bytes += bytes
            self.next += 1
            return self.next == count ? .answer(self.bytes) : nil
        }
    }
}
#endif
