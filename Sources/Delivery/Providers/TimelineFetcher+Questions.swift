import APNSWire
import Engine
import HTTPTransport
import Metrics
import Ownership
import Partitions
import Serving
import TimelineProviding
import Timelines
import WidgetModel

/// The questions to engines and to the provider, and the way of an answer into the log.
extension TimelineFetcher {
    // MARK: Engines

    private func isOwn(_ partition: PartitionID) -> Bool {
        Int(partition.rawValue) < self.services.log.partitions && self.services.log.isPresent(partition)
    }

    /// The kind's subjects of those outstanding reloads, in the order of the ids; nil if the partition does not answer.
    func subjects(of reloads: [ReloadID], in partition: PartitionID) async -> [FetchSubject]? {
        guard self.isOwn(partition) else { return [] }
        let found = try? await self.services.log.ask(partition, ReloadQuestion<FetchSubject>(reloads))
        // A partition that has gone to another node is asked about there.
        guard let found else { return self.isOwn(partition) ? nil : [] }
        return found.compactMap(\.self).filter(self.isOfKind)
    }

    private func isOfKind(_ subject: FetchSubject) -> Bool {
        subject.app == self.key.app && subject.kind == self.key.kind
    }

    /// Those of the kind whose content is not here.
    private func lacking(_ timelines: [ShownTimeline]) -> [ShownTimeline] {
        timelines.filter { self.isOfKind($0.subject) && !self.services.contents.has($0) }
    }

    /// A page of a search, and the rest of it.
    func find(_ search: FetchSearch, limit: Int) async -> (FetchFinds, next: FetchSearch?) {
        let log = self.services.log
        switch search {
        case .reloads(let partition, let start, let through):
            guard self.isOwn(partition) else { return (.reloads([]), nil) }
            let question = ReloadsQuestion(.app(self.key.app), from: start, through: through, limit: limit)
            guard let page = try? await log.ask(partition, question) else { return (.silence, nil) }
            let ours = page.reloads.filter { $0.kind == self.key.kind && $0.delivery == .stream }
            return (.reloads(ours.map(\.id)), page.next.map { .reloads(partition, from: $0, through: page.through) })
        case .content(let partition, let place):
            guard self.isOwn(partition) else { return (.content([]), nil) }
            let question = PageQuestion(ShownTimelines(of: self.key.app, self.key.kind), from: place, limit: limit)
            guard let page = try? await log.ask(partition, question) else { return (.silence, nil) }
            return (.content(self.lacking(page.rows)), page.next.map { .content(partition, from: $0) })
        }
    }

    /// Those of these reloads that still need an answer. Other nodes ask about reloads of their own partitions.
    func wanted(of reloads: [ReloadID]) async -> FetchWanted {
        var wanted = FetchWanted()
        let groups = Dictionary(grouping: reloads, by: \.partition).sorted { $0.key < $1.key }
        for (partition, ids) in groups where self.isOwn(partition) {
            guard let subjects = await self.subjects(of: ids, in: partition) else {
                wanted.unknown.formUnion(ids)
                continue
            }
            let out = Set(subjects.map(\.reload))
            let others = ids.filter { !out.contains($0) }
            let shown =
                others.isEmpty ? [] : try? await self.services.log.ask(partition, ReloadQuestion<ShownTimeline>(others))
            if shown == nil { wanted.unknown.formUnion(others) }
            wanted.subjects += subjects
            wanted.shown += self.lacking(shown?.compactMap(\.self) ?? [])
        }
        return wanted
    }

    // MARK: Placeholders

    func placeholder(of context: TimelineProviderContext) -> GalleryQuestion {
        GalleryQuestion(key: self.key, question: .placeholder, context: context)
    }

    /// The placeholder of an instance, if it is kept.
    func placeholder(_ subject: FetchSubject) -> Placeholder? {
        let kept = self.services.gallery.kept(self.placeholder(of: subject.placeholderContext))
        return Placeholder(subject, entry: kept)
    }

    /// The placeholders of those instances that are new and whose timeline is not there yet, as far as they are kept.
    func placeholders(of reloads: [ReloadID]) async -> [Placeholder] {
        let found = try? await self.services.log.find(FetchSubject.self, of: reloads, toleratesSilence: true)
        let subjects = reloads.compactMap { found?[$0] }
        return subjects.filter { self.isOfKind($0) && $0.isNew }.compactMap(self.placeholder)
    }

    // MARK: The provider

    func ask(_ subjects: [FetchSubject]) async -> FetchAnswer {
        let body = ProviderRequest.timelines(subjects, now: self.services.clock.now()).jsonText
        let findings = self.services.states.takeHeader(of: self.key)
        let trace = self.services.telemetry.tracing?.request("fetch", for: subjects.map(\.reload))
        do {
            let begunAt = ContinuousClock.now
            let response = try await self.connection.ask(body, findings: findings, trace: trace)
            self.services.telemetry.instruments?.fetch.record(duration: begunAt.duration(to: .now))
            trace?.end(status: response.status, errorsFrom: 400)
            return self.read(response, to: subjects)
        } catch {
            trace?.fail("\(error)")
            return .failure(TargetHealth.Answer(error, at: self.services.clock.now()), retryAfter: nil)
        }
    }

    private func read(_ response: HTTPClientResponse, to subjects: [FetchSubject]) -> FetchAnswer {
        let now = self.services.clock.now()
        let status = response.status
        guard status == 200 || status == 202 else {
            let answer = TargetHealth.Answer(.failure, status: status, reason: "status \(status)", at: now)
            return .failure(answer, retryAfter: response.retryAfter)
        }
        do throws(Problem) {
            // A 202 may have nothing to say yet.
            let text = response.body.isEmpty && status == 202 ? Array("{}".utf8) : response.body
            let value = try JSONReader().value(of: text, bytesMax: self.answerBytesMax)
            let asked = Set(subjects.map(\.reload))
            let limits = self.services.timelineLimits.value
            let answer = try ProviderAnswer(value, countMax: subjects.count, limits: limits, isAsked: asked.contains)
            return .parts(answer.parts, status: status, isPromise: status == 202)
        } catch {
            let detail = "\(error.path.map { "\($0): " } ?? "")\(error.detail)"
            let answer = TargetHealth.Answer(.failure, status: status, reason: "no timelines", detail: detail, at: now)
            return .failure(answer, retryAfter: nil)
        }
    }

    // MARK: The log

    /// Stores and logs the timelines of an answer, then shows them.
    func store(_ timelines: [FetchedTimeline]) async -> FetchStored {
        let contents = self.services.contents
        let before = timelines.map { contents.timelines(of: [$0.subject.address]).first?.reload }
        do {
            let records = try await contents.write(timelines.map { $0.timeline.stored($0.subject) })
            do {
                let reports = timelines.compactMap(\.report)
                let results = try await self.services.log.append(reports.map { (.timeline($0), $0.host) })
                return self.showTimelines(timelines, before, records, results)
            } catch {
                contents.release(records)
                throw error
            }
        } catch {
            return .failed("\(error)")
        }
    }

    /// - Parameters:
    ///   - before: The reloads whose content was there when the timelines came.
    ///   - records: The timelines' records on disk.
    ///   - results: Those of the reports.
    private func showTimelines(
        _ timelines: [FetchedTimeline],
        _ before: [ReloadID?],
        _ records: [UInt64],
        _ results: [RecordAnswer.Result]
    ) -> FetchStored {
        let (contents, now) = (self.services.contents, self.services.clock.now())
        var results = results.makeIterator()
        var outcomes: [ReloadID: FetchStored.Outcome] = [:]
        var taken: [(timeline: StoredTimeline, record: UInt64)] = []
        for (index, item) in timelines.enumerated() {
            let timeline = item.timeline.stored(item.subject)
            // Of an accepted timeline another reload may have brought the content meanwhile.
            let isSame = item.report == nil && contents.timelines(of: [timeline.address]).first?.reload == before[index]
            var outcome = isSame ? FetchStored.Outcome.taken : .unwanted
            if item.report != nil {
                switch results.next() {
                case .timeline(let findings):
                    outcome = .taken
                    self.services.states.noteFindings(findings, of: timeline.address, self.key, at: now)
                case .timelineRefused(let fault): outcome = .refused(fault.description)
                default: break
                }
            }
            outcomes[timeline.reload] = outcome
            if outcome == .taken {
                taken.append((timeline, records[index]))
            } else {
                contents.release([records[index]])
            }
        }
        self.services.announce(contents.showTimelines(taken, at: now).map { .drawing(.entry($0)) })
        return .stored(outcomes)
    }
}
