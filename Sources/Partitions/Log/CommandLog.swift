package import Engine
package import Journaling
import NIOCore
package import Ownership
package import WidgetModel

/// Logs commands whose answer somebody waits for: the answer comes once the owner has applied the record.
package struct CommandLog: Sendable {
    package let journal: any Journal
    private let owners: [PartitionOwner]
    private let submissionBytesMax: Int
    /// Asked before anything is logged; nil where whatever comes is logged.
    private var storage: StorageWatch?
    /// Charged for what is logged; nil where teams are not told apart.
    private var fairness: Fairness?

    private struct Fairness {
        let work: WorkAdmission
        let apps: @Sendable () -> ServedApps
        /// Whether a team that has its share in the log has to wait; what operators order is charged and never waits.
        let refuses: Bool

        func charge(_ units: [Int], to team: TeamWork) throws(Problem) -> WorkCharges {
            self.refuses ? try self.work.admit(units, of: team) : self.work.charge(units, to: team)
        }
    }

    /// - Parameters:
    ///   - journal: The log.
    ///   - owners: The owner of every partition, in the partitions' order.
    ///   - submissionBytesMax: The most bytes that are appended at once over all partitions; not more than the journal takes
    ///     for one. Default 900,000, a ninth of what it lets wait, so that a large import leaves room for pushes.
    package init(
        journal: any Journal,
        owners: [PartitionOwner],
        submissionBytesMax: Int = JournalLimits().batchBytesMax
    ) {
        self.journal = journal
        self.owners = owners
        self.submissionBytesMax = submissionBytesMax
    }

    package var partitions: Int { self.owners.count }
    package var partitionIDs: [PartitionID] { self.owners.map(\.partition) }

    package func partition(of host: HostKey) -> PartitionID { PartitionID(of: host, among: self.owners.count) }

    /// The same log for commands from outside, which have to find room on the disk.
    package func admitted(by storage: StorageWatch?) -> CommandLog {
        var log = self
        log.storage = storage
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

    /// Logs one record for the partition where what belongs to an app as a whole is kept, and waits until it is applied.
    package func append(_ record: Record, homeOf app: BundleID) async throws(Problem) -> RecordAnswer.Result {
        try await self.append(record, to: PartitionID(homeOf: app, among: self.owners.count))
    }

    /// Logs one record for a partition, and waits until it is applied.
    package func append(_ record: Record, to partition: PartitionID) async throws(Problem) -> RecordAnswer.Result {
        let answers = try await self.append([(record, partition)])
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
        try await self.append(records.map { ($0.record, self.partition(of: $0.host)) })
    }

    private func append(
        _ records: [(record: Record, partition: PartitionID)]
    ) async throws(Problem) -> [RecordAnswer.Result] {
        try self.checkPresence(of: records.map(\.partition))
        try self.admit(records.map(\.record.demand))
        var answers: [RecordAnswer.Result] = []
        answers.reserveCapacity(records.count)
        for run in try self.runs(records) {
            // What came before is answered when it is applied, and counts until the turn is over in which it was.
            if run.lowerBound > 0 { await self.endTurns(of: records[run]) }
            var builder = SubmissionBuilder(partitions: self.owners.count)
            var tickets: [SubmissionBuilder.Ticket] = []
            for item in records[run] { tickets.append(builder.append(item.record, to: item.partition)) }
            let charges = try self.charges(records[run])
            answers += try await self.submit(builder.take(), tickets, charges)
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
    private func runs(_ records: [(record: Record, partition: PartitionID)]) throws(Problem) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start = 0
        var bytes = 0
        for (index, item) in records.enumerated() {
            let size = try self.packedBytes(of: item.record)
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

    private func packedBytes(of record: Record) throws(Problem) -> Int {
        var packed = PackedRecords()
        packed.append { record.encode(into: &$0) }
        guard packed.bytes.count <= self.submissionBytesMax else {
            throw Problem(
                .tooLarge,
                "this would be a record of \(packed.bytes.count) bytes; the limit is \(self.submissionBytesMax)"
            )
        }
        return packed.bytes.count
    }

    /// Logs one record for every partition; one answer each, in the partitions' order.
    ///
    /// - Throws: `too-large` if the record is more than the journal takes, `storage-full` if the disk has no room for it.
    package func appendToAll(_ record: Record) async throws(Problem) -> [RecordAnswer.Result] {
        try self.checkPresence(of: self.partitionIDs)
        try self.admit([record.demand])
        _ = try self.packedBytes(of: record)
        var records = PackedRecords()
        records.append { record.encode(into: &$0) }
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

    /// What records are charged with.
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

    /// What a record for every partition is charged with.
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

    /// Whether somebody here can answer. Asked before anything is logged, so that what is refused was not done.
    private func checkPresence(of partitions: [PartitionID]) throws(Problem) {
        guard let away = partitions.first(where: { self.owners[Int($0.rawValue)].isAway }) else { return }
        throw Problem(self.owners[Int(away.rawValue)].absence)
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

    /// Somebody waits until a record is applied.
    private struct Wait {
        let owner: PartitionOwner
        let ticket: SubmissionBuilder.Ticket
        let promise: EventLoopPromise<RecordAnswer>

        func expect(at receipt: AppendReceipt) {
            self.owner.expectAnswer(
                at: receipt.position,
                index: receipt.firstRecordIndex + self.ticket.index,
                self.promise
            )
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
        var answers: [RecordAnswer.Result] = []
        answers.reserveCapacity(waits.count)
        var failure: (any Error)?
        for wait in waits {
            do {
                answers.append(try await wait.promise.futureResult.get().result)
            } catch {
                failure = error
            }
        }
        if let failure { throw Self.problem(failure) }
        return answers
    }

    /// What a client is told. What the store said beyond that may name files, and is not for untrusted peers.
    private static func problem(_ error: any Error) -> Problem {
        if let absence = error as? OwnerError, case .away = absence { return Problem(absence) }
        guard let error = error as? JournalError else {
            return Problem(.unavailable, "the partition of this request has stopped; send it again later")
        }
        return Problem(.unavailable, "the log is not available (\(error.code.rawValue)); send it again")
    }
}

// MARK: - Asking

extension CommandLog {
    /// Asks the partition that owns a host.
    package func ask<Question: HostBoundQuestion>(_ question: Question) async throws(Problem) -> Question.Answer {
        try await self.ask(self.partition(of: question.host), question)
    }

    /// Asks a partition.
    package func ask<Question: EngineQuestion>(
        _ partition: PartitionID,
        _ question: Question
    ) async throws(Problem) -> Question.Answer {
        do {
            return try await self.owners[Int(partition.rawValue)].ask(question)
        } catch {
            throw Self.problem(error)
        }
    }

    /// Asks every partition; the answers are in the partitions' order.
    package func askAll<Question: EngineQuestion>(_ question: Question) async throws(Problem) -> [Question.Answer] {
        var answers: [Question.Answer] = []
        for partition in self.partitionIDs { answers.append(try await self.ask(partition, question)) }
        return answers
    }

    /// Whether a partition is this node's.
    package func isPresent(_ partition: PartitionID) -> Bool { !self.owners[Int(partition.rawValue)].isAway }

    /// Asks any partition that is this node's, for what all of them have.
    package func askAnyPresent<Question: EngineQuestion>(_ question: Question) async throws(Problem) -> Question.Answer
    {
        try await self.ask(self.partitionIDs.first(where: self.isPresent) ?? PartitionID(0), question)
    }

    /// Asks the partitions that are this node's, in their order.
    package func askPresent<Question: EngineQuestion>(
        _ question: Question
    ) async throws(Problem) -> [(partition: PartitionID, answer: Question.Answer)] {
        var answers: [(partition: PartitionID, answer: Question.Answer)] = []
        for owner in self.owners where !owner.isAway {
            do throws(Problem) {
                answers.append((owner.partition, try await self.ask(owner.partition, question)))
            } catch {
                // It has left meanwhile.
                guard error.code == .partitionAway else { throw error }
            }
        }
        return answers
    }

    /// Finds in every partition what a push would match; the answers are in the partitions' order.
    ///
    /// - Parameter decidedMax: How many matches of a partition are decided at most; nil if they are only counted.
    package func askAll(_ push: PushRecord, decidedMax: (PartitionID) -> Int?) async throws(Problem) -> [DryRunView] {
        var answers: [DryRunView] = []
        for owner in self.owners {
            do {
                answers.append(try await owner.ask(MatchQuestion(push, decidedMax: decidedMax(owner.partition))))
            } catch {
                throw Self.problem(error)
            }
        }
        return answers
    }

    /// Details of reloads, of those that have any.
    ///
    /// - Parameter toleratesSilence: Whether a partition that does not answer is taken to have none.
    package func find<Detail: ReloadDetail>(
        _: Detail.Type,
        of reloads: some Sequence<ReloadID>,
        toleratesSilence: Bool = false
    ) async throws(Problem) -> [ReloadID: Detail] {
        var found: [ReloadID: Detail] = [:]
        for (partition, ids) in Dictionary(grouping: reloads, by: \.partition)
        where partition.rawValue < self.partitions {
            do throws(Problem) {
                let details = try await self.ask(partition, ReloadQuestion<Detail>(ids))
                for (id, detail) in zip(ids, details) { found[id] = detail }
            } catch {
                guard toleratesSilence else { throw error }
            }
        }
        return found
    }

    /// The committed reloads of a partition that are out and not delivered by a stream, in the order in which they were issued, and
    /// where to go on; nil if the partition has stopped.
    ///
    /// - Parameters:
    ///   - first: Instances with lower numbers are left out.
    ///   - limit: How many there may be; a last instance's are not torn apart.
    package func undeliveredReloads(
        of partition: PartitionID,
        from first: InstanceNumber,
        limit: Int
    ) async -> ReloadsPage? {
        let owner = self.owners[Int(partition.rawValue)]
        // What is decided and not committed yet is published when it is.
        guard let through = try? await owner.checkpoint().through else { return nil }
        var found: [ReloadEffect] = []
        var next: InstanceNumber? = first
        while let from = next, found.count < limit {
            let question = ReloadsQuestion(.undelivered, from: from, through: through, limit: limit - found.count)
            guard let page = try? await owner.ask(question) else { return nil }
            found += page.reloads
            next = page.next
        }
        return ReloadsPage(reloads: found.sorted { $0.id.position < $1.id.position }, next: next, through: through)
    }

    /// How far each owner is.
    package func progress() async -> [OwnerProgress] {
        var all: [OwnerProgress] = []
        for owner in self.owners { if let progress = try? await owner.progress() { all.append(progress) } }
        return all
    }
}

extension Problem {
    /// After how many seconds a partition that is on its way is likely to be somewhere.
    private static let awaySeconds = 1

    /// What needs a partition that is not this node's.
    package init(_ absence: OwnerError) {
        self.init(.partitionAway, "\(absence); ask there, or send it again later", retryAfter: Self.awaySeconds)
    }
}
