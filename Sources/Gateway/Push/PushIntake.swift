import APNSWire
import Engine
import HTTP2
import HTTPTransport
import IntentMatching
import Journaling
import WidgetModel

/// What one event loop takes in between two submissions: judges pushes, packs their records for the journal, and
/// remembers whom to answer once those are durable.
///
/// One value, so that a push is taken with a single check of exclusive access.
struct PushIntake: ~Copyable {
    /// What is left to do about a push that is in order.
    enum Outcome {
        /// Nothing: it is answered when its record is durable.
        case taken
        /// The same, and so much waits by now that it should be submitted at once.
        case full
        /// The partitions are to be asked whom it would reach, before it is logged or instead.
        case question(Question)
        /// It is of a type that is not handled here, and goes to the app's upstream.
        case relay(Relayed)
    }

    /// A push for an app's upstream.
    struct Relayed {
        let sender: Sender
        let app: ServedApps.App
        /// The characters of its `apns-id`.
        let id: [UInt8]
    }

    /// A targeted push that is a dry run or may match only so many instances.
    struct Question {
        let record: PushRecord
        let app: ServedApps.App
        let isDryRun: Bool
        let matchedMax: Int?
        let trace: TracedSpan?
        /// The characters of its `apns-id`.
        let id: [UInt8]
    }

    /// The pushes of a submission, and whom to answer.
    struct Turn {
        let submission: Submission
        let flight: PushFlight
    }

    private let senderLimits: SenderLimits
    var judge: PushJudge
    var ids = PushIDGenerator()
    private var builder: SubmissionBuilder
    private var flight = PushFlight()

    init(_ services: PushServices) {
        self.senderLimits = services.senderLimits
        self.judge = PushJudge(
            apps: services.apps,
            senders: services.senders,
            directory: services.directory,
            seed: services.seed
        )
        self.builder = SubmissionBuilder(partitions: services.partitions)
    }

    /// Whether nothing waits to be submitted.
    var isEmpty: Bool { self.builder.isEmpty }

    /// What was taken since the last call.
    mutating func takeTurn() -> Turn {
        let turn = Turn(submission: self.builder.take(), flight: self.flight)
        self.flight = PushFlight()
        return turn
    }

    /// Reads the device tokens of a batch whose requests are about to be taken.
    mutating func approach(_ batch: borrowing RequestBatch) {
        self.judge.approach(batch)
    }

    /// Takes a push, if it is in order and its sender is within its limits.
    ///
    /// - Parameter number: Its place in the batch that was approached last.
    /// - Throws: What is answered instead.
    mutating func take(
        _ request: RequestBatch.Request,
        _ number: Int,
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        from connection: HTTPConnection,
        _ state: PushConnection,
        at now: Instant,
        _ trace: TracedSpan?
    ) throws(RejectionAnswer) -> Outcome {
        let judged = try self.judge.judge(
            head,
            in: bytes,
            body: request.body.indices,
            isTooLarge: request.flags.contains(.bodyTooLarge),
            number: number,
            on: state,
            at: now
        )
        let push = judged.push
        try self.senderLimits.admit(
            judged.sender,
            judged.app.meter,
            self.judge.bounds.tokenRates,
            push.target,
            in: bytes,
            beside: self.flight.count,
            isLogged: judged.isLogged,
            at: now
        )
        state.isSlowed = false
        let id = push.id ?? self.ids.next()
        let answerID = push.idText.map { AnswerID.given($0.bounds) } ?? .generated(id)
        if case .upstream = judged.destination {
            return .relay(Relayed(sender: judged.sender, app: judged.app, id: answerID.text(bytes)))
        }
        if case .host = judged.destination, judged.details == nil {
            self.append(push, id, judged, bytes, request.body.indices)
            if let trace {
                let record = Record.trace(PushTrace(push: id, context: trace.context))
                _ = self.builder.append(record, to: self.judge.place.partition)
            }
        } else {
            let record = self.record(judged, id, bytes, request.body.indices)
            if case .targeted(_, let isDryRun) = push.target {
                let matchedMax = Self.smaller(judged.details?.payload.maxMatched, judged.app.matchedMax)
                if isDryRun || matchedMax != nil {
                    return .question(
                        Question(
                            record: record,
                            app: judged.app,
                            isDryRun: isDryRun,
                            matchedMax: matchedMax,
                            trace: trace,
                            id: answerID.text(bytes)
                        )
                    )
                }
            }
            self.append(record, trace)
        }
        self.flight.note(judged.details?.payload.kind, of: judged.app.number)
        self.flight.append(
            connection: connection,
            streamID: request.streamID,
            id: answerID,
            in: bytes,
            isInDevelopment: judged.app.isInDevelopment,
            trace: trace
        )
        return self.builder.isFull ? .full : .taken
    }

    /// Takes a push whose question was answered.
    mutating func take(_ question: Question, from connection: HTTPConnection, _ streamID: Int32) -> Outcome {
        self.append(question.record, question.trace)
        self.flight.note(question.record.kind, of: question.app.number)
        self.flight.append(
            connection: connection,
            streamID: streamID,
            id: .given(question.id.indices),
            in: question.id.span,
            isInDevelopment: question.app.isInDevelopment,
            trace: question.trace
        )
        return self.builder.isFull ? .full : .taken
    }

    /// The smaller of two limits, each of which may not be there.
    static func smaller(_ left: Int?, _ right: Int?) -> Int? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    /// The trace goes behind the push, wherever that goes.
    private mutating func append(_ record: PushRecord, _ trace: TracedSpan?) {
        let records =
            [Record.push(record)] + (trace.map { [.trace(PushTrace(push: record.id, context: $0.context))] } ?? [])
        for each in records {
            switch record.target {
            case .host(let host, _): _ = self.builder.append(each, for: host)
            case .app: _ = self.builder.appendToAll(each)
            }
        }
    }

    /// A push that is all in its headers: its record is written from where they are.
    private mutating func append(
        _ push: ValidatedPush,
        _ id: PushID,
        _ judged: borrowing JudgedPush,
        _ bytes: Span<UInt8>,
        _ body: Range<Int>
    ) {
        let plain = PlainPush(
            id: id,
            contentHash: push.contentHash(in: bytes, body: bytes.extracting(body)),
            priority: push.priority,
            expiration: push.expiration
        )
        self.builder.append(
            plain,
            from: judged.sender.team,
            of: judged.app.bundle,
            to: self.judge.place,
            collapseID: push.collapseID.map(\.bounds) ?? 0..<0,
            in: bytes
        )
    }

    private func record(
        _ judged: borrowing JudgedPush,
        _ id: PushID,
        _ bytes: Span<UInt8>,
        _ body: Range<Int>
    ) -> PushRecord {
        let push = judged.push
        return PushRecord(
            id: id,
            team: judged.sender.team,
            contentHash: push.contentHash(in: bytes, body: bytes.extracting(body)),
            priority: push.priority,
            expiration: push.expiration,
            collapseID: push.collapseID.flatMap { CollapseID(bytes: Array(copying: bytes.extracting($0.bounds))) },
            notBefore: judged.details?.payload.notBefore,
            digest: judged.details?.payload.digest.map { Array($0.utf8) },
            target: self.target(judged),
            kind: judged.details?.payload.kind,
            pattern: judged.details?.pattern,
            attributes: judged.details?.attributes ?? .empty
        )
    }

    /// The destination as the log has it.
    private func target(_ judged: borrowing JudgedPush) -> PushDestination {
        switch judged.destination {
        case .host:
            .host(HostKey(app: judged.app.bundle, id: self.judge.place.hostID), self.judge.place.instanceID)
        case .unknownHost(let host): .host(host, nil)
        case .app, .upstream: .app(judged.app.bundle)
        }
    }
}
