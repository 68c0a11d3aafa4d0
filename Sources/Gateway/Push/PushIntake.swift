import APNSWire
import Engine
import HTTP2
import HTTPTransport
import IntentMatching
import Journaling
import Ownership
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
        /// It is more work than one push may be.
        case refused(Problem, id: [UInt8])
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
        /// What asking is charged with, until it is answered.
        let charges: WorkCharges
        let trace: TracedSpan?
        /// The characters of its `apns-id`.
        let id: [UInt8]
    }

    /// What is taken for one partition, or for all, beside its records.
    struct Load {
        /// Whom to answer.
        var flight = PushFlight()
        /// What the pushes are charged with.
        var charges = WorkCharges()
    }

    /// The pushes between two submissions.
    struct Turn {
        /// By partition, where there are any.
        var loads: [(submission: Submission, load: Load)] = []
        var toAll: (submission: SubmissionToAll, load: Load)?
    }

    private let senderLimits: SenderLimits
    var judge: PushJudge
    var ids = PushIDGenerator()
    private var builder: SubmissionBuilder
    /// By partition; behind them what is for all.
    private var loads: [Load]
    /// How many pushes were taken in this turn.
    private var taken = 0
    private let work: WorkAdmission?
    private let partitions: Int
    /// What of this turn's charges is reserved for pushes to hosts that are still to come.
    private var shares: TurnShares
    /// For how many pushes to hosts room is reserved at once.
    private static let pushesReserved = 64

    init(_ services: PushServices) {
        self.senderLimits = services.senderLimits
        self.work = services.work
        self.partitions = services.partitions
        self.shares = TurnShares(partitions: services.partitions)
        self.judge = PushJudge(
            apps: services.apps,
            senders: services.senders,
            directory: services.directory,
            seed: services.seed
        )
        self.builder = SubmissionBuilder(partitions: services.partitions)
        self.loads = Array(repeating: Load(), count: services.partitions + 1)
    }

    /// Whether nothing waits to be submitted.
    var isEmpty: Bool { self.builder.isEmpty }

    /// What was taken since the last call.
    mutating func takeTurn() -> Turn {
        self.shares.end { units, team, partition in
            let rest = WorkCharges.Charge(team: team, partition: partition, units: units, isLarge: false)
            self.loads[Int(partition.rawValue)].charges.remove(rest)
            self.work?.end(rest)
        }
        var turn = Turn()
        for submission in self.builder.take() {
            turn.loads.append((submission, self.takeLoad(Int(submission.partition.rawValue))))
        }
        if let submission = self.builder.takeToAll() {
            turn.toAll = (submission, self.takeLoad(self.partitions))
        }
        self.taken = 0
        return turn
    }

    private mutating func takeLoad(_ index: Int) -> Load {
        let load = self.loads[index]
        self.loads[index] = Load()
        return load
    }

    /// Reads the device tokens of a batch whose requests are about to be taken.
    mutating func prefetch(_ batch: borrowing RequestBatch) {
        self.judge.prefetch(batch)
    }

    /// Takes a push, if it is in order and its sender is within its limits.
    ///
    /// - Parameter number: Its place in the batch that was prefetched last.
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
            beside: self.taken,
            isLogged: judged.isLogged,
            at: now
        )
        state.isSlowed = false
        let id = push.id ?? self.ids.next()
        let answerID = push.idText.map { AnswerID.given($0.bounds) } ?? .generated(id)
        if case .upstream = judged.destination {
            return .relay(Relayed(sender: judged.sender, app: judged.app, id: answerID.text(bytes)))
        }
        let load: Int
        if case .host = judged.destination, judged.details == nil {
            load = Int(self.judge.place.partition.rawValue)
            try self.charge(judged.app, self.judge.place.partition)
            self.append(push, id, judged, bytes, request.body.indices)
            if let trace {
                let record = Record.trace(PushTrace(push: id, context: trace.context))
                _ = self.builder.append(record, to: self.judge.place.partition)
            }
        } else {
            let record = self.record(judged, id, bytes, request.body.indices)
            switch push.target {
            case .targeted(_, let isDryRun):
                load = self.partitions
                let matchedMax = Self.smaller(judged.details?.payload.maxMatched, judged.app.matchedMax)
                do throws(Problem) {
                    if !isDryRun, matchedMax == nil, let charges = try self.bounded(record, judged.app) {
                        self.loads[load].charges.add(charges)
                        self.append(record, trace)
                        break
                    }
                    let charges = try self.questionCharges(record, judged.app, isDryRun: isDryRun)
                    return .question(
                        Question(
                            record: record,
                            app: judged.app,
                            isDryRun: isDryRun,
                            matchedMax: matchedMax,
                            charges: charges,
                            trace: trace,
                            id: answerID.text(bytes)
                        )
                    )
                } catch {
                    return try Self.refused(error, id: answerID.text(bytes))
                }
            default:
                let partition = Self.partition(of: record, among: self.partitions)
                load = self.load(of: record, partition)
                try self.charge(judged.app, partition)
                self.append(record, trace)
            }
        }
        self.taken += 1
        self.loads[load].flight.note(judged.details?.payload.kind, of: judged.app.number)
        self.loads[load].flight.append(
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
    ///
    /// - Parameter matched: How many it matches in each partition, and may match.
    /// - Throws: What is answered instead.
    mutating func take(
        _ question: Question,
        matching matched: MatchedInstances,
        from connection: HTTPConnection,
        _ streamID: Int32
    ) throws(RejectionAnswer) -> Outcome {
        if let work = self.work, let team = question.app.work {
            let record = question.record
            let units = work.estimates(matched.counts, app: question.app.bundle, record.kind, record.pattern)
            do throws(Problem) {
                let charges = try work.admit(units, of: team, pushMax: question.app.pushMax)
                self.loads[self.partitions].charges.add(charges)
            } catch {
                return try Self.refused(error, id: question.id)
            }
        }
        self.append(question.record, question.trace, limits: matched.limits)
        self.taken += 1
        self.loads[self.partitions].flight.note(question.record.kind, of: question.app.number)
        self.loads[self.partitions].flight.append(
            connection: connection,
            streamID: streamID,
            id: .given(question.id.indices),
            in: question.id.span,
            isInDevelopment: question.app.isInDevelopment,
            trace: question.trace
        )
        return self.builder.isFull ? .full : .taken
    }

    // MARK: The team's share

    /// Charges a push to one host.
    ///
    /// - Throws: `ServiceUnavailable` if the team has its share in the log.
    @inline(__always)
    private mutating func charge(_ app: ServedApps.App, _ partition: PartitionID) throws(RejectionAnswer) {
        // The team is an object that all loops share, and not taken hold of for each push.
        guard self.work != nil, !self.shares.spendUnits(WorkUnits.record, app: app.number, partition) else { return }
        guard let work = self.work, let team = app.work else { return }
        do throws(Problem) {
            let most = Self.pushesReserved * WorkUnits.record
            let charge = try work.admit(WorkUnits.record, orUpTo: most, of: team, in: partition)
            self.loads[Int(partition.rawValue)].charges.add(charge)
            self.shares.add(charge.units - WorkUnits.record, of: team, app: app.number, partition)
        } catch {
            throw RejectionAnswer(error)
        }
    }

    /// What a push to an app is charged with that may match so many at most; nil if the partitions are to be asked.
    private func bounded(_ push: PushRecord, _ app: ServedApps.App) throws(Problem) -> WorkCharges? {
        guard let work = self.work, let team = app.work else { return WorkCharges() }
        guard !work.isToBeAsked(push, of: app.bundle) else { return nil }
        return try work.admit(
            work.bounds(app: app.bundle, push.kind, push.pattern),
            of: team,
            pushMax: app.pushMax
        )
    }

    /// What asking about a push is charged with until it is answered.
    private func questionCharges(
        _ push: PushRecord,
        _ app: ServedApps.App,
        isDryRun: Bool
    ) throws(Problem) -> WorkCharges {
        guard let work = self.work, let team = app.work else { return WorkCharges() }
        let decidedMax = isDryRun ? self.judge.bounds.decidedMax : 0
        return try work.admit(questionAbout: push, of: team, app, decidedMax: decidedMax)
    }

    private static func partition(of push: PushRecord, among partitions: Int) -> PartitionID {
        switch push.target {
        case .host(let host, _): PartitionID(of: host, among: partitions)
        case .app(let app): PartitionID(homeOf: app, among: partitions)
        }
    }

    /// The place in ``loads`` of a push that goes to one partition, or to all.
    private func load(of push: PushRecord, _ partition: PartitionID) -> Int {
        if case .app = push.target { self.partitions } else { Int(partition.rawValue) }
    }

    /// What is answered to a push that would be too much work.
    private static func refused(_ problem: Problem, id: [UInt8]) throws(RejectionAnswer) -> Outcome {
        guard problem.retryAfter == nil else { throw RejectionAnswer(problem) }
        return .refused(problem, id: id)
    }

    /// The smaller of two limits, each of which may not be there.
    static func smaller(_ left: Int?, _ right: Int?) -> Int? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    /// Adds a push; its trace goes behind it, wherever that goes.
    ///
    /// - Parameter limits: How many instances a push to an app may match, by partition; nil for any number.
    private mutating func append(_ push: PushRecord, _ trace: TracedSpan?, limits: [Int]? = nil) {
        let trace = trace.map { Record.trace(PushTrace(push: push.id, context: $0.context)) }
        switch push.target {
        case .host(let host, _):
            _ = self.builder.append(.push(push), for: host)
            if let trace { _ = self.builder.append(trace, for: host) }
        case .app:
            self.builder.appendToAll(push, limits: limits)
            if let trace { self.builder.appendToAll(trace) }
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

extension RejectionAnswer {
    /// A problem that is over by itself, as a push listener says it.
    init(_ problem: Problem) {
        self.init(
            .serviceUnavailable,
            detail: problem.retryAfter == nil ? nil : problem.detail,
            retryAfter: problem.retryAfter ?? SenderLimits.retryAfterSeconds
        )
    }
}
