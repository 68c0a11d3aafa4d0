package import WidgetModel

/// A question to a partition's engine: a value that can be logged, tested, and sent to the partition's machine.
///
/// A question changes nothing, and is answered at once and in bounded time: a question about the rows of a table looks
/// at ``Engine/rowsPerAnswer`` of them, and its answer says where to continue. A longer question is a search:
/// ``MatchQuestion``.
package protocol EngineQuestion: FieldCoded, Hashable, Sendable {
    associatedtype Answer: ByteCoded & Sendable

    /// When it may be answered; by default at any time.
    var moment: QuestionMoment { get }

    /// The questions that together ask the same, for a node that takes none longer than that; by default this one alone.
    func pieces(bytesMax: Int) -> [Self]

    /// The answer, put together from those to all pieces, in their order.
    static func join(_ answers: [Answer]) -> Answer

    /// The answer. Nothing else makes it: a caller asks the owner, which hands over the engine.
    func answer(from engine: borrowing Engine) -> Answer
}

extension EngineQuestion {
    package var moment: QuestionMoment { .anyTime }
    package func pieces(bytesMax: Int) -> [Self] { [self] }
    package static func join(_ answers: [Answer]) -> Answer { answers[0] }
}

/// A question about each of some items, which may be as many as a request has. Its answer has a list about the known ones, in their order.
package protocol ItemsQuestion: EngineQuestion where Answer: RangeReplaceableCollection {
    associatedtype Item: ByteCoded
    var items: [Item] { get }
    init(_ items: [Item])
}

extension ItemsQuestion {
    /// Each has as many items as fit, and at least one.
    package func pieces(bytesMax: Int) -> [Self] {
        // The question's number, and the count of its items.
        let runs = self.items.runs(upTo: bytesMax - 10) { $0.encoded.count }
        return runs.count > 1 ? runs.map { Self(Array($0)) } : [self]
    }

    package static func join(_ answers: [Answer]) -> Answer {
        answers.count == 1 ? answers[0] : answers.reduce(into: Answer()) { $0 += $1 }
    }
}

/// A question about one host; the host's partition answers it.
package protocol HostBoundQuestion: EngineQuestion {
    var host: HostKey { get }
}

/// When a question to an engine may be answered.
package enum QuestionMoment: Hashable, Sendable {
    /// At once, also while an entry is applied in part: the answer has the decisions so far.
    case anyTime
    /// When no entry is applied in part: for questions about the applied position, and about the next due timer.
    case betweenEntries
}

extension Engine {
    /// How many rows of a table one answer looks at, so that no question stops a partition for long: a fraction of a millisecond.
    package static let rowsPerAnswer = 2048
}

/// A question that came as bytes.
package enum ReceivedQuestion: Sendable {
    case search(MatchQuestion)
    case question(any EngineQuestion)

    /// All questions but the search. A question's place is its first byte, so a new one comes last.
    static let all: [any EngineQuestion.Type] = [
        HostQuestion.self, HostStateQuestion.self, StackQuestion.self,
        RegistrationsQuestion.self, InstanceQuestion.self, PageQuestion<InstanceFilter>.self,
        PageQuestion<HostList>.self,
        PageQuestion<RegistrationList>.self, PageQuestion<WidgetList>.self, PageQuestion<PushFilter>.self,
        PageQuestion<DecisionList>.self, PushesQuestion.self, ReloadQuestion<HostKey>.self,
        ReloadQuestion<ReloadEffect>.self, ReloadQuestion<FetchSubject>.self, ReloadQuestion<OutgoingPush>.self,
        ReloadQuestion<ShownDigest>.self, ReloadsQuestion.self, TotalsQuestion.self, ProgressQuestion.self,
        InForceQuestion.self, ExistenceQuestion.self, SendersQuestion.self, BehindQuestion.self,
        ChannelsQuestion.self, SurveyQuestion.self, OrphansQuestion.self, HostSummaryQuestion.self,
        FiledDecisionsQuestion.self, KeptDecisionsQuestion.self, CompletedPushesQuestion.self, TokensQuestion.self,
        UsagesQuestion.self,
        ReloadQuestion<ShownTimeline>.self, PageQuestion<ShownTimelines>.self, TablesQuestion.self,
        HostTokensQuestion.self,
    ]
    private static let searchTag = UInt8.max

    /// Reads the bytes of ``EngineQuestion/bytes`` or ``MatchQuestion/bytes``.
    ///
    /// - Throws: ``ByteError`` if they are not exactly one question.
    package init(_ bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        let tag = try reader.readByte()
        if tag == Self.searchTag {
            self = .search(try MatchQuestion(from: &reader))
        } else {
            guard Self.all.indices.contains(Int(tag)) else { throw .invalid(offset: 0) }
            self = .question(try Self.all[Int(tag)].init(from: &reader))
        }
        guard reader.isAtEnd else { throw .invalid(offset: reader.offset) }
    }

    /// Whether these bytes are a search's.
    package static func isSearch(_ bytes: [UInt8]) -> Bool { bytes.first == Self.searchTag }

    fileprivate static func bytes(of question: some ByteCoded, tag: UInt8 = Self.searchTag) -> [UInt8] {
        [tag] + question.encoded
    }
}

extension EngineQuestion {
    /// Which question it is, and its fields.
    package var bytes: [UInt8] {
        guard let place = ReceivedQuestion.all.firstIndex(where: { $0 == Self.self }) else {
            preconditionFailure("\(Self.self) is not in the list of questions")
        }
        return ReceivedQuestion.bytes(of: self, tag: UInt8(place))
    }
}

extension MatchQuestion {
    /// Which question it is, and its fields.
    package var bytes: [UInt8] { ReceivedQuestion.bytes(of: self) }
}
