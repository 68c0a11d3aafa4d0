import APNSWire
import Engine
import HTTP2
import HTTPTransport
import IntentMatching
import Journaling
import Ownership
import Partitions
import Serving
import WidgetModel

/// One event loop's intake between two submissions: it judges pushes, packs their records for the journal, and remembers where to answer
/// once those are durable.
///
/// One value, so that a push is taken with a single check of exclusive access.
struct PushIntake: ~Copyable {
    /// The next step for a valid push. The rare ones are boxed, so that the others are small.
    enum Outcome {
        /// Nothing: it is answered when its record is durable.
        case taken
        /// The same, and so much waits by now that it should be submitted at once.
        case full
        /// The partitions are to be asked whom it would reach, before it is logged or instead.
        indirect case question(Question, PendingAnswer)
        /// It is asked whose its token is, before it is logged.
        indirect case sought(Sought, PendingAnswer)
        /// It is of a type that is not handled here, and goes to the app's upstream.
        case relay(Relayed, PendingAnswer)
        /// It is more work than one push may be.
        indirect case refused(Problem, PendingAnswer)
    }

    /// A push for an app's upstream.
    struct Relayed {
        let sender: Sender
        let app: ServedApps.App
    }

    /// A push to a token that no host here has.
    struct Sought: Sendable {
        let token: DeviceToken
        let type: PushType
        /// To be for the host that has the token.
        var record: PushRecord
        let app: ServedApps.App
        /// When it came.
        let at: Instant
    }

    /// A targeted push that is a dry run or may match only so many instances.
    struct Question: Sendable {
        let record: PushRecord
        let app: ServedApps.App
        let isDryRun: Bool
        let matchedMax: Int?
        /// The charges of asking, until it is answered.
        let charges: WorkCharges
    }

    /// The parts of a turn for one partition, or for all, beside its records.
    struct Load {
        /// Where to answer.
        var flight = PushFlight()
        /// The charges of the pushes.
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
    /// By partition; behind them that for all partitions.
    private var loads: [Load]
    /// How many pushes were taken in this turn.
    private var taken = 0
    private let work: WorkAdmission?
    private let partitions: Int
    /// The part of this turn's charges that is reserved for pushes to hosts that are still to come.
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

    /// The pushes that were taken since the last call.
    mutating func takeTurn() -> Turn {
        self.shares.end { units, team, partition in
            let rest = WorkCharges.Charge(team: team, partition: partition, units: units, isLarge: false)
            self.loads[Int(partition.rawValue)].charges.remove(rest)
            self.work?.end(rest)
        }
        var turn = Turn()
        for submission in self.builder.takeSubmissions() {
            turn.loads.append((submission, self.takeLoad(Int(submission.partition.rawValue))))
        }
        if let submission = self.builder.takeToAll() { turn.toAll = (submission, self.takeLoad(self.partitions)) }
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

    // MARK: The steps behind the judge's

    /// Whether there is room for a push, and its course.
    ///
    /// - Throws: The answer instead.
    mutating func admit(
        _ judged: consuming JudgedPush,
        _ push: borrowing PushContext
    ) throws(RejectionAnswer) -> AdmittedPush {
        let course: AdmittedPush.Course
        do throws(RejectionAnswer) {
            course = try self.course(of: judged, push)
        } catch {
            self.judge.reuse(judged.destination)
            throw error
        }
        let id = judged.push.id ?? self.ids.next()
        let answerID = judged.push.idText.map { AnswerID.given($0.bounds) } ?? .generated(id)
        return AdmittedPush(judged: judged, id: id, answerID: answerID, course: course)
    }

    /// Adds a push's record to this turn's submission, with the stream to answer when that is durable; or returns the other outcome.
    mutating func log(_ admitted: consuming AdmittedPush, _ push: borrowing PushContext) -> Outcome {
        switch admitted.course {
        case .logged(let partition):
            self.append(admitted, push)
            let (app, load) = (admitted.judged.app, self.load(for: partition))
            self.taken += 1
            self.loads[load].flight.noteKind(admitted.judged.details?.payload.kind, of: app.number)
            self.loads[load].flight.append(push, admitted.answerID, isInDevelopment: app.isInDevelopment)
            self.judge.reuse(admitted.judged.destination)
            return self.builder.isFull ? .full : .taken
        case .asked(let matchedMax, let charges):
            let question = Question(
                record: self.record(admitted, push),
                app: admitted.judged.app,
                isDryRun: !admitted.judged.isLogged,
                matchedMax: matchedMax,
                charges: charges
            )
            return .question(question, PendingAnswer(push, admitted.answerID))
        case .sought(let token):
            let sought = Sought(
                token: token,
                type: admitted.judged.push.type,
                record: self.record(admitted, push),
                app: admitted.judged.app,
                at: push.now
            )
            return .sought(sought, PendingAnswer(push, admitted.answerID))
        case .relayed:
            let relayed = Relayed(sender: admitted.judged.sender, app: admitted.judged.app)
            return .relay(relayed, PendingAnswer(push, admitted.answerID))
        case .refused(let problem):
            return .refused(problem, PendingAnswer(push, admitted.answerID))
        }
    }

    /// Adds a push whose question was answered.
    ///
    /// - Parameter matched: How many it matches in each partition, and may match.
    /// - Throws: The answer instead.
    mutating func log(
        _ question: Question,
        matching matched: MatchedInstances,
        _ pending: PendingAnswer
    ) throws(RejectionAnswer) -> Outcome {
        let load = self.load(for: nil)
        if let work = self.work, let team = question.app.work {
            let record = question.record
            let units = work.estimates(matched.counts, app: question.app.bundle, record.kind, record.pattern)
            do throws(Problem) {
                self.loads[load].charges.add(try work.admit(units, of: team, pushMax: question.app.pushMax))
            } catch {
                return .refused(try Self.lasting(error), pending)
            }
        }
        self.append(question.record, pending.trace, limits: matched.limits)
        return self.board(question.record, of: question.app, pending, load)
    }

    /// A record that was added and had to wait before is answered with those of its load.
    private mutating func board(
        _ record: PushRecord,
        of app: ServedApps.App,
        _ pending: PendingAnswer,
        _ load: Int
    ) -> Outcome {
        self.taken += 1
        self.loads[load].flight.noteKind(record.kind, of: app.number)
        self.loads[load].flight.append(pending, isInDevelopment: app.isInDevelopment)
        return self.builder.isFull ? .full : .taken
    }

    /// Adds a push whose token was asked about.
    ///
    /// - Throws: The answer instead.
    mutating func log(
        _ sought: Sought,
        found lookup: TokenLookup,
        _ pending: PendingAnswer
    ) throws(RejectionAnswer) -> Outcome {
        let isOfControl = if case .bound(let binding) = lookup { binding.instance != nil } else { false }
        let standing = lookup.standing(for: sought.app.bundle)
        try PushJudge.check(standing, isOfControl: isOfControl, sought.type, sought.app, at: sought.at)
        var record = sought.record
        var partition = PartitionID(
            of: HostKey(app: sought.app.bundle, id: HostID(derivedFrom: sought.token)),
            among: self.partitions
        )
        if case .bound(let binding) = lookup {
            record.target = .host(binding.host, binding.instance)
            partition = binding.partition
        }
        try self.charge(sought.app, partition)
        let load = self.load(for: partition)
        self.append(record, pending.trace)
        return self.board(record, of: sought.app, pending, load)
    }

    /// The place in ``loads`` of the load for one partition, or for all.
    @inline(__always)
    private func load(for partition: PartitionID?) -> Int { partition.map { Int($0.rawValue) } ?? self.partitions }

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

    /// The course of a push that its sender's limits let in; its team is charged with the work that it asks for.
    private mutating func course(
        of judged: borrowing JudgedPush,
        _ push: borrowing PushContext
    ) throws(RejectionAnswer) -> AdmittedPush.Course {
        try self.senderLimits.admit(
            judged.sender,
            judged.app.meter,
            self.judge.bounds.tokenRates,
            judged.push.target,
            in: push.bytes,
            beside: self.taken,
            isLogged: judged.isLogged,
            at: push.now
        )
        push.state.isSlowed = false
        if judged.isRelayed { return .relayed }
        if let token = judged.sought { return .sought(token) }
        guard case .targeted(_, let isDryRun) = judged.push.target else {
            let partition = self.partition(of: judged.destination)
            try self.charge(judged.app, partition)
            return .logged(partition)
        }
        let (kind, pattern) = (judged.details?.payload.kind, judged.details?.pattern)
        let matchedMax = Self.smaller(judged.details?.payload.maxMatched, judged.app.matchedMax)
        do throws(Problem) {
            if !isDryRun, matchedMax == nil, let charges = try self.bounded(kind, pattern, judged.app) {
                self.loads[self.load(for: nil)].charges.add(charges)
                return .logged(nil)
            }
            return .asked(
                matchedMax: matchedMax,
                try self.questionCharges(kind, pattern, judged.app, isDryRun: isDryRun)
            )
        } catch {
            return .refused(try Self.lasting(error))
        }
    }

    private func partition(of destination: borrowing JudgedPush.Destination) -> PartitionID {
        switch destination {
        case .host(let place): place.partition
        case .unknownHost(let host): PartitionID(of: host, among: self.partitions)
        default: preconditionFailure("a push to an app is not one partition's")
        }
    }

    /// The charges of a push to an app that may match so many at most; nil if the partitions are to be asked.
    private func bounded(
        _ kind: WidgetKind?,
        _ pattern: MatchPattern?,
        _ app: ServedApps.App
    ) throws(Problem) -> WorkCharges? {
        guard let work = self.work, let team = app.work else { return WorkCharges() }
        guard !work.isToBeAsked(app: app.bundle, kind, pattern) else { return nil }
        return try work.admit(work.bounds(app: app.bundle, kind, pattern), of: team, pushMax: app.pushMax)
    }

    /// The charges of asking about a push, until it is answered.
    private func questionCharges(
        _ kind: WidgetKind?,
        _ pattern: MatchPattern?,
        _ app: ServedApps.App,
        isDryRun: Bool
    ) throws(Problem) -> WorkCharges {
        guard let work = self.work, let team = app.work else { return WorkCharges() }
        let decidedMax = isDryRun ? self.judge.bounds.decidedMax : 0
        return try work.admit(
            questionAbout: kind,
            pattern,
            of: team,
            app.bundle,
            pushMax: app.pushMax,
            decidedMax: decidedMax
        )
    }

    /// A problem that a push has for good: it is too much work.
    ///
    /// - Throws: One that is over by itself.
    private static func lasting(_ problem: Problem) throws(RejectionAnswer) -> Problem {
        guard problem.retryAfter == nil else { throw RejectionAnswer(problem) }
        return problem
    }

    /// The smaller of two limits, each of which may not be there.
    static func smaller(_ left: Int?, _ right: Int?) -> Int? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    // MARK: Records

    private mutating func append(_ admitted: borrowing AdmittedPush, _ push: borrowing PushContext) {
        switch admitted.judged.destination {
        case .host(let place):
            if admitted.judged.details == nil {
                self.appendPlain(admitted, to: place, push)
            } else {
                _ = self.builder.append(.push(self.record(admitted, push)), to: place.partition)
            }
            guard let trace = push.trace else { return }
            let record = Record.trace(PushTrace(push: admitted.id, context: trace.context))
            _ = self.builder.append(record, to: place.partition)
        default:
            self.append(self.record(admitted, push), push.trace)
        }
    }

    /// A push that is all in its headers: its record is written from where they are.
    private mutating func appendPlain(
        _ admitted: borrowing AdmittedPush,
        to place: borrowing HostPlace,
        _ push: borrowing PushContext
    ) {
        let head = admitted.judged.push
        let plain = PlainPush(
            id: admitted.id,
            key: admitted.judged.sender.keyID,
            contentHash: head.contentHash(in: push.bytes, body: push.body),
            priority: head.priority,
            expiration: head.expiration
        )
        self.builder.append(
            plain,
            from: admitted.judged.sender.team,
            of: admitted.judged.app.bundle,
            to: place,
            collapseID: head.collapseID.map(\.bounds) ?? 0..<0,
            in: push.bytes
        )
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

    private func record(_ admitted: borrowing AdmittedPush, _ push: borrowing PushContext) -> PushRecord {
        let head = admitted.judged.push
        let details = admitted.judged.details
        return PushRecord(
            id: admitted.id,
            team: admitted.judged.sender.team,
            key: admitted.judged.sender.keyID,
            contentHash: head.contentHash(in: push.bytes, body: push.body),
            priority: head.priority,
            expiration: head.expiration,
            collapseID: head.collapseID.flatMap { CollapseID(bytes: push.copy(of: $0)) },
            notBefore: details?.payload.notBefore,
            digest: details?.payload.digest.map { Array($0.utf8) },
            target: Self.target(admitted.judged),
            kind: details?.payload.kind,
            pattern: details?.pattern,
            attributes: details?.attributes ?? .empty
        )
    }

    /// The destination as the log has it.
    private static func target(_ judged: borrowing JudgedPush) -> PushDestination {
        switch judged.destination {
        case .host(let place): .host(HostKey(app: judged.app.bundle, id: place.hostID), place.instanceID)
        case .unknownHost(let host): .host(host, nil)
        case .sought(let token): .host(HostKey(app: judged.app.bundle, id: HostID(derivedFrom: token)), nil)
        default: .app(judged.app.bundle)
        }
    }
}

extension TokenLookup {
    /// The token's standing for a push to an app.
    fileprivate func standing(for app: BundleID) -> TokenStanding {
        switch self {
        case .bound(let binding): .bound(isOfApp: binding.app == app)
        case .removed(let other, let reason, let at): .removed(isOfApp: other == app, reason, at: at)
        case .unknown: .unknown
        }
    }
}

extension RejectionAnswer {
    /// A problem that is over by itself, as a push listener says it.
    init(_ problem: Problem) {
        self.init(
            .serviceUnavailable,
            detail: problem.retryAfter == nil ? nil : problem.detail,
            retryAfter: problem.retryAfter ?? Problem.retryAfterSeconds
        )
    }
}
