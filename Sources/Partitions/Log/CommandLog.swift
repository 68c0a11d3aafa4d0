package import Engine
package import Journaling
import NIOCore
import Ownership
package import WidgetModel

/// Logs commands for callers that wait for the answer: it comes once the owner has applied the record.
package struct CommandLog: Sendable {
    package let journal: any Journal
    let owners: [PartitionOwner]
    /// Where the partitions are that are not here; nil where all are.
    let nodes: OtherNodes?
    /// How long other nodes are waited for; nil where there are none.
    package var patience: Interval? { self.nodes?.limits.question }
    /// Notes the partitions that did not answer, where answers are merged without them; nil where all have to answer.
    private(set) var coverage: Coverage?
    private let submissionBytesMax: Int
    /// Asked before anything is logged; nil where whatever comes is logged.
    private var storage: StorageWatch?
    /// Charges teams for logged records; nil where teams are not told apart.
    private var fairness: Fairness?

    private struct Fairness {
        let work: WorkAdmission
        let apps: @Sendable () -> ServedApps
        /// Whether a team that has its share in the log has to wait; operators' orders are charged and never wait.
        let refuses: Bool

        func charge(_ units: [Int], to team: TeamWork) throws(Problem) -> WorkCharges {
            self.refuses ? try self.work.admit(units, of: team) : self.work.charge(units, to: team)
        }
    }

    /// - Parameters:
    ///   - journal: The log.
    ///   - owners: The owner of every partition, in the partitions' order.
    ///   - nodes: The nodes with which this one shares the log; nil for none.
    ///   - submissionBytesMax: The most bytes that are appended at once over all partitions; not more than the journal takes
    ///     for one. Default 900,000, a ninth of the bytes that it lets wait, so that a large import leaves room for
    ///     pushes.
    package init(
        journal: any Journal,
        owners: [PartitionOwner],
        nodes: OtherNodes? = nil,
        submissionBytesMax: Int = JournalLimits().batchBytesMax
    ) {
        self.journal = journal
        self.owners = owners
        self.nodes = nodes
        self.submissionBytesMax = submissionBytesMax
    }

    package var partitions: Int { self.owners.count }
    package var partitionIDs: [PartitionID] { self.owners.map(\.partition) }
    /// The decision rules of this node's program.
    package var rules: Int { self.owners[0].services.rules }

    package func partition(of host: HostKey) -> PartitionID { PartitionID(of: host, among: self.owners.count) }

    /// The same log for commands from outside, which have to find room on the disk.
    package func admitted(by storage: StorageWatch?) -> CommandLog {
        var log = self
        log.storage = storage
        return log
    }

    /// The same log, whose merged answers lack the partitions that do not answer: ``askEach(_:)`` and lists.
    package func noting(_ coverage: Coverage) -> CommandLog {
        var log = self
        log.coverage = coverage
        return log
    }

    /// The same log, with each record charged to the team of its app.
    ///
    /// - Parameters:
    ///   - refuses: Whether a team that has its share in the log has to wait.
    ///   - apps: The apps that are served now, whose teams those are.
    package func charged(
        to work: WorkAdmission,
        refuses: Bool,
        _ apps: @escaping @Sendable () -> ServedApps
    ) -> CommandLog {
        var log = self
        log.fairness = Fairness(work: work, apps: apps, refuses: refuses)
        return log
    }

    /// Logs one record for the partition that owns a host, and waits until it is applied.
    package func append(_ record: Record, for host: HostKey) async throws(Problem) -> RecordAnswer.Result {
        let answers = try await self.append([(record, host)])
        return answers[0]
    }

    /// Logs one record for the home partition of an app, which keeps the app's own state, and waits until it is
    /// applied.
    package func append(_ record: Record, homeOf app: BundleID) async throws(Problem) -> RecordAnswer.Result {
        try await self.append(record, to: PartitionID(homeOf: app, among: self.owners.count))
    }

    /// Logs one record for a partition, and waits until it is applied.
    package func append(_ record: Record, to partition: PartitionID) async throws(Problem) -> RecordAnswer.Result {
        let answers = try await self.append(placed: [(record, partition)])
        return answers[0]
    }

    /// Logs records, each for the partition of its host; the answers are in the same order.
    ///
    /// Each partition gets its own, and records that together are more than the journal takes at once go one part after the
    /// other: if one fails, the others may be applied, and sending everything again does no harm.
    ///
    /// - Throws: Before anything is logged `too-large` if one record alone is more than the journal takes, and `storage-full`
    ///   if the disk has no room for one of them. `over-share` if those of a part are more than their team's share has room
    ///   for.
    package func append(_ records: [(record: Record, host: HostKey)]) async throws(Problem) -> [RecordAnswer.Result] {
        try await self.append(placed: records.map { ($0.record, self.partition(of: $0.host)) })
    }

    /// Appends records, each to a partition, and waits until all were applied.
    ///
    /// - Returns: The results, in the order of the records.
    package func append(
        placed records: [(record: Record, partition: PartitionID)]
    ) async throws(Problem) -> [RecordAnswer.Result] {
        try self.checkReach(of: records.map(\.partition))
        try self.admit(records.map(\.record.demand))
        let packed = try records.map { (item) throws(Problem) in try self.packed(item.record) }
        var answers: [RecordAnswer.Result] = []
        answers.reserveCapacity(records.count)
        for run in self.runs(packed) {
            // Earlier records are answered when they are applied, and are charged until that turn is over.
            if run.lowerBound > 0 { await self.endTurns(of: records[run]) }
            var builder = SubmissionBuilder(partitions: self.owners.count)
            let tickets = run.map { builder.append(packed[$0], to: records[$0].partition) }
            let charges = try self.charges(records[run])
            answers += try await self.submit(builder.takeSubmissions(), tickets, charges)
        }
        return answers
    }

    private func endTurns(of records: ArraySlice<(record: Record, partition: PartitionID)>) async {
        guard self.fairness != nil else { return }
        for partition in Set(records.map(\.partition.rawValue)).sorted() {
            _ = try? await self.owners[Int(partition)].progress()
        }
    }

    /// Records one behind the other, as many as fit one submission each.
    private func runs(_ records: [PackedRecords]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start = 0
        var bytes = 0
        for (index, record) in records.enumerated() {
            let size = record.bytes.count
            if bytes + size > self.submissionBytesMax {
                runs.append(start..<index)
                start = index
                bytes = 0
            }
            bytes += size
        }
        if start < records.count { runs.append(start..<records.count) }
        return runs
    }

    private func packed(_ record: Record) throws(Problem) -> PackedRecords {
        var packed = PackedRecords()
        packed.append { record.encode(into: &$0) }
        guard packed.bytes.count <= self.submissionBytesMax else {
            throw Problem(
                .tooLarge,
                "this would be a record of \(packed.bytes.count) bytes; the limit is \(self.submissionBytesMax)"
            )
        }
        return packed
    }

    /// Logs one record for every partition; one answer each, in the partitions' order.
    ///
    /// - Throws: `too-large` if the record is more than the journal takes, `storage-full` if the disk has no room for it.
    package func appendToAll(_ record: Record) async throws(Problem) -> [RecordAnswer.Result] {
        try self.checkReach(of: self.partitionIDs)
        try self.admit([record.demand])
        let records = try self.packed(record)
        let charges = try self.chargesToAll(record)
        let waits = self.waits(for: self.owners.map { SubmissionBuilder.Ticket(partition: $0.partition, index: 0) })
        let work = self.fairness?.work
        let told: @Sendable (Result<Void, JournalError>) -> Void = { result in
            guard case .failure(let error) = result else { return }
            work?.end(charges)
            for wait in waits { wait.promise.fail(error) }
        }
        self.journal.appendToAll(SubmissionToAll(records), whenDurable: told) { receipt in
            work?.log(charges, at: receipt)
            waits[Int(receipt.partition.rawValue)].expect(at: receipt)
        }
        return try await self.answers(to: waits)
    }

    /// The charges of records.
    ///
    /// - Throws: `over-share` if a team has its share in the log.
    private func charges(_ records: ArraySlice<(record: Record, partition: PartitionID)>) throws(Problem) -> WorkCharges
    {
        var charges = WorkCharges()
        guard let fairness = self.fairness else { return charges }
        let apps = fairness.apps()
        var teams: [(team: TeamWork, units: [Int])] = []
        for (record, partition) in records {
            guard let team = record.chargedTeam(among: apps) else { continue }
            let number = Int(partition.rawValue)
            let units = record.work(in: fairness.work.partitions[number], among: apps)
            if teams.last?.team !== team { teams.append((team, Array(repeating: 0, count: self.owners.count))) }
            teams[teams.count - 1].units[number] += units
        }
        do throws(Problem) {
            for (team, units) in teams { charges.add(try fairness.charge(units, to: team)) }
        } catch {
            fairness.work.end(charges)
            throw error
        }
        return charges
    }

    /// The charges of a record for every partition.
    ///
    /// - Throws: `over-share` if the team has its share in the log, `too-much-work` if the record alone is more than one may be.
    private func chargesToAll(_ record: Record) throws(Problem) -> WorkCharges {
        guard let fairness = self.fairness else { return WorkCharges() }
        let apps = fairness.apps()
        guard let team = record.chargedTeam(among: apps) else { return WorkCharges() }
        let units = fairness.work.partitions.map { record.work(in: $0, among: apps) }
        guard fairness.refuses else { return fairness.work.charge(units, to: team) }
        return try fairness.work.admit(units, of: team, pushMax: record.chargedApp.flatMap { apps[$0]?.pushMax })
    }

    /// Checks that an owner can be asked for the answers. Called before anything is logged, so that a refused request was not done.
    private func checkReach(of partitions: [PartitionID]) throws(Problem) {
        if self.nodes == nil { try self.checkPresence(of: partitions) }
    }

    private func admit(_ demands: [StorageBudget.Demand]) throws(Problem) {
        guard let storage = self.storage, !storage.admits(.traffic) else { return }
        guard let refused = demands.first(where: { !storage.admits($0) }) else { return }
        storage.addRefusedRequest()
        if refused == .report {
            throw Problem(
                .storageFull,
                "the gateway's disk is full, and it accepts no requests until it has space: send it again later"
            )
        }
        let rest = demands.contains { $0 != refused } ? " Send reports in separate requests." : ""
        throw Problem(
            .storageFull,
            "the gateway's disk is full, and it accepts only acknowledgements, timelines and removals until it has space: send it again later.\(rest)"
        )
    }

    /// The known outcome of a record.
    private enum Outcome: Sendable {
        case applied(RecordAnswer.Result)
        /// It is in the log, and its partition is not this node's: the owner is to be asked.
        case logged(RecordPlace)
    }

    /// A caller waits until a record is applied.
    private struct Wait {
        let owner: PartitionOwner
        let ticket: SubmissionBuilder.Ticket
        let promise: EventLoopPromise<Outcome>

        func expect(at receipt: AppendReceipt) {
            let place = RecordPlace(
                position: receipt.position,
                index: receipt.firstRecordIndex + self.ticket.index
            )
            let answer = self.owner.loop.makePromise(of: RecordAnswer.Result.self)
            answer.futureResult.map { .applied($0) }.flatMapErrorThrowing { error in
                guard OwnerError.isAbsence(error) else { throw error }
                return .logged(place)
            }.cascade(to: self.promise)
            self.owner.expectAnswer(at: place, answer)
        }
    }

    private func waits(for tickets: [SubmissionBuilder.Ticket]) -> [Wait] {
        tickets.map { ticket in
            let owner = self.owners[Int(ticket.partition.rawValue)]
            return Wait(owner: owner, ticket: ticket, promise: owner.loop.makePromise())
        }
    }

    private func submit(
        _ submissions: [Submission],
        _ tickets: [SubmissionBuilder.Ticket],
        _ charges: WorkCharges
    ) async throws(Problem) -> [RecordAnswer.Result] {
        let waits = self.waits(for: tickets)
        let work = self.fairness?.work
        for submission in submissions {
            let own = waits.filter { $0.ticket.partition == submission.partition }
            let charges = charges.part(of: submission.partition)
            self.journal.append(submission) { result in
                work?.end(charges, with: result)
                switch result {
                case .failure(let error): for wait in own { wait.promise.fail(error) }
                case .success(let receipt): for wait in own { wait.expect(at: receipt) }
                }
            }
        }
        return try await self.answers(to: waits)
    }

    /// Waits until all records are applied.
    private func answers(to waits: [Wait]) async throws(Problem) -> [RecordAnswer.Result] {
        var answers = [RecordAnswer.Result?](repeating: nil, count: waits.count)
        var logged: [PartitionID: [(wait: Int, place: RecordPlace)]] = [:]
        var failure: (any Error)?
        for (index, wait) in waits.enumerated() {
            do {
                switch try await wait.promise.futureResult.get() {
                case .applied(let answer): answers[index] = answer
                case .logged(let place): logged[wait.ticket.partition, default: []].append((index, place))
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw Problem(of: failure) }
        for (index, answer) in try await self.answers(to: logged) { answers[index] = answer }
        return answers.compactMap(\.self)
    }

    /// Asks the owners, wherever they are, for the answers to records that are in the log.
    private func answers(
        to logged: [PartitionID: [(wait: Int, place: RecordPlace)]]
    ) async throws(Problem) -> [(wait: Int, answer: RecordAnswer.Result)] {
        let found = await self.each(of: Array(logged.keys)) { partition async throws(Problem) in
            try await self.answers(at: logged[partition, default: []].map(\.place), of: partition)
        }
        var answers: [(wait: Int, answer: RecordAnswer.Result)] = []
        for (partition, result) in found {
            for (item, answer) in zip(logged[partition, default: []], try result.get()) {
                guard let answer else { throw .unknownOutcome(of: partition) }
                answers.append((item.wait, answer))
            }
        }
        return answers
    }

    private func answers(
        at places: [RecordPlace],
        of partition: PartitionID
    ) async throws(Problem) -> [RecordAnswer.Result?] {
        do throws(Problem) {
            return try await self.ask(partition, .answers(places)) { owner, limits in
                try await owner.answers(at: places, within: limits?.answer ?? .zero)
            }
        } catch {
            guard error.code == .partitionAway else { throw error }
            throw .unknownOutcome(of: partition)
        }
    }
}
