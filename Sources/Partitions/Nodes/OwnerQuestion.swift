package import WidgetModel

/// A node's question to the owner of another node's partition. First byte: the kind.
enum OwnerQuestion: ByteCoded, Hashable, Sendable {
    /// The bytes of a question to its engine, or of a search.
    case engine([UInt8])
    /// How far it is.
    case progress
    /// For the answers to records that are in the log.
    case answers([RecordPlace])
    /// The bytes of one question to the engines of several partitions; the answers come in their order.
    case engines([PartitionID], [UInt8])
    /// To take a provider's timelines.
    case callBack(CallBack)
    /// For the content that a host's widgets show.
    case contents(ContentsQuestion)

    func encode(into writer: inout ByteWriter) {
        switch self {
        case .engine(let bytes):
            writer.write(byte: 0)
            writer.write(bytes)
        case .progress: writer.write(byte: 1)
        case .answers(let places): writer.write(tag: 2, places)
        case .engines(let partitions, let bytes):
            writer.write(tag: 3, partitions)
            writer.write(bytes)
        case .callBack(let callBack): writer.write(tag: 4, callBack)
        case .contents(let question): writer.write(tag: 5, question)
        }
    }

    init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .engine(try reader.readBytes())
        case 1: self = .progress
        case 2: self = .answers(try Array(from: &reader))
        case 3: self = .engines(try Array(from: &reader), try reader.readBytes())
        case 4: self = .callBack(try CallBack(from: &reader))
        case 5: self = .contents(try ContentsQuestion(from: &reader))
        default: throw .invalid(offset: start)
        }
    }
}

/// The answers of several partitions' owners to one question.
struct OwnersAnswers: ByteCoded {
    /// The answers' bytes, in the order of the question's partitions.
    let bytes: [[UInt8]]

    init(_ bytes: [[UInt8]]) { self.bytes = bytes }

    func encode(into writer: inout ByteWriter) { writer.write(each: self.bytes) { $0.write($1) } }

    init(from reader: inout ByteReader) throws(ByteError) {
        self.bytes = try reader.readEach { (reader) throws(ByteError) in try reader.readBytes() }
    }
}

/// An owner's answer to another node. First byte: the kind.
enum OwnerAnswer: ByteCoded, Hashable, Sendable {
    /// The bytes of the answer.
    case found([UInt8])
    case problem(Problem)

    func encode(into writer: inout ByteWriter) {
        switch self {
        case .found(let bytes):
            writer.write(byte: 0)
            writer.write(bytes)
        case .problem(let problem):
            writer.write(tag: 1, problem.code)
            writer.write(problem.detail)
            problem.retryAfter.encode(into: &writer)
        }
    }

    init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .found(try reader.readBytes())
        case 1:
            let code = try Problem.Code(from: &reader)
            self = .problem(Problem(code, try reader.readString(), retryAfter: try Int?(from: &reader)))
        default: throw .invalid(offset: start)
        }
    }
}

extension Problem.Code: ByteCoded {}

extension OwnerProgress: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.partition,
        \.applied,
        \.announced,
        \.uncommittedEffects,
        \.outputChunks,
        \.appliedBytes,
        \.hasFailed,
        \.lagTime,
        \.unitsDone
    )
}
